#include <algorithm>
#include <tuple>
#include <variant>
#include <vector>

#include "ir/verify/checks.h"
#include "ir/verify/desc_check.h"

namespace tim::ir {
namespace {

using CallOperands = std::vector<std::optional<CallOperand>>;

// Nodes of graphs would point to schemas.
Status CheckAttributes(const AttributeMap& attributes) {
  for (const auto& [name, value] : attributes.entries()) {
    if (value.valueless_by_exception()) {
      return InvalidArgument("attribute '", name, "' has no value");
    }
    if (TypeOf(value) == AttributeType::kGraph) {
      return InvalidArgument("attribute '", name, "' is a graph");
    }
    const auto* tensor =
        std::get_if<std::shared_ptr<const ConstantData>>(&value);
    if (tensor != nullptr && *tensor == nullptr) {
      return InvalidArgument("attribute '", name, "' has no data");
    }
  }
  return OkStatus();
}

// Descriptions against the slots of the operands from `*next` on.
Status CheckOperands(const Plan& plan, const Step& step, const char* what,
                     const CallOperands& operands, bool written, size_t* next) {
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i]) continue;
    const auto bytes = CheckDesc(operands[i]->desc);
    if (!bytes.ok()) return bytes.status().WithContext(StrCat(what, " ", i));
    if (*next >= step.operands.size()) {
      return InvalidArgument(what, " ", i, " has no operand");
    }
    const size_t operand = (*next)++;
    const int64_t room = plan.slots[step.operands[operand]].bytes;
    if (*bytes > room) {
      return InvalidArgument(what, " ", i, " is of ",
                             operands[i]->desc.ToString(), ", ", *bytes,
                             " bytes, operand ", operand, " has ", room);
    }
    if (step.written[operand] != written) {
      return InvalidArgument(what, " ", i, ", operand ", operand, ", is ",
                             written ? "not written" : "written");
    }
  }
  return OkStatus();
}

// A piece of memory that an operand is.
struct Piece {
  SlotKind kind = SlotKind::kArena;
  int index = 0;
  int64_t begin = 0;
  int64_t end = 0;
  bool written = false;
};

// OpSchema::eval is given outputs that lie on no other operand.
Status CheckApart(const Plan& plan, const Step& step) {
  std::vector<Piece> pieces;
  for (size_t i = 0; i < step.operands.size(); ++i) {
    const Slot& slot = plan.slots[step.operands[i]];
    if (slot.bytes == 0) continue;
    pieces.push_back({slot.kind, slot.index, slot.offset,
                      slot.offset + slot.bytes, step.written[i]});
  }
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
    return std::tie(a.kind, a.index, a.begin) <
           std::tie(b.kind, b.index, b.begin);
  });
  int64_t end = 0;  // of what is before in the same memory
  int64_t written_end = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    if (i == 0 || piece.kind != pieces[i - 1].kind ||
        piece.index != pieces[i - 1].index) {
      end = written_end = 0;
    }
    if (piece.begin < (piece.written ? end : written_end)) {
      return InvalidArgument("writes an output that lies on another operand");
    }
    end = std::max(end, piece.end);
    if (piece.written) written_end = std::max(written_end, piece.end);
  }
  return OkStatus();
}

}  // namespace

Status CheckHostCall(const Plan& plan, const Step& step, const HostCall& call) {
  if (!plan.devices[step.device].runs_eval) {
    return InvalidArgument("evaluates ", call.op, " on device ", step.device,
                           ", which runs no host references");
  }
  if (call.op.empty()) return InvalidArgument("names no operator");
  TIM_RETURN_IF_ERROR(CheckAttributes(call.attributes));
  size_t next = 0;
  TIM_RETURN_IF_ERROR(
      CheckOperands(plan, step, "input", call.inputs, false, &next));
  TIM_RETURN_IF_ERROR(
      CheckOperands(plan, step, "output", call.outputs, true, &next));
  if (next != step.operands.size()) {
    return InvalidArgument("has ", step.operands.size(),
                           " operands, inputs and outputs are ", next);
  }
  return CheckApart(plan, step);
}

}  // namespace tim::ir
