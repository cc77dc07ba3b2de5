#include "device/opencl/guard/guarded_step.h"

#include <algorithm>
#include <variant>

#include "base/log.h"
#include "device/opencl/driver/cl_status.h"
#include "device/opencl/user/user_arguments.h"

namespace tim::device {
namespace {

constexpr char kAnother[] =
    "reads outside of an input, or gives another result each time";

// Whether a launch left the byte `at` as it was, for all that one can see.
bool Unwritten(const GuardedBytes& one, const GuardedBytes& other, size_t at) {
  return one.before[at] != other.before[at] &&
         one.after[at] == one.before[at] && other.after[at] == other.before[at];
}

std::optional<int64_t> FirstChange(const GuardedBytes& bytes,
                                   const GuardRange& range) {
  const auto begin = bytes.after.begin() + range.begin;
  const auto end = bytes.after.begin() + range.end;
  const auto found =
      std::mismatch(begin, end, bytes.before.begin() + range.begin).first;
  if (found == end) return std::nullopt;
  return found - bytes.after.begin();
}

// Of the two launches: a kernel may write what was there in one of them.
std::optional<int64_t> FirstChange(const GuardedBytes& one,
                                   const GuardedBytes& other,
                                   const GuardRange& range) {
  const auto a = FirstChange(one, range);
  const auto b = FirstChange(other, range);
  return a && b ? std::min(*a, *b) : a ? a : b;
}

// The nearest to the content that was written before it.
std::optional<int64_t> LastChange(const GuardedBytes& one,
                                  const GuardedBytes& other,
                                  const GuardRange& range) {
  for (int64_t at = range.end - 1; at >= range.begin; --at) {
    if (one.after[at] != one.before[at] ||
        other.after[at] != other.before[at]) {
      return at;
    }
  }
  return std::nullopt;
}

}  // namespace

GuardedStep::GuardedStep(cl::Kernel kernel, const LaunchSizes& sizes,
                         const ir::UserLaunch& launch)
    : kernel_(std::move(kernel)),
      sizes_(sizes),
      operation_(launch.name),
      function_(launch.function) {}

Result<std::unique_ptr<PreparedStep>> GuardedStep::Create(
    cl::Kernel kernel, const LaunchSizes& sizes, const ir::DeviceInfo& device,
    const ir::UserLaunch& launch, GuardedContents* contents) {
  const std::vector<KernelParameter> parameters = ParametersOf(kernel, launch);
  std::unique_ptr<GuardedStep> step(
      new GuardedStep(std::move(kernel), sizes, launch));
  const auto context = step->kernel_.getInfo<CL_KERNEL_CONTEXT>();
  contents->Begin(launch);
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    const auto* tensor = std::get_if<ir::UserTensorArg>(&launch.arguments[i]);
    if (tensor == nullptr) continue;
    if (tensor->operand == ir::kAbsentOperand) {
      TIM_RETURN_IF_ERROR(SetAbsent(step->kernel_, static_cast<int>(i),
                                    parameters[i], &step->empty_images_));
      continue;
    }
    TIM_ASSIGN_OR_RETURN(
        GuardedOperand operand,
        GuardedOperand::Create(context, device, *tensor, parameters[i],
                               contents->Find(launch, *tensor)));
    TIM_RETURN_IF_CL_ERROR(
        step->kernel_.setArg(static_cast<cl_uint>(i), operand.view()),
        "kernel '", launch.function, "', parameter ", i);
    step->operands_.push_back(std::move(operand));
  }
  return std::unique_ptr<PreparedStep>(std::move(step));
}

template <typename... Args>
Status GuardedStep::Refuse(const Args&... reason) const {
  return InvalidArgument(operation_, ": kernel '", function_, "' ", reason...,
                         " (found by TIMCL_GUARD)");
}

Status GuardedStep::Enqueue(OpenClQueue& queue,
                            std::span<const BufferRange> operands) {
  TIM_RETURN_IF_ERROR(Finish(queue, Take(queue, operands)));
  std::vector<GuardRange> flipped(operands_.size());
  TIM_ASSIGN_OR_RETURN(const Launched one, Launch(queue, flipped));
  for (size_t i = 0; i < flipped.size(); ++i) {
    flipped[i] = {0, operands_[i].size()};
  }
  TIM_ASSIGN_OR_RETURN(const Launched other, Launch(queue, flipped));
  TIM_RETURN_IF_ERROR(CheckWrites(one, other));
  TIM_RETURN_IF_ERROR(CheckReads(queue, one, other));
  TIM_RETURN_IF_ERROR(CheckComplete(one, other));
  SetDefined(one, other);
  return Finish(queue, Give(queue, operands, one));
}

Status GuardedStep::Build(OpenClQueue& queue, std::span<const BufferRange>) {
  BuildKernel(queue, kernel_, sizes_, function_);
  return OkStatus();
}

// Also after a failure: commands in flight use memory of the caller.
Status GuardedStep::Finish(OpenClQueue& queue, const Status& enqueued) const {
  QueueFence fence;
  const Status submitted = queue.SetFence(&fence);
  if (submitted.ok()) {
    TIM_RETURN_IF_CL_ERROR(fence.Wait(), "running kernel '", function_, "' of ",
                           operation_);
  }
  return enqueued.ok() ? submitted : enqueued;
}

Status GuardedStep::Take(OpenClQueue& queue,
                         std::span<const BufferRange> operands) {
  for (GuardedOperand& operand : operands_) {
    const size_t number = static_cast<size_t>(operand.tensor().operand);
    if (number >= operands.size()) {
      return TIM_INTERNAL("kernel '", function_, "' needs operand ", number,
                          " of ", operands.size());
    }
    TIM_RETURN_IF_ERROR(operand.Take(queue, operands[number]));
  }
  return OkStatus();
}

Status GuardedStep::Give(OpenClQueue& queue,
                         std::span<const BufferRange> operands,
                         const Launched& launched) const {
  for (size_t i = 0; i < operands_.size(); ++i) {
    const int number = operands_[i].tensor().operand;
    TIM_RETURN_IF_ERROR(
        operands_[i].Give(queue, launched[i], operands[number]));
  }
  return OkStatus();
}

Result<GuardedStep::Launched> GuardedStep::Launch(
    OpenClQueue& queue, std::span<const GuardRange> flipped) const {
  Launched launched(operands_.size());
  TIM_RETURN_IF_ERROR(Finish(queue, EnqueueLaunch(queue, flipped, &launched)));
  return launched;
}

Status GuardedStep::EnqueueLaunch(OpenClQueue& queue,
                                  std::span<const GuardRange> flipped,
                                  Launched* launched) const {
  for (size_t i = 0; i < operands_.size(); ++i) {
    TIM_RETURN_IF_ERROR(
        operands_[i].Prepare(queue, flipped[i], &(*launched)[i]));
  }
  TIM_RETURN_IF_CL_ERROR(
      queue.Launch(kernel_, sizes_.run.global, sizes_.run.local),
      "launching kernel '", function_, "'");
  for (size_t i = 0; i < operands_.size(); ++i) {
    TIM_RETURN_IF_ERROR(operands_[i].Read(queue, &(*launched)[i]));
  }
  return OkStatus();
}

Result<GuardedStep::Launched> GuardedStep::LaunchFlipped(
    OpenClQueue& queue, size_t operand, const GuardRange& flipped) const {
  std::vector<GuardRange> all(operands_.size());
  all[operand] = flipped;
  return Launch(queue, all);
}

// ": element 4, it has 0 to 3"
std::string GuardedStep::Outside(const GuardedOperand& operand,
                                 int64_t at) const {
  const int64_t last = operand.ElementAt(operand.content().end) - 1;
  return StrCat(operand.ToString(), ": ", operand.ElementText(at),
                ", it has 0 to ", last);
}

Status GuardedStep::CheckWrites(const Launched& one,
                                const Launched& other) const {
  for (size_t i = 0; i < operands_.size(); ++i) {
    const GuardedOperand& operand = operands_[i];
    std::optional<int64_t> at = FirstChange(one[i], other[i], operand.back());
    if (!at) at = LastChange(one[i], other[i], operand.front());
    if (at) return Refuse("writes outside of ", Outside(operand, *at));
    if (!operand.read_only()) continue;
    at = FirstChange(one[i], other[i], operand.content());
    if (at) {
      return Refuse("writes to ", operand.ToString(), ", which it says is ",
                    "const: ", operand.ElementText(*at));
    }
  }
  return OkStatus();
}

Status GuardedStep::CheckComplete(const Launched& one,
                                  const Launched& other) const {
  for (size_t i = 0; i < operands_.size(); ++i) {
    const GuardedOperand& operand = operands_[i];
    if (!operand.tensor().written || operand.tensor().open) continue;
    const int64_t size = operand.BytesOfElement();
    int64_t count = 0;
    int64_t first = 0;
    for (int64_t at = operand.content().begin; at < operand.content().end;
         at += size) {
      int64_t bytes = 0;
      while (bytes < size && Unwritten(one[i], other[i], at + bytes)) ++bytes;
      if (bytes == size && count++ == 0) first = at;
    }
    if (count == 0) continue;
    return Refuse("leaves ", count, " of ",
                  (operand.content().end - operand.content().begin) / size,
                  " elements of ", operand.ToString(),
                  " unwritten, the first is ", operand.ElementText(first));
  }
  return OkStatus();
}

void GuardedStep::SetDefined(const Launched& one, const Launched& other) const {
  for (size_t i = 0; i < operands_.size(); ++i) {
    if (!operands_[i].tensor().written) continue;
    const auto [begin, end] = operands_[i].content();
    for (int64_t at = begin; at < end; ++at) {
      if (!Unwritten(one[i], other[i], at)) operands_[i].SetDefined(at);
    }
  }
}

std::optional<GuardedStep::Place> GuardedStep::Difference(
    const Launched& one, const Launched& other) const {
  for (size_t i = 0; i < operands_.size(); ++i) {
    const auto [begin, end] = operands_[i].content();
    if (!operands_[i].tensor().written) continue;
    for (int64_t at = begin; at < end; ++at) {
      if (one[i].after[at] != other[i].after[at] &&
          !Unwritten(one[i], other[i], at)) {
        return Place{i, at};
      }
    }
  }
  return std::nullopt;
}

Status GuardedStep::CheckReads(OpenClQueue& queue, const Launched& one,
                               const Launched& other) const {
  const std::optional<Place> place = Difference(one, other);
  if (!place) return OkStatus();
  TIM_ASSIGN_OR_RETURN(const bool repeats, Repeats(queue, one, other));
  if (repeats) return FindRead(queue, one, *place);
  const GuardedOperand& result = operands_[place->operand];
  TIM_LOG(kWarning, operation_, ": kernel '", function_, "' ", kAnother, ": ",
          result.ElementText(place->at), " of ", result.ToString(),
          " (found by TIMCL_GUARD)");
  return OkStatus();
}

// Whether each of the two gives the same once more.
Result<bool> GuardedStep::Repeats(OpenClQueue& queue, const Launched& one,
                                  const Launched& other) const {
  std::vector<GuardRange> flipped(operands_.size());
  TIM_ASSIGN_OR_RETURN(const Launched first, Launch(queue, flipped));
  if (Difference(one, first)) return false;
  for (size_t i = 0; i < flipped.size(); ++i) {
    flipped[i] = {0, operands_[i].size()};
  }
  TIM_ASSIGN_OR_RETURN(const Launched second, Launch(queue, flipped));
  return !Difference(other, second);
}

Status GuardedStep::FindRead(OpenClQueue& queue, const Launched& one,
                             const Place& result) const {
  const GuardedOperand& changed = operands_[result.operand];
  const std::string depends =
      StrCat(changed.ElementText(result.at), " of ", changed.ToString(),
             " depends on it, or is another each time");
  for (size_t i = 0; i < operands_.size(); ++i) {
    const GuardedOperand& operand = operands_[i];
    std::vector<GuardRange> ranges = {operand.back(), operand.front()};
    if (operand.tensor().written) ranges.push_back(operand.content());
    for (size_t r = 0; r < ranges.size(); ++r) {
      TIM_ASSIGN_OR_RETURN(const Launched flipped,
                           LaunchFlipped(queue, i, ranges[r]));
      if (!Difference(one, flipped)) continue;
      TIM_ASSIGN_OR_RETURN(const int64_t at,
                           NearestRead(queue, one, i, ranges[r]));
      if (r < 2) {
        return Refuse("reads outside of ", Outside(operand, at), "; ", depends);
      }
      return Refuse("reads ", operand.ToString(),
                    " before it is written: ", operand.ElementText(at), "; ",
                    depends);
    }
  }
  return Refuse(kAnother, ": ", changed.ElementText(result.at), " of ",
                changed.ToString());
}

Result<int64_t> GuardedStep::NearestRead(OpenClQueue& queue,
                                         const Launched& one, size_t operand,
                                         const GuardRange& range) const {
  // Flipping `few` elements changes nothing, flipping `many` does.
  const int64_t size = operands_[operand].BytesOfElement();
  const bool in_front = range.begin < operands_[operand].front().end;
  int64_t few = 0;
  int64_t many = (range.end - range.begin) / size;
  while (many - few > 1) {
    const int64_t middle = few + (many - few) / 2;
    const GuardRange part =
        in_front ? GuardRange{range.end - middle * size, range.end}
                 : GuardRange{range.begin, range.begin + middle * size};
    TIM_ASSIGN_OR_RETURN(const Launched flipped,
                         LaunchFlipped(queue, operand, part));
    (Difference(one, flipped) ? many : few) = middle;
  }
  return in_front ? range.end - many * size : range.begin + (many - 1) * size;
}

}  // namespace tim::device
