// Goes through devices and cases, and tells the faults.
#include "tim/vx/custom_op_check.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/guarded.h"
#include "base/options.h"
#include "runtime/device_pool.h"
#include "vx/check/compare.h"
#include "vx/check/program_text.h"
#include "vx/check/random.h"
#include "vx/check/shrink.h"
#include "vx/check/trial.h"
#include "vx/core/failure.h"
#include "vx/graph/context_impl.h"
#include "vx/tensor/type_convert.h"

namespace tim::vx::check {
namespace {

constexpr size_t kMostItems = 256;

DeviceOptions GuardedOptions() {
  DeviceOptions options = GetOptions().on_device;
  options.guard = true;
  return options;
}

Result<std::shared_ptr<Context>> HostContext() {
  TIM_ASSIGN_OR_RETURN(auto devices, runtime::SelectDevices("host"));
  return CreateContext(std::move(devices));
}

// The number that TIMCL_DEVICE means; the last one is the host.
Result<uint32_t> NumberOf(const std::string& wanted, size_t devices) {
  if (wanted == "host") return static_cast<uint32_t>(devices - 1);
  if (wanted == "opencl") return uint32_t{0};
  constexpr std::string_view kPrefix = "opencl:";
  uint32_t number = 0;
  if (wanted.starts_with(kPrefix)) {
    const char* const end = wanted.data() + wanted.size();
    const auto [stop, error] =
        std::from_chars(wanted.data() + kPrefix.size(), end, number);
    if (error == std::errc() && stop == end) return number;
  }
  return InvalidArgument("TIMCL_DEVICE=", wanted,
                         " names no device; expected host, opencl or "
                         "opencl:<number>");
}

Result<std::vector<uint32_t>> NumbersOf(const CheckOptions& options,
                                        size_t devices) {
  const std::string& wanted = GetOptions().device;
  if (!wanted.empty()) {
    TIM_ASSIGN_OR_RETURN(const uint32_t number, NumberOf(wanted, devices));
    return std::vector<uint32_t>{number};
  }
  if (!options.devices.empty()) return options.devices;
  std::vector<uint32_t> numbers;
  for (uint32_t i = 0; i < devices; ++i) numbers.push_back(i);
  return numbers;
}

Result<Target> TargetOf(uint32_t number,
                        const std::vector<runtime::ListedDevice>& list) {
  TIM_ASSIGN_OR_RETURN(auto devices, runtime::SelectListedDevice(
                                         number, {}, "", GuardedOptions()));
  Target target;
  target.number = number;
  target.name = list[number].name;
  target.is_host = devices.size() == 1;
  const auto most = devices.back()->info().max_work_group_size;
  target.most_items = static_cast<size_t>(std::max<int64_t>(most, 1));
  target.context = CreateContext(std::move(devices));
  return target;
}

// The sizes that a case is tried with besides the operator's.
size_t GroupFor(const CheckOptions& options, uint32_t number,
                const Target& target) {
  const size_t most = std::min(target.most_items, kMostItems);
  if (number % 3 == 0) return most;
  if (number % 3 == 1) return 1;
  Random random(SeedOf(options.seed ^ 0x10ca1, number));
  return std::min<size_t>(most, 2 + random.Below(63));
}

bool MayVary(const CheckOptions& options, const Outcome& outcome,
             const Target& target) {
  if (target.is_host || options.local_sizes == LocalSizes::kOwn) return false;
  return outcome.open || options.local_sizes == LocalSizes::kAll;
}

// The first failing case of the numbers, with other local sizes too.
Result<std::optional<Failure>> FindFailure(const Trials& trials,
                                           const Target& target,
                                           CheckResult* result) {
  for (uint32_t number = 0; number < trials.options().cases; ++number) {
    TIM_ASSIGN_OR_RETURN(Case drawn,
                         DrawCase(trials.checked(), trials.options(), number));
    Failure failure;
    failure.prepared = trials.Prepare(drawn);
    failure.outcome = failure.prepared.problem;
    ++result->cases;
    if (failure.outcome.fault) return std::optional(std::move(failure));
    failure.outcome = trials.Try(failure.prepared, target);
    if (failure.outcome.fault) return std::optional(std::move(failure));
    if (!MayVary(trials.options(), failure.outcome, target)) continue;
    failure.prepared.tried.group = GroupFor(trials.options(), number, target);
    failure.outcome = trials.Try(failure.prepared, target);
    if (failure.outcome.fault == FaultKind::kFails) continue;  // not allowed
    ++result->cases;
    ++result->local_cases;
    if (failure.outcome.fault) return std::optional(std::move(failure));
  }
  return std::optional<Failure>();
}

const TensorSpec* SpecOf(const Operands& operands, const std::string& operand) {
  for (size_t i = 0; i < operands.inputs.size(); ++i) {
    if (operand == StrCat("input ", i)) return &operands.inputs[i];
  }
  for (size_t i = 0; i < operands.outputs.size(); ++i) {
    if (operand == StrCat("output ", i)) return &operands.outputs[i];
  }
  return nullptr;
}

// "float32 [3, 2]", as messages have it.
std::string TextOf(const TensorSpec& spec) {
  const auto desc = ToIr(spec);
  return desc.ok() ? desc->ToString() : desc.status().message();
}

std::string ElementText(const Fault& fault) {
  if (fault.element < 0) return "";
  std::string text = StrCat("element ", fault.element);
  if (fault.position.size() > 1) {
    text += StrCat(" at [", StrJoin(fault.position, ", "), "]");
  }
  return text;
}

std::string TextOf(const Fault& fault, const Failure& failure,
                   const Trials& trials) {
  std::string text = StrCat("device ", fault.device, " '", fault.device_name,
                            "': ", ToString(fault.kind));
  if (fault.kind == FaultKind::kWrongValue) {
    text += StrCat(": ", ElementText(fault), " of ", fault.operand, " is ",
                   fault.actual, ", expected ", fault.expected, "; ",
                   failure.outcome.reason);
  } else {
    text += StrCat(": ", failure.outcome.reason);
  }
  for (size_t i = 0; i < fault.operands.inputs.size(); ++i) {
    const bool absent = !failure.prepared.tried.HasInput(i);
    text += StrCat("\n  input ", i, ": ",
                   absent ? "absent" : TextOf(fault.operands.inputs[i]));
  }
  for (size_t i = 0; i < fault.operands.outputs.size(); ++i) {
    if (fault.operands.outputs[i].shape_.empty()) continue;  // not known
    text += StrCat("\n  output ", i, ": ", TextOf(fault.operands.outputs[i]),
                   trials.checked().outputs[i].variable ? ", a VARIABLE" : "");
  }
  for (size_t i = 0; i < fault.local_sizes.size(); ++i) {
    if (fault.local_sizes[i].empty()) continue;
    text += StrCat("\n  work-groups of kernel '",
                   failure.outcome.launches.kernels[i].function, "': [",
                   StrJoin(fault.local_sizes[i], ", "), "]");
  }
  if (failure.prepared.tried.group > 0) {
    text += "\n  with the operator's own local sizes the case is right";
  }
  return StrCat(text, "\n  case ", fault.case_number, " of seed ",
                trials.options().seed, ", made smaller in ", failure.steps,
                " steps");
}

Fault FaultOf(const Trials& trials, const Target& target,
              const Failure& failure) {
  const Outcome& outcome = failure.outcome;
  Fault fault;
  fault.kind = *outcome.fault;
  fault.device = target.number;
  fault.device_name = target.name;
  fault.operand = outcome.operand;
  fault.element = outcome.element;
  fault.actual = outcome.actual;
  fault.expected = outcome.expected;
  fault.operands = failure.prepared.operands;
  fault.case_number = failure.prepared.tried.number;
  const TensorSpec* spec = SpecOf(fault.operands, fault.operand);
  if (spec != nullptr && fault.element >= 0 &&
      fault.element < spec->GetElementNum()) {
    fault.position = PositionOf(fault.element, spec->shape_);
  }
  for (const CustomKernel& kernel : outcome.launches.kernels) {
    const bool open = std::all_of(kernel.local.begin(), kernel.local.end(),
                                  [](size_t size) { return size == 0; });
    fault.local_sizes.push_back(open ? std::vector<size_t>() : kernel.local);
  }
  fault.text = TextOf(fault, failure, trials);
  fault.program =
      ProgramText(trials.checked(), failure.prepared, outcome, target);
  return fault;
}

// Whether HostEval() would be compared with itself, or is not there.
Result<bool> CanCheck(const Trials& trials, const Target& target) {
  if (!target.is_host) return true;
  if (trials.checked().reference == nullptr) return false;
  return trials.HasHostEval();
}

Status CheckDevices(const CheckedOperator& checked, const CheckOptions& options,
                    CheckResult* result) {
  TIM_RETURN_IF_ERROR(CheckRanges(checked, options));
  const std::vector<runtime::ListedDevice> list = runtime::ListDevices();
  TIM_ASSIGN_OR_RETURN(const auto numbers, NumbersOf(options, list.size()));
  TIM_ASSIGN_OR_RETURN(auto host, HostContext());
  const Trials trials(checked, options, std::move(host));
  if (checked.reference == nullptr) {
    TIM_ASSIGN_OR_RETURN(const bool has, trials.HasHostEval());
    if (!has) {
      return InvalidArgument(
          "the operator has no HostEval(): give a reference");
    }
  }
  int devices = 0;
  for (const uint32_t number : numbers) {
    TIM_ASSIGN_OR_RETURN(const Target target, TargetOf(number, list));
    TIM_ASSIGN_OR_RETURN(const bool can, CanCheck(trials, target));
    if (!can) continue;
    ++devices;
    TIM_ASSIGN_OR_RETURN(auto failure, FindFailure(trials, target, result));
    if (!failure) continue;
    result->faults.push_back(
        FaultOf(trials, target, Shrink(trials, target, *std::move(failure))));
  }
  if (devices > 0) return OkStatus();
  return InvalidArgument(
      "there is no device to check on: the host is one only where there is a "
      "reference besides HostEval()");
}

std::string TextOf(const CheckResult& result) {
  std::string text =
      StrCat(result.cases, result.cases == 1 ? " case, " : " cases, ",
             result.local_cases, " with other local sizes: ");
  if (!result.mistake.empty()) {
    return StrCat("nothing is checked: ", result.mistake);
  }
  if (result.faults.empty()) return text + "no fault";
  text += StrCat(result.faults.size(),
                 result.faults.size() == 1 ? " fault" : " faults");
  for (const Fault& fault : result.faults) text += StrCat("\n", fault.text);
  return text;
}

}  // namespace

const char* ToString(FaultKind kind) {
  switch (kind) {
    case FaultKind::kWrongValue:
      return "wrong value";
    case FaultKind::kUnwritten:
      return "unwritten element";
    case FaultKind::kWritesOutside:
      return "write out of bounds";
    case FaultKind::kReadsOutside:
      return "read out of bounds";
    case FaultKind::kReadsUnwritten:
      return "read of what is not written";
    case FaultKind::kWritesInput:
      return "write to a const input";
    case FaultKind::kReference:
      return "fault of the reference";
    default:
      return "failure";
  }
}

CheckResult CheckCustomOp(const CheckedOperator& checked,
                          const CheckOptions& options) {
  CheckResult result;
  const Status status =
      GuardedCall([&] { return CheckDevices(checked, options, &result); });
  if (!status.ok()) result.mistake = ErrorText(status);
  result.text = TextOf(result);
  return result;
}

}  // namespace tim::vx::check
