// Steps that choose or repeat graphs: the graphs run in contexts of their own,
// on the memory of the step's operands.
#include "runtime/control_run.h"

#include <utility>
#include <variant>

#include "base/trace.h"
#include "ir/tensor_desc.h"
#include "runtime/transfer.h"

namespace tim::runtime {
namespace {

using device::Buffer;
using device::BufferRange;
using device::Stream;

constexpr int64_t kConditionAlignment = 64;

BufferRange Whole(Buffer& buffer) { return {&buffer, 0, buffer.bytes()}; }

// The range of `bytes` bytes with slice `index`.
BufferRange SliceOf(const BufferRange& scan, int64_t index, int64_t bytes) {
  return {scan.buffer, scan.offset + index * bytes, bytes};
}

// Whether the plan of a condition copies it as it is.
bool GivesItsInput(const ir::Plan& plan) {
  return plan.steps.size() == 1 &&
         std::holds_alternative<ir::Copy>(plan.steps[0].action);
}

}  // namespace

Result<std::unique_ptr<ControlRun>> ControlRun::Create(
    const Executable& executable, size_t step, Kernels kernels,
    std::vector<compiler::RefusedKernel>* refused) {
  const ir::Step& of = executable.plan().steps[step];
  std::unique_ptr<ControlRun> run(
      new ControlRun(std::get<ir::ControlCall>(of.action), of.device));
  for (const auto& inner : executable.control(step)) {
    TIM_ASSIGN_OR_RETURN(auto context,
                         kernels == Kernels::kNew
                             ? ExecutionContext::Create(inner, refused)
                             : ExecutionContext::CreateAnother(inner));
    const bool follows = of.device != 0 && context->IsOfOneQueue(of.device);
    run->inner_.push_back({.executable = inner,
                           .context = std::move(context),
                           .follows = follows});
  }
  TIM_RETURN_IF_ERROR(run->Allocate(executable.device(of.device)));
  return run;
}

Status ControlRun::Allocate(device::Device& device) {
  condition_ = AllocateAligned(kConditionAlignment, kConditionAlignment);
  if (condition_ == nullptr) return OutOfMemory("no memory for a condition");
  if (call_.kind != ir::ControlKind::kWhile) return OkStatus();
  const ir::Plan& body = inner_[1].executable->plan();
  const auto allocate = [&](size_t output) -> Result<std::unique_ptr<Buffer>> {
    TIM_ASSIGN_OR_RETURN(const int64_t bytes,
                         ir::ByteSize(body.outputs[output].desc));
    return device.Allocate(bytes, ir::MemoryKind::kDevice);
  };
  for (size_t i = 0; i < body.inputs.size(); ++i) {
    auto& pair = states_.emplace_back();
    for (auto& buffer : pair) {
      TIM_ASSIGN_OR_RETURN(buffer, allocate(i));
    }
  }
  for (size_t i = body.inputs.size(); i + 1 < body.outputs.size(); ++i) {
    TIM_ASSIGN_OR_RETURN(slices_.emplace_back(), allocate(i));
  }
  return OkStatus();
}

PortMemory ControlRun::PortOf(const BufferRange& range) const {
  if (device_ != 0) return PortMemory(range);
  auto* const memory = static_cast<std::byte*>(range.buffer->host_address());
  return {memory + range.offset, range.bytes};
}

Status ControlRun::RunBoth(size_t plan, std::span<const PortMemory> inputs,
                           std::span<const PortMemory> outputs) {
  Inner& inner = inner_[plan];
  TIM_RETURN_IF_ERROR(
      inner.binding.Bind(inner.executable->plan(), inputs, outputs));
  inner.binding.CopyInputs();
  TIM_RETURN_IF_ERROR(inner.context->Run(inner.binding.inputs(),
                                         inner.binding.outputs(), nullptr));
  inner.binding.CopyOutputs();
  return OkStatus();
}

Result<bool> ControlRun::RunInner(size_t plan, Ranges inputs, Ranges outputs) {
  const auto in = PortsOf(inputs);
  auto out = PortsOf(outputs);
  out.emplace_back(condition_.get(), kConditionAlignment);
  TIM_RETURN_IF_ERROR(RunBoth(plan, in, out));
  return *condition_.get() != std::byte{0};
}

std::vector<PortMemory> ControlRun::PortsOf(Ranges ranges) const {
  std::vector<PortMemory> ports;
  for (const BufferRange& range : ranges) ports.push_back(PortOf(range));
  return ports;
}

// The plan that gives it to the host is needed where the host does not see it.
Result<bool> ControlRun::Condition(Stream& stream, Ranges operand) {
  const BufferRange& range = operand[0];
  if (GivesItsInput(inner_[0].executable->plan())) {
    std::byte condition{0};
    const auto* const there =
        static_cast<const std::byte*>(range.buffer->host_address());
    if (there != nullptr) return there[range.offset] != condition;
    TIM_ASSIGN_OR_RETURN(
        const bool known,
        stream.Peek({range.buffer, range.offset, sizeof(condition)},
                    &condition));
    if (known) return condition != std::byte{0};
  }
  return RunInner(0, operand, {});
}

Status ControlRun::RunIf(Stream& stream, Ranges operands) {
  TIM_ASSIGN_OR_RETURN(const bool condition,
                       Condition(stream, operands.first(1)));
  const size_t plan = condition ? 1 : 2;
  Inner& inner = inner_[plan];
  const size_t inputs = inner.executable->plan().inputs.size();
  const auto in = PortsOf(operands.subspan(1, inputs));
  const auto out = PortsOf(operands.subspan(1 + inputs));
  // A trace has a row for each stream of a run.
  if (!inner.follows || TraceEnabled()) return RunBoth(plan, in, out);
  TIM_RETURN_IF_ERROR(inner.binding.Bind(inner.executable->plan(), in, out));
  return inner.context->EnqueueIn(stream, inner.binding.inputs(),
                                  inner.binding.outputs());
}

Status ControlRun::CopySlices(Stream& stream, Ranges scans,
                              int64_t trip) const {
  for (size_t i = 0; i < slices_.size(); ++i) {
    const BufferRange slice = Whole(*slices_[i]);
    if (slice.bytes == 0) continue;
    TIM_RETURN_IF_ERROR(
        stream.Copy(slice, SliceOf(scans[i], trip, slice.bytes)));
  }
  // The next trip writes them again.
  return slices_.empty() ? OkStatus() : Finish(stream);
}

Status ControlRun::ClearSlices(Stream& stream, Ranges scans, int64_t trips) {
  if (trips >= call_.max_trips) return OkStatus();
  for (size_t i = 0; i < slices_.size(); ++i) {
    const BufferRange slice = Whole(*slices_[i]);
    if (slice.bytes == 0) continue;
    TIM_RETURN_IF_ERROR(FillZero(stream, *slices_[i]));
    for (int64_t trip = trips; trip < call_.max_trips; ++trip) {
      TIM_RETURN_IF_ERROR(
          stream.Copy(slice, SliceOf(scans[i], trip, slice.bytes)));
    }
  }
  return OkStatus();
}

Status ControlRun::RunWhile(Stream& stream, Ranges operands) {
  const size_t count = states_.size();
  const Ranges final = operands.subspan(count, count);
  const Ranges scans = operands.subspan(2 * count);
  std::vector<BufferRange> state(operands.begin(),
                                 operands.begin() + static_cast<int>(count));
  TIM_ASSIGN_OR_RETURN(bool go, RunInner(0, state, {}));
  int64_t trip = 0;
  for (; go && (call_.max_trips < 0 || trip < call_.max_trips); ++trip) {
    std::vector<BufferRange> made;
    for (auto& pair : states_) {
      made.push_back(Whole(*pair[static_cast<size_t>(trip % 2)]));
    }
    for (const auto& slice : slices_) made.push_back(Whole(*slice));
    TIM_ASSIGN_OR_RETURN(go, RunInner(1, state, made));
    TIM_RETURN_IF_ERROR(CopySlices(stream, scans, trip));
    made.resize(count);
    state = std::move(made);
  }
  for (size_t i = 0; i < count; ++i) {
    if (final[i].bytes == 0) continue;
    state[i].bytes = final[i].bytes;
    TIM_RETURN_IF_ERROR(stream.Copy(state[i], final[i]));
  }
  return ClearSlices(stream, scans, trip);
}

Status ControlRun::Run(Stream& stream, Ranges operands) {
  TIM_RETURN_IF_ERROR(Finish(stream));
  return call_.kind == ir::ControlKind::kIf ? RunIf(stream, operands)
                                            : RunWhile(stream, operands);
}

Status PrepareControls(const Executable& executable,
                       std::span<PreparedGroup> prepared, Kernels kernels,
                       std::vector<compiler::RefusedKernel>* refused) {
  const ir::Plan& plan = executable.plan();
  for (PreparedGroup& ready : prepared) {
    const ir::Step& step = plan.steps[ready.group.first];
    if (!std::holds_alternative<ir::ControlCall>(step.action)) continue;
    auto control =
        ControlRun::Create(executable, ready.group.first, kernels, refused);
    if (!control.ok()) return control.status().WithContext(step.label);
    ready.control = *std::move(control);
  }
  return OkStatus();
}

Status EnqueuePrepared(const PreparedGroup& ready, Stream& stream,
                       std::span<const BufferRange> operands) {
  if (ready.control != nullptr) return ready.control->Run(stream, operands);
  if (ready.step != nullptr) return stream.Enqueue(*ready.step, operands);
  return stream.Copy(operands[0], operands[1]);
}

}  // namespace tim::runtime
