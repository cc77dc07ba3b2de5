#include "compiler/memory/in_place_parts.h"

#include <algorithm>

#include "ir/node_descs.h"
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

// The step of an eval, which touches all operands.
ir::LoweredStep EvalStepOf(const ir::Node& node) {
  ir::LoweredStep step;
  const auto add = [&](Kind kind, const std::vector<ir::ValueId>& ids) {
    for (int i = 0; i < static_cast<int>(ids.size()); ++i) {
      if (ids[i] != ir::kNone) step.operands.push_back({kind, i});
    }
  };
  add(Kind::kInput, node.inputs);
  add(Kind::kOutput, node.outputs);
  return step;
}

}  // namespace

InPlaceParts ConcatenatedInputs(const Module& module, const ir::Node& node,
                                const MayLie& may_lie) {
  const bool joins = module.JoinsBatch(node.id);
  if ((!joins && !RunsKernel(module, node)) || !node.schema->in_place_offsets) {
    return {};
  }
  const ir::NodeDescs descs(module.graph, node);
  return PartsOf(
      {Kind::kInput, Kind::kOutput},
      joins ? Steps{EvalStepOf(node)} : module.lowerings[node.id].steps,
      node.schema->in_place_offsets(descs.view()).inputs, may_lie);
}

InPlaceParts ViewedOutputs(const Module& module, const ir::Node& node,
                           const MayLie& may_lie) {
  const RunKind kind = module.placements[node.id].kind;
  if (node.composite || !node.schema->in_place_offsets ||
      (kind != RunKind::kKernel && kind != RunKind::kEval)) {
    return {};
  }
  const ir::NodeDescs descs(module.graph, node);
  return PartsOf({Kind::kOutput, Kind::kInput},
                 kind == RunKind::kEval ? Steps{EvalStepOf(node)}
                                        : module.lowerings[node.id].steps,
                 node.schema->in_place_offsets(descs.view()).outputs, may_lie);
}

bool IsViewOfParts(const Module& module, const ir::NodeView& view) {
  const ir::Node& node = view.node;
  if (node.composite || !node.schema->in_place_offsets) return false;
  const auto offsets = node.schema->in_place_offsets(view).outputs;
  if (offsets.size() != node.outputs.size()) return false;
  for (size_t i = 0; i < offsets.size(); ++i) {
    if (node.outputs[i] == ir::kNone) continue;
    if (offsets[i] < 0 || offsets[i] % kPartAlignment != 0 ||
        module.graph.IsLiveOut(node.outputs[i])) {
      return false;
    }
  }
  return true;
}

}  // namespace tim::compiler
