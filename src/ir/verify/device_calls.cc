// Steps of devices that are no part of the library.
#include "ir/graph.h"
#include "ir/verify/checks.h"
#include "ir/verify/desc_check.h"

namespace tim::ir {
namespace {

Status CheckOperand(const Plan& plan, const Step& step, const Graph& part,
                    ValueId id, const char* what, size_t index,
                    size_t operand) {
  if (!part.HasValue(id)) {
    return InvalidArgument(what, " ", index, " is no value of its part");
  }
  const TensorDesc& desc = part.value(id).desc;
  const auto bytes = CheckDesc(desc);
  if (!bytes.ok()) return bytes.status().WithContext(StrCat(what, " ", index));
  const int64_t room = plan.slots[step.operands[operand]].bytes;
  if (*bytes <= room) return OkStatus();
  return InvalidArgument(what, " ", index, " is of ", desc.ToString(), ", ",
                         *bytes, " bytes, operand ", operand, " has ", room);
}

Status CheckPart(const Graph& part) {
  if (!part.state_updates().empty()) {
    return InvalidArgument("has a part that updates states");
  }
  for (const ValueId id : part.ValueIds()) {
    if (part.value(id).role != Role::kState) continue;
    return InvalidArgument("has a part with the state ", part.value(id).name);
  }
  return OkStatus();
}

}  // namespace

Status CheckDeviceCall(const DeviceCall& call) {
  if (call.name.empty()) return InvalidArgument("names no kernel");
  if (call.payload.size() <= kMaxPayloadBytes) return OkStatus();
  return InvalidArgument("has a payload of ", call.payload.size(),
                         " bytes; it may have ", kMaxPayloadBytes);
}

Status CheckGraphCall(const Plan& plan, const Step& step,
                      const GraphCall& call) {
  if (call.part == nullptr) return InvalidArgument("has no part");
  const Graph& part = *call.part;
  TIM_RETURN_IF_ERROR(CheckPart(part));
  const size_t inputs = part.inputs().size();
  const size_t operands = inputs + part.outputs().size();
  if (step.operands.size() != operands) {
    return InvalidArgument("has ", step.operands.size(), " operands, its part ",
                           operands);
  }
  for (size_t i = 0; i < operands; ++i) {
    const bool output = i >= inputs;
    if (step.written[i] != output) {
      return InvalidArgument("operand ", i, " is ", output ? "not " : "",
                             "written");
    }
    TIM_RETURN_IF_ERROR(
        CheckOperand(plan, step, part,
                     output ? part.outputs()[i - inputs] : part.inputs()[i],
                     output ? "output" : "input", output ? i - inputs : i, i));
  }
  return OkStatus();
}

}  // namespace tim::ir
