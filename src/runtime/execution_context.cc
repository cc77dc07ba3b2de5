// Hands the steps of a run to the streams of their devices.
#include "runtime/execution_context.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>

#include "base/trace.h"
#include "device/device_pools.h"
#include "device/run_order.h"
#include "runtime/control_run.h"
#include "runtime/run_memory.h"
#include "runtime/run_streams.h"
#include "runtime/run_trace.h"
#include "runtime/step_order.h"
#include "runtime/warm_up.h"

namespace tim::runtime {

using device::Event;
using device::Stream;

enum class StreamOrder : uint8_t { kFork, kJoin };

struct ExecutionContext::Impl {
  explicit Impl(std::shared_ptr<const Executable> e)
      : executable(std::move(e)) {}
  /// Memory, streams and steps, of which none has been used.
  static Result<std::unique_ptr<Impl>> Create(
      std::shared_ptr<const Executable> executable, ArenaMemory arenas,
      std::shared_ptr<SharedArenas> shared);
  // Pooled memory is somebody else's at once.
  ~Impl() { static_cast<void>(WaitForAll()); }

  Status Complete(Kernels kernels,
                  std::vector<compiler::RefusedKernel>* refused);
  Status CheckArguments(std::span<const PortMemory> inputs,
                        std::span<const PortMemory> outputs,
                        const StateSet* states, GivenArenas arenas) const;
  Status WaitBefore(const StepOrder& order, Stream& stream);
  Status EnqueueGroup(const PreparedGroup& ready);
  Status EnqueueAll();
  Status OrderStreams(StreamOrder order);
  Status RecordAll();
  Status WaitForAll();
  void TrimPools() const;
  /// Null where nothing is recorded.
  RunTrace* Trace();

  const ir::Plan& plan() const { return executable->plan(); }
  const device::Device& DeviceOf(size_t queue) const {
    return executable->device(static_cast<int>(queue % plan().devices.size()));
  }

  // In this order: what work refers to is destroyed after the streams.
  std::shared_ptr<const Executable> executable;
  std::shared_ptr<SharedArenas> shared;  // null: arenas are those of `memory`
  std::unique_ptr<RunMemory> memory;
  std::vector<PreparedGroup> prepared;
  Streams streams;
  // Of the last run, for the next to use again.
  std::vector<std::unique_ptr<Event>> events;    // per step
  std::vector<std::unique_ptr<Event>> finished;  // per stream
  std::vector<std::unique_ptr<Event>> kept;      // between streams of a device
  std::unique_ptr<RunTrace> trace;  // null before the first that is recorded
  // The run in flight.
  StateSet* states = nullptr;
  RunTrace* tracing = nullptr;
  Status run;
  Status lost;
};

namespace {

// The first failure counts, unless a device was lost.
void KeepWorst(const Status& next, Status* status) {
  if (status->ok() || next.code() == StatusCode::kDeviceLost) *status = next;
}

}  // namespace

ExecutionContext::ExecutionContext(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}
ExecutionContext::~ExecutionContext() = default;

Result<std::unique_ptr<ExecutionContext::Impl>> ExecutionContext::Impl::Create(
    std::shared_ptr<const Executable> executable, ArenaMemory arenas,
    std::shared_ptr<SharedArenas> shared) {
  const TraceSpan span("build", "memory of a run", executable->plan().graph);
  auto impl = std::make_unique<Impl>(std::move(executable));
  impl->shared = std::move(shared);
  TIM_ASSIGN_OR_RETURN(impl->streams,
                       CreateStreams(*impl->executable, Timing::kNone));
  TIM_ASSIGN_OR_RETURN(impl->memory, RunMemory::Create(*impl->executable,
                                                       arenas, impl->streams));
  TIM_ASSIGN_OR_RETURN(impl->prepared, impl->executable->PrepareGroups());
  return impl;
}

Result<std::unique_ptr<ExecutionContext>> ExecutionContext::Create(
    std::shared_ptr<const Executable> executable,
    std::vector<compiler::RefusedKernel>* refused,
    std::shared_ptr<SharedArenas> arenas) {
  const device::RunOrder::Scope no_run(nullptr);
  const auto memory =
      arenas != nullptr ? ArenaMemory::kGiven : ArenaMemory::kOwn;
  TIM_ASSIGN_OR_RETURN(auto impl, Impl::Create(std::move(executable), memory,
                                               std::move(arenas)));
  std::unique_ptr<SharedArenas::Lease> lease;
  if (impl->shared != nullptr) {
    TIM_ASSIGN_OR_RETURN(lease, impl->shared->Take(impl->plan()));
    TIM_RETURN_IF_ERROR(impl->memory->BindArenas(lease->arenas()));
  }
  StepFailures failures;
  const Status warm = WarmUp(*impl->executable, *impl->memory, impl->streams,
                             impl->prepared, &failures);
  if (refused != nullptr) *refused = failures.Refused(impl->plan());
  impl->TrimPools();
  TIM_RETURN_IF_ERROR(warm);
  lease.reset();
  TIM_RETURN_IF_ERROR(impl->Complete(Kernels::kNew, refused));
  return std::unique_ptr<ExecutionContext>(
      new ExecutionContext(std::move(impl)));
}

Result<std::unique_ptr<ExecutionContext>> ExecutionContext::CreateAnother(
    std::shared_ptr<const Executable> executable,
    std::shared_ptr<SharedArenas> arenas) {
  const device::RunOrder::Scope no_run(nullptr);
  const auto memory =
      arenas != nullptr ? ArenaMemory::kGiven : ArenaMemory::kPooled;
  TIM_ASSIGN_OR_RETURN(auto impl, Impl::Create(std::move(executable), memory,
                                               std::move(arenas)));
  TIM_RETURN_IF_ERROR(impl->Complete(Kernels::kUsed, nullptr));
  return std::unique_ptr<ExecutionContext>(
      new ExecutionContext(std::move(impl)));
}

Status ExecutionContext::Impl::Complete(
    Kernels kernels, std::vector<compiler::RefusedKernel>* refused) {
  events.resize(plan().steps.size());
  finished.resize(streams.size());
  return PrepareControls(*executable, prepared, kernels, refused);
}

Status ExecutionContext::Impl::CheckArguments(
    std::span<const PortMemory> inputs, std::span<const PortMemory> outputs,
    const StateSet* states, GivenArenas arenas) const {
  TIM_RETURN_IF_ERROR(CheckPorts(plan(), inputs, outputs));
  TIM_RETURN_IF_ERROR(CheckArenas(plan(), arenas));
  for (size_t i = 0; shared != nullptr && i < plan().arenas.size(); ++i) {
    const bool given = i < arenas.size() && (arenas[i].host != nullptr ||
                                             arenas[i].range.buffer != nullptr);
    if (given || plan().arenas[i].bytes == 0) continue;
    return InvalidArgument("graph '", plan().graph, "': arena ", i,
                           " was given no memory, and the context has none");
  }
  return CheckStates(*executable, states);
}

Status ExecutionContext::Impl::WaitBefore(const StepOrder& step,
                                          Stream& stream) {
  for (const int wait : step.host_waits) {
    if (tracing != nullptr) tracing->BeginWait();
    TIM_RETURN_IF_ERROR(events[wait]->Wait());
    if (tracing != nullptr) tracing->EndWait(static_cast<size_t>(wait));
  }
  for (const int wait : step.stream_waits) {
    TIM_RETURN_IF_ERROR(stream.WaitFor(*events[wait]));
  }
  return OkStatus();
}

Status ExecutionContext::Impl::EnqueueGroup(const PreparedGroup& ready) {
  const StepGroup& group = ready.group;
  const size_t last = group.first + group.count - 1;
  const std::span<const StepOrder> order = executable->order();
  Stream& stream = *streams[QueueOf(plan(), plan().steps[last])];
  TIM_RETURN_IF_ERROR(WaitBefore(order[group.first], stream));
  if (tracing != nullptr) tracing->BeginGroup();
  const auto operands = memory->operands(group);
  TIM_RETURN_IF_ERROR(EnqueuePrepared(ready, stream, operands));
  if (tracing != nullptr) tracing->EndGroup(group);
  if (order[last].record) {
    TIM_ASSIGN_OR_RETURN(events[last], stream.Record(std::move(events[last])));
  }
  return OkStatus();
}

RunTrace* ExecutionContext::Impl::Trace() {
  if (!TraceEnabled()) return nullptr;
  if (trace == nullptr) {
    trace = std::make_unique<RunTrace>(*executable, streams);
  }
  return trace.get();
}

Status ExecutionContext::Impl::EnqueueAll() {
  for (const PreparedGroup& ready : prepared) {
    const Status status = EnqueueGroup(ready);
    if (!status.ok()) {
      const size_t first = ready.group.first;
      return status.WithContext(
          StrCat("step '", plan().steps[first].label, "'"));
    }
  }
  return OkStatus();
}

// Further streams of a device and its first one: those wait for what the first
// has been given, or, with kJoin, it waits for what they have.
Status ExecutionContext::Impl::OrderStreams(StreamOrder order) {
  const size_t devices = plan().devices.size();
  for (size_t i = devices; i < streams.size(); ++i) {
    if (streams[i] == nullptr) continue;
    Stream& first = *streams[i % devices];
    Stream& other = *streams[i];
    const bool fork = order == StreamOrder::kFork;
    TIM_ASSIGN_OR_RETURN(auto event, (fork ? first : other).Record(nullptr));
    TIM_RETURN_IF_ERROR((fork ? other : first).WaitFor(*event));
    kept.push_back(std::move(event));
  }
  return OkStatus();
}

Status ExecutionContext::Impl::RecordAll() {
  Status status;
  for (size_t i = 0; i < streams.size(); ++i) {
    if (streams[i] == nullptr) continue;
    auto event = streams[i]->Record(std::move(finished[i]));
    if (event.ok()) finished[i] = *std::move(event);
    KeepWorst(event.status(), &status);
  }
  return status;
}

Status ExecutionContext::Impl::WaitForAll() {
  Status status;
  for (const std::unique_ptr<Event>& event : finished) {
    if (event != nullptr) KeepWorst(event->Wait(), &status);
  }
  if (!status.ok()) return status;
  // A stream tells a failure by its next event, which may be one that only
  // other streams have waited for.
  for (const auto* const recorded : {&kept, &events}) {
    for (const std::unique_ptr<Event>& event : *recorded) {
      if (event != nullptr) KeepWorst(event->Failure(), &status);
    }
  }
  return status;
}

Status ExecutionContext::Check(std::span<const PortMemory> inputs,
                               std::span<const PortMemory> outputs,
                               const StateSet* states,
                               GivenArenas arenas) const {
  return impl_->CheckArguments(inputs, outputs, states, arenas);
}

Status ExecutionContext::Enqueue(std::span<const PortMemory> inputs,
                                 std::span<const PortMemory> outputs,
                                 StateSet* states, GivenArenas arenas) {
  Impl& impl = *impl_;
  if (!impl.lost.ok()) return impl.lost;
  TIM_RETURN_IF_ERROR(impl.CheckArguments(inputs, outputs, states, arenas));
  TIM_RETURN_IF_ERROR(impl.memory->BindPorts(inputs, outputs));
  TIM_RETURN_IF_ERROR(impl.memory->BindArenas(arenas));
  if (states != nullptr) impl.memory->BindStates(*states);
  impl.tracing = impl.Trace();
  if (impl.tracing != nullptr) impl.tracing->BeginRun();
  impl.states = states;
  impl.kept.clear();
  impl.run = impl.memory->SynchronizeInputs(impl.streams);
  if (impl.run.ok()) impl.run = impl.OrderStreams(StreamOrder::kFork);
  if (impl.run.ok()) impl.run = impl.EnqueueAll();
  if (impl.run.ok()) impl.run = impl.OrderStreams(StreamOrder::kJoin);
  if (impl.run.ok()) impl.run = impl.memory->SynchronizeOutputs(impl.streams);
  // Also after a failure: work in flight uses the caller's memory.
  KeepWorst(impl.RecordAll(), &impl.run);
  if (impl.tracing != nullptr) impl.tracing->EndEnqueue();
  return OkStatus();
}

Status ExecutionContext::Wait() {
  Impl& impl = *impl_;
  RunTrace* const tracing = std::exchange(impl.tracing, nullptr);
  if (tracing != nullptr) tracing->BeginWait();
  KeepWorst(impl.WaitForAll(), &impl.run);
  if (tracing != nullptr) tracing->EndRun();
  const Status status = std::exchange(impl.run, OkStatus());
  if (status.code() == StatusCode::kDeviceLost) impl.lost = status;
  if (status.ok() && impl.states != nullptr) impl.states->Advance();
  impl.states = nullptr;
  return status;
}

void ExecutionContext::Impl::TrimPools() const {
  for (size_t i = 0; i < plan().devices.size(); ++i) {
    if (streams[i] == nullptr) continue;
    executable->device(static_cast<int>(i)).pools().Trim(0);
  }
}

// The host's work is done when its run has been enqueued.
Status ExecutionContext::Follow(const ExecutionContext& other) {
  const auto& first = *other.impl_;
  const auto pairs = [&](const auto& visit) {
    for (size_t i = 1; i < impl_->streams.size(); ++i) {
      if (impl_->streams[i] == nullptr) continue;
      for (size_t j = 1; j < first.finished.size(); ++j) {
        if (first.finished[j] == nullptr) continue;
        TIM_RETURN_IF_ERROR(visit(i, j));
      }
    }
    return OkStatus();
  };
  TIM_RETURN_IF_ERROR(pairs([&](size_t i, size_t j) {
    const auto& device = impl_->DeviceOf(i);
    const auto& before = first.DeviceOf(j);
    if (device.domain() == before.domain()) return OkStatus();
    return Unimplemented(device.info().name, " cannot wait for ",
                         before.info().name);
  }));
  return pairs([&](size_t i, size_t j) {
    return impl_->streams[i]->WaitFor(*first.finished[j]);
  });
}

bool ExecutionContext::Ready() const {
  const bool ready = std::all_of(impl_->finished.begin(), impl_->finished.end(),
                                 [](const std::unique_ptr<Event>& event) {
                                   return event == nullptr || event->Ready();
                                 });
  if (ready && impl_->tracing != nullptr) impl_->tracing->SeeEnd();
  return ready;
}

bool ExecutionContext::blocks() const {
  const auto& steps = impl_->plan().steps;
  const auto order = impl_->executable->order();
  return std::any_of(
             steps.begin(), steps.end(),
             [](const ir::Step& step) {
               return step.device == 0 ||
                      std::holds_alternative<ir::ControlCall>(step.action);
             }) ||
         std::any_of(order.begin(), order.end(), [](const StepOrder& step) {
           return !step.host_waits.empty();
         });
}

bool ExecutionContext::IsOfOneQueue(int device) const {
  const ir::Plan& plan = impl_->plan();
  const auto is_there = [device](const auto& of) {
    return of.device == device;
  };
  return plan.states.empty() && std::ranges::all_of(plan.inputs, is_there) &&
         std::ranges::all_of(plan.outputs, is_there) &&
         std::ranges::all_of(plan.steps, [&](const ir::Step& step) {
           return is_there(step) && step.stream == 0;
         });
}

Status ExecutionContext::EnqueueIn(Stream& stream,
                                   std::span<const PortMemory> inputs,
                                   std::span<const PortMemory> outputs) {
  TIM_RETURN_IF_ERROR(impl_->CheckArguments(inputs, outputs, nullptr, {}));
  TIM_RETURN_IF_ERROR(impl_->memory->BindPorts(inputs, outputs));
  for (const PreparedGroup& ready : impl_->prepared) {
    TIM_RETURN_IF_ERROR(
        EnqueuePrepared(ready, stream, impl_->memory->operands(ready.group))
            .WithContext(StrCat(
                "step '", impl_->plan().steps[ready.group.first].label, "'")));
  }
  return OkStatus();
}

Status ExecutionContext::Run(std::span<const PortMemory> inputs,
                             std::span<const PortMemory> outputs,
                             StateSet* states, GivenArenas arenas) {
  TIM_RETURN_IF_ERROR(Enqueue(inputs, outputs, states, arenas));
  return Wait();
}

Status ExecutionContext::Run(std::span<const void* const> inputs,
                             std::span<void* const> outputs, StateSet* states) {
  const std::vector<PortMemory> in(inputs.begin(), inputs.end());
  const std::vector<PortMemory> out(outputs.begin(), outputs.end());
  return Run(std::span(in), std::span(out), states);
}

const Executable& ExecutionContext::executable() const {
  return *impl_->executable;
}

const std::shared_ptr<SharedArenas>& ExecutionContext::shared_arenas() const {
  return impl_->shared;
}

void ExecutionContext::Release(const void* memory) {
  impl_->memory->Release(memory);
}

}  // namespace tim::runtime
