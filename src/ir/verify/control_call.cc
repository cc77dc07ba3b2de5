// Steps that run plans.
#include <cstddef>

#include "base/str_cat.h"
#include "ir/verify/checks.h"
#include "ir/verify/desc_check.h"

namespace tim::ir {
namespace {

class ControlChecker {
 public:
  ControlChecker(const Plan& plan, const Step& step, const ControlCall& call)
      : plan_(plan), step_(step), call_(call) {}

  Status Run() {
    if (call_.kind != ControlKind::kIf && call_.kind != ControlKind::kWhile) {
      return InvalidArgument("is of kind ", static_cast<int>(call_.kind));
    }
    const size_t expected = call_.kind == ControlKind::kIf ? 3 : 2;
    if (call_.plans.size() != expected) {
      return InvalidArgument("runs ", call_.plans.size(), " plans, expected ",
                             expected);
    }
    for (size_t i = 0; i < expected; ++i) {
      const Status status = CheckPlan(call_.plans[i].get());
      if (!status.ok()) return status.WithContext(StrCat("plan ", i));
    }
    return call_.kind == ControlKind::kIf ? CheckIf() : CheckWhile();
  }

 private:
  Status CheckPlan(const Plan* inner) const {
    if (inner == nullptr) return InvalidArgument("is absent");
    if (inner->devices != plan_.devices) {
      return InvalidArgument("is for other devices");
    }
    if (!inner->states.empty()) return InvalidArgument("has states");
    return Verify(*inner);
  }

  // Number of operands that are read; those that are written follow.
  Result<size_t> InputCount() const {
    size_t inputs = 0;
    while (inputs < step_.written.size() && !step_.written[inputs]) ++inputs;
    for (size_t i = inputs; i < step_.written.size(); ++i) {
      if (!step_.written[i]) {
        return InvalidArgument("reads operand ", i, " behind its outputs");
      }
    }
    return inputs;
  }

  Status CheckPort(const PlanTensor& port, size_t operand) const {
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, CheckDesc(port.desc));
    const Slot& slot = plan_.slots[step_.operands[operand]];
    if (port.device != step_.device) {
      return InvalidArgument("is on device ", port.device,
                             ", the step on device ", step_.device);
    }
    if (bytes == slot.bytes) return OkStatus();
    return InvalidArgument("has ", bytes, " bytes, operand ", operand, " ",
                           slot.bytes);
  }

  Status CheckPorts(const char* what, const std::vector<PlanTensor>& ports,
                    size_t count, size_t first) const {
    for (size_t i = 0; i < count; ++i) {
      const Status status = CheckPort(ports[i], first + i);
      if (!status.ok()) return status.WithContext(StrCat(what, " ", i));
    }
    return OkStatus();
  }

  // The last output of a plan: a byte of the host.
  static Status CheckCondition(const Plan& inner, size_t outputs) {
    if (inner.outputs.size() != outputs) {
      return InvalidArgument("has ", inner.outputs.size(),
                             " outputs, expected ", outputs);
    }
    const PlanTensor& condition = inner.outputs.back();
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, CheckDesc(condition.desc));
    if (condition.device == 0 && bytes == 1) return OkStatus();
    return InvalidArgument("gives a condition of ", bytes, " bytes on device ",
                           condition.device, ", expected 1 on the host");
  }

  Status CheckIf() const {
    TIM_ASSIGN_OR_RETURN(const size_t inputs, InputCount());
    const size_t outputs = step_.operands.size() - inputs;
    const Plan& condition = *call_.plans[0];
    if (condition.inputs.size() != 1 || inputs < 1) {
      return InvalidArgument("has no condition");
    }
    TIM_RETURN_IF_ERROR(CheckCondition(condition, 1));
    TIM_RETURN_IF_ERROR(CheckPorts("condition", condition.inputs, 1, 0));
    for (const size_t branch : {1, 2}) {
      const Plan& inner = *call_.plans[branch];
      if (inner.inputs.size() != inputs - 1 ||
          inner.outputs.size() != outputs) {
        return InvalidArgument("plan ", branch, " has ", inner.inputs.size(),
                               " inputs and ", inner.outputs.size(),
                               " outputs, the step ", inputs - 1, " and ",
                               outputs);
      }
      TIM_RETURN_IF_ERROR(CheckPorts("input", inner.inputs, inputs - 1, 1));
      TIM_RETURN_IF_ERROR(CheckPorts("output", inner.outputs, outputs, inputs));
    }
    return OkStatus();
  }

  Status CheckWhile() const {
    TIM_ASSIGN_OR_RETURN(const size_t state, InputCount());
    const size_t outputs = step_.operands.size() - state;
    if (call_.scans < 0 || state < 1 ||
        outputs != state + static_cast<size_t>(call_.scans)) {
      return InvalidArgument("has ", state, " inputs, ", outputs,
                             " outputs and ", call_.scans, " scans");
    }
    if (call_.max_trips < (call_.scans > 0 ? 0 : -1)) {
      return InvalidArgument("makes ", call_.max_trips, " trips at most");
    }
    for (const auto& inner : call_.plans) {
      if (inner->inputs.size() != state) {
        return InvalidArgument("a plan has ", inner->inputs.size(),
                               " inputs, the step ", state);
      }
      TIM_RETURN_IF_ERROR(CheckPorts("input", inner->inputs, state, 0));
    }
    const Plan& body = *call_.plans[1];
    TIM_RETURN_IF_ERROR(CheckCondition(*call_.plans[0], 1));
    TIM_RETURN_IF_ERROR(CheckCondition(body, outputs + 1));
    TIM_RETURN_IF_ERROR(CheckPorts("output", body.outputs, state, state));
    for (size_t i = 0; i < state; ++i) {
      const int64_t in = plan_.slots[step_.operands[i]].bytes;
      const int64_t out = plan_.slots[step_.operands[state + i]].bytes;
      if (in != out) {
        return InvalidArgument("state ", i, " has ", in, " bytes before and ",
                               out, " after");
      }
    }
    return CheckScans(body, state);
  }

  Status CheckScans(const Plan& body, size_t state) const {
    for (size_t i = state; i + 1 < body.outputs.size(); ++i) {
      TIM_ASSIGN_OR_RETURN(const int64_t slice,
                           CheckDesc(body.outputs[i].desc));
      const int64_t all = plan_.slots[step_.operands[state + i]].bytes;
      if (body.outputs[i].device == step_.device &&
          (slice == 0 ? all == 0
                      : all % slice == 0 && all / slice == call_.max_trips)) {
        continue;
      }
      return InvalidArgument("scan ", i - state, " has ", all,
                             " bytes for slices of ", slice);
    }
    return OkStatus();
  }

  const Plan& plan_;
  const Step& step_;
  const ControlCall& call_;
};

}  // namespace

Status CheckControlCall(const Plan& plan, const Step& step,
                        const ControlCall& call) {
  return ControlChecker(plan, step, call).Run();
}

}  // namespace tim::ir
