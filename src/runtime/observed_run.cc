// Does the steps of a run one by one, and lets an observer look at each.
#include "runtime/observed_run.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "base/guarded.h"
#include "base/trace.h"
#include "runtime/control_run.h"
#include "runtime/run_memory.h"
#include "runtime/run_streams.h"
#include "runtime/run_trace.h"
#include "runtime/transfer.h"
#include "runtime/warm_up.h"

namespace tim::runtime {

using device::BufferRange;
using device::Event;
using device::Stream;

namespace {

// Plans that were edited have notes of other steps.
ir::PlanNotes::Operand NoteOf(const ObservedStep& step, int operand) {
  const ir::Plan& plan = step.plan();
  if (plan.notes.operands.size() != plan.steps.size()) return {};
  return plan.notes.operands[step.index()][operand];
}

}  // namespace

const ir::PlanNotes::Value* ObservedStep::value(int operand) const {
  const int value = NoteOf(*this, operand).value;
  return value < 0 ? nullptr : &plan().notes.values[value];
}

int64_t ObservedStep::value_offset(int operand) const {
  return NoteOf(*this, operand).offset;
}

Status ObservedStep::ReadInto(int operand, std::span<std::byte> tensor) const {
  TIM_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, Read(operand));
  const auto offset = static_cast<size_t>(value_offset(operand));
  if (offset > tensor.size()) return OkStatus();
  std::copy_n(bytes.begin(), std::min(bytes.size(), tensor.size() - offset),
              tensor.begin() + static_cast<std::ptrdiff_t>(offset));
  return OkStatus();
}

using Clock = std::chrono::steady_clock;

class ObservedRun::Impl {
 public:
  explicit Impl(std::shared_ptr<const Executable> executable)
      : executable_(std::move(executable)) {}

  Status Prepare();
  Status Run(std::span<const PortMemory> inputs,
             std::span<const PortMemory> outputs, StateSet* states,
             RunObserver& observer);

 private:
  class Step;

  const ir::Plan& plan() const { return executable_->plan(); }
  Stream& stream_of(const PreparedGroup& ready) const {
    return *streams_[plan().steps[ready.group.first].device];
  }
  Status Bind(std::span<const PortMemory> inputs,
              std::span<const PortMemory> outputs, StateSet* states);
  Status RunBound(std::span<const PortMemory> inputs,
                  std::span<const PortMemory> outputs, StateSet* states,
                  RunObserver& observer);
  Status RunSteps(RunObserver& observer);
  // A call of the observer, whose time is not the run's.
  template <typename Function>
  Status Look(const Function& call) {
    const Clock::time_point begin = Clock::now();
    const Status status = GuardedCall(call);
    looked_ += Clock::now() - begin;
    return status;
  }
  Status Enqueue(const PreparedGroup& ready, Stream& stream);
  Result<StepTime> Do(const PreparedGroup& ready);
  Status Wait(const PreparedGroup& ready, Event& event);
  RunTrace* Trace();
  // The host waits, so that it may look at what devices have done.
  Status FinishAll();

  // In this order: what work refers to is destroyed after the streams.
  std::shared_ptr<const Executable> executable_;
  std::unique_ptr<RunMemory> memory_;
  std::vector<PreparedGroup> prepared_;
  Streams streams_;
  std::chrono::nanoseconds looked_{0};  // in this run
  std::unique_ptr<RunTrace> trace_;  // null before the first that is recorded
  RunTrace* tracing_ = nullptr;      // of this run; null: not recorded
  Status lost_;
};

class ObservedRun::Impl::Step final : public ObservedStep {
 public:
  Step(const Impl& run, const PreparedGroup& ready)
      : run_(run), ready_(ready) {}

  const ir::Plan& plan() const override { return run_.plan(); }
  int index() const override { return static_cast<int>(ready_.group.first); }
  StepTime time() const override { return time_; }
  void set_time(const StepTime& time) { time_ = time; }

  Result<std::vector<std::byte>> Read(int operand) const override {
    const auto operands = run_.memory_->operands(ready_.group);
    if (operand < 0 || operand >= static_cast<int>(operands.size())) {
      return InvalidArgument("operand ", operand, " of ", operands.size(),
                             " of step '", step().label, "'");
    }
    BufferRange range = operands[operand];
    range.bytes = slot(operand).bytes;
    std::vector<std::byte> bytes(static_cast<size_t>(range.bytes));
    TIM_RETURN_IF_ERROR(Download(run_.stream_of(ready_), range, bytes.data()));
    return bytes;
  }

 private:
  const Impl& run_;
  const PreparedGroup& ready_;
  StepTime time_;
};

Status ObservedRun::Impl::Prepare() {
  TIM_ASSIGN_OR_RETURN(streams_, CreateStreams(*executable_, Timing::kOffered));
  TIM_ASSIGN_OR_RETURN(
      memory_, RunMemory::Create(*executable_, ArenaMemory::kPooled, streams_));
  TIM_ASSIGN_OR_RETURN(prepared_, executable_->PrepareSteps());
  StepFailures failures;
  TIM_RETURN_IF_ERROR(
      WarmUp(*executable_, *memory_, streams_, prepared_, &failures));
  return PrepareControls(*executable_, prepared_, Kernels::kNew, nullptr);
}

Status ObservedRun::Impl::FinishAll() {
  Status status;
  for (const std::unique_ptr<Stream>& stream : streams_) {
    if (stream == nullptr) continue;
    const Status finished = Finish(*stream);
    if (status.ok()) status = finished;
  }
  return status;
}

Status ObservedRun::Impl::Enqueue(const PreparedGroup& ready, Stream& stream) {
  const auto operands = memory_->operands(ready.group);
  return EnqueuePrepared(ready, stream, operands);
}

Result<StepTime> ObservedRun::Impl::Do(const PreparedGroup& ready) {
  Stream& stream = stream_of(ready);
  if (tracing_ != nullptr) tracing_->BeginGroup();
  const Clock::time_point begin = Clock::now();
  TIM_RETURN_IF_ERROR(Enqueue(ready, stream));
  if (tracing_ != nullptr) tracing_->EndGroup(ready.group);
  TIM_ASSIGN_OR_RETURN(const std::unique_ptr<Event> event, stream.Record());
  TIM_RETURN_IF_ERROR(Wait(ready, *event));
  const std::chrono::nanoseconds waited = Clock::now() - begin;
  const std::optional<int64_t> worked = event->DeviceTime();
  if (worked) return StepTime{*worked, StepTime::Clock::kDevice};
  return StepTime{waited.count(), StepTime::Clock::kHost};
}

// Steps of the host have ended before.
Status ObservedRun::Impl::Wait(const PreparedGroup& ready, Event& event) {
  const size_t step = ready.group.first;
  if (tracing_ == nullptr || plan().steps[step].device == 0) {
    return event.Wait();
  }
  tracing_->BeginWait();
  TIM_RETURN_IF_ERROR(event.Wait());
  tracing_->EndWait(step);
  return OkStatus();
}

RunTrace* ObservedRun::Impl::Trace() {
  if (!TraceEnabled()) return nullptr;
  if (trace_ == nullptr) {
    trace_ = std::make_unique<RunTrace>(*executable_, streams_);
  }
  return trace_.get();
}

Status ObservedRun::Impl::RunSteps(RunObserver& observer) {
  for (const PreparedGroup& ready : prepared_) {
    Step step(*this, ready);
    TIM_RETURN_IF_ERROR(Look([&] { return observer.BeforeStep(step); }));
    const Result<StepTime> time = Do(ready);
    if (!time.ok()) {
      return time.status().WithContext(
          StrCat("step '", step.step().label, "'"));
    }
    step.set_time(*time);
    TIM_RETURN_IF_ERROR(Look([&] { return observer.AfterStep(step); }));
  }
  return OkStatus();
}

Status ObservedRun::Impl::Bind(std::span<const PortMemory> inputs,
                               std::span<const PortMemory> outputs,
                               StateSet* states) {
  TIM_RETURN_IF_ERROR(memory_->BindPorts(inputs, outputs));
  if (states != nullptr) memory_->BindStates(*states);
  TIM_RETURN_IF_ERROR(memory_->SynchronizeInputs(streams_));
  return FinishAll();
}

Status ObservedRun::Impl::Run(std::span<const PortMemory> inputs,
                              std::span<const PortMemory> outputs,
                              StateSet* states, RunObserver& observer) {
  TIM_RETURN_IF_ERROR(lost_);
  TIM_RETURN_IF_ERROR(CheckPorts(plan(), inputs, outputs));
  TIM_RETURN_IF_ERROR(CheckStates(*executable_, states));
  const Clock::time_point begin = Clock::now();
  looked_ = {};
  tracing_ = Trace();
  if (tracing_ != nullptr) tracing_->BeginRun();
  const Status status = RunBound(inputs, outputs, states, observer);
  const std::chrono::nanoseconds took = Clock::now() - begin - looked_;
  if (status.code() == StatusCode::kDeviceLost) lost_ = status;
  if (status.ok() && states != nullptr) states->Advance();
  observer.AfterRun(status, took.count());
  return status;
}

Status ObservedRun::Impl::RunBound(std::span<const PortMemory> inputs,
                                   std::span<const PortMemory> outputs,
                                   StateSet* states, RunObserver& observer) {
  Status status = Bind(inputs, outputs, states);
  if (status.ok()) status = RunSteps(observer);
  if (status.ok()) status = memory_->SynchronizeOutputs(streams_);
  // Also after a failure: work in flight uses the caller's memory.
  const Status finished = FinishAll();
  if (status.ok() || finished.code() == StatusCode::kDeviceLost) {
    status = finished;
  }
  for (const PortMemory& input : inputs) memory_->Release(input.host);
  for (const PortMemory& output : outputs) memory_->Release(output.host);
  return status;
}

ObservedRun::ObservedRun(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ObservedRun::~ObservedRun() = default;

Result<std::unique_ptr<ObservedRun>> ObservedRun::Create(
    std::shared_ptr<const Executable> executable) {
  auto impl = std::make_unique<Impl>(std::move(executable));
  TIM_RETURN_IF_ERROR(impl->Prepare().WithContext("an observed run"));
  return std::unique_ptr<ObservedRun>(new ObservedRun(std::move(impl)));
}

Status ObservedRun::Run(std::span<const PortMemory> inputs,
                        std::span<const PortMemory> outputs, StateSet* states,
                        RunObserver& observer) {
  return impl_->Run(inputs, outputs, states, observer);
}

}  // namespace tim::runtime
