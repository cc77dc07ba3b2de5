#include "compiler/in_place_parts.h"

#include <algorithm>

#include "ir/op_schema.h"

namespace tim::compiler {
namespace {

using Kind = ir::LoweredOperand::Kind;
using Steps = std::vector<ir::LoweredStep>;

// Whether a step touches a part, and whether it does nothing but copy parts.
struct Copying {
  Kind parts;  ///< What the parts are to the node.
  Kind whole;

  bool Touches(const ir::LoweredStep& step, int part) const {
    return std::count(step.operands.begin(), step.operands.end(),
                      ir::LoweredOperand{parts, part}) != 0;
  }
  bool TouchesAny(const ir::LoweredStep& step,
                  const std::vector<int64_t>& offsets) const {
    for (int i = 0; i < static_cast<int>(offsets.size()); ++i) {
      if (offsets[i] >= 0 && Touches(step, i)) return true;
    }
    return false;
  }
  bool IsAll(const ir::LoweredStep& step,
             const std::vector<int64_t>& offsets) const {
    return std::all_of(step.operands.begin(), step.operands.end(),
                       [&](const ir::LoweredOperand& operand) {
                         if (operand.kind == parts) {
                           return offsets[operand.index] >= 0;
                         }
                         return operand.kind == Kind::kPacked ||
                                (operand.kind == whole && operand.index == 0);
                       });
  }
};

// What a step that stays touches is no part.
void DropTouched(const Copying& copying, const Steps& steps,
                 std::vector<int64_t>* offsets) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const ir::LoweredStep& step : steps) {
      if (!copying.TouchesAny(step, *offsets) ||
          copying.IsAll(step, *offsets)) {
        continue;
      }
      changed = true;
      for (int i = 0; i < static_cast<int>(offsets->size()); ++i) {
        if (copying.Touches(step, i)) (*offsets)[i] = -1;
      }
    }
  }
}

InPlaceParts PartsOf(const Copying& copying, const Steps& steps,
                     std::vector<int64_t> offsets, const MayLie& may_lie) {
  for (int i = 0; i < static_cast<int>(offsets.size()); ++i) {
    if (offsets[i] >= 0 && !may_lie(i, offsets[i])) offsets[i] = -1;
  }
  DropTouched(copying, steps, &offsets);
  InPlaceParts out{.offsets = std::move(offsets), .left_out = {}};
  for (int i = 0; i < static_cast<int>(steps.size()); ++i) {
    if (copying.TouchesAny(steps[i], out.offsets)) out.left_out.push_back(i);
  }
  return out;
}

bool RunsKernel(const Module& module, const ir::Node& node) {
  return !node.composite && module.placements[node.id].kind == RunKind::kKernel;
}

}  // namespace

InPlaceParts ConcatenatedInputs(const Module& module, const ir::Node& node,
                                const MayLie& may_lie) {
  if (!RunsKernel(module, node) || !node.schema->in_place_concat_offsets) {
    return {};
  }
  const NodeDescs descs(module.graph, node);
  return PartsOf({Kind::kInput, Kind::kOutput}, module.lowerings[node.id].steps,
                 node.schema->in_place_concat_offsets(descs.view()), may_lie);
}

}  // namespace tim::compiler
