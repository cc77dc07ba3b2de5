// Orders the runs of a gpu engine's stream by events of OpenCL.
#include "graph_api/gpu_stream.h"

#include <algorithm>

#include "device/run_order.h"

namespace tim::graph {

using device::ClientRun;
using device::Event;
using runtime::PortMemory;
using runtime::RunEvent;

/// Things that a run needs until it has ended.
struct GpuStream::InFlight {
  std::vector<GpuPort> ports;
  std::vector<PortMemory> inputs;
  std::vector<PortMemory> outputs;
  std::vector<PortMemory> arenas;
  std::unique_ptr<ClientRun> order;
  std::unique_ptr<device::UserEvent> end;  ///< Where a thread does the run.
};

namespace {

// What a run that a thread does begins with, in the place of a run that it
// awaits: on that thread, the client's events and memory.
class Beginning final : public RunEvent {
 public:
  explicit Beginning(std::function<Status()> begin)
      : begin_(std::move(begin)) {}
  Status Wait() override { return begin_(); }
  bool Ready() override { return false; }
  void Then(Call call) override { call(begin_()); }

 private:
  const std::function<Status()> begin_;
};

// Whether a thread must do the runs.
bool HasHostWork(const runtime::Executable& executable) {
  const auto& steps = executable.plan().steps;
  const auto order = executable.order();
  return std::any_of(steps.begin(), steps.end(),
                     [](const ir::Step& step) { return step.device == 0; }) ||
         std::any_of(order.begin(), order.end(),
                     [](const auto& step) { return !step.host_waits.empty(); });
}

}  // namespace

GpuStream::~GpuStream() {
  for (const auto& run : runs_) static_cast<void>(run->Wait());
}

void GpuStream::DropEnded() {
  std::erase_if(runs_, [&](const std::shared_ptr<RunEvent>& run) {
    if (!run->Ready()) return false;
    const Status status = run->Wait();
    if (failure_.ok()) failure_ = status;
    return true;
  });
}

Status GpuStream::OrderAfter(std::span<const std::unique_ptr<Event>> waits,
                             InFlight* run) const {
  if (queue_ != nullptr) {
    TIM_ASSIGN_OR_RETURN(const auto mark, queue_->Mark());
    TIM_RETURN_IF_ERROR(run->order->Await(*mark));
  } else if (last_ != nullptr) {
    TIM_RETURN_IF_ERROR(run->order->Await(*last_));
  }
  for (const std::unique_ptr<Event>& wait : waits) {
    TIM_RETURN_IF_ERROR(run->order->Await(*wait));
  }
  return OkStatus();
}

Result<Event*> GpuStream::Execute(const Graph& graph,
                                  std::span<const GpuPort> inputs,
                                  std::span<const GpuPort> outputs,
                                  std::span<const std::unique_ptr<Event>> waits,
                                  std::span<const GpuPort> arenas) {
  DropEnded();
  if (graph == nullptr) {
    TIM_RETURN_IF_ERROR(DoNothing(waits));
    return last_.get();
  }
  const auto run = std::make_shared<InFlight>();
  TIM_ASSIGN_OR_RETURN(run->order, ClientRun::Create(*device_));
  TIM_RETURN_IF_ERROR(OrderAfter(waits, run.get()));
  for (const GpuPort& port : inputs) {
    run->ports.push_back(port);
    run->inputs.push_back(port.host);
    if (port.memory == nullptr) continue;
    TIM_ASSIGN_OR_RETURN(run->inputs.back(), run->order->Input(*port.memory));
  }
  for (const GpuPort& port : outputs) {
    run->ports.push_back(port);
    run->outputs.push_back(port.host);
    if (port.memory == nullptr) continue;
    TIM_ASSIGN_OR_RETURN(run->outputs.back(),
                         run->order->Output(*port.memory, port.use));
  }
  for (const GpuPort& port : arenas) {
    run->ports.push_back(port);
    run->arenas.push_back(port.host);
    if (port.memory == nullptr) continue;
    TIM_ASSIGN_OR_RETURN(run->arenas.back(),
                         run->order->Output(*port.memory, port.use));
  }
  // Copies of host memory are made on the thread, when what is awaited is done.
  TIM_RETURN_IF_ERROR(
      HasHostWork(*graph->executable()) ||
              runtime::NeedsCopies(graph->plan(), run->inputs, run->outputs)
          ? StartOnThread(graph, run)
          : Start(graph, run));
  if (queue_ != nullptr) TIM_RETURN_IF_ERROR(queue_->Await(*last_));
  return last_.get();
}

// The run's last command is the event.
Status GpuStream::Start(const Graph& graph,
                        const std::shared_ptr<InFlight>& run) {
  const device::RunOrder::Scope scope(&run->order->order());
  TIM_ASSIGN_OR_RETURN(
      runs_.emplace_back(),
      graph->Enqueue(
          run->inputs, run->outputs, {},
          [graph, run](Status status) { return status; }, run->arenas));
  last_ = run->order->End();
  return last_ != nullptr ? OkStatus() : DoNothing({});
}

Status GpuStream::StartOnThread(const Graph& graph,
                                const std::shared_ptr<InFlight>& run) {
  TIM_ASSIGN_OR_RETURN(run->end, device::UserEvent::Create(*device_));
  std::unique_ptr<Event> end = device::SameEvent(run->end->event());
  const auto begin =
      std::make_shared<Beginning>([run] { return run->order->Begin(); });
  TIM_ASSIGN_OR_RETURN(runs_.emplace_back(),
                       graph->Enqueue(
                           run->inputs, run->outputs, {begin},
                           [graph, run](Status status) {
                             if (status.ok()) status = run->order->Finish();
                             run->end->Reach(status);
                             return status;
                           },
                           run->arenas));
  last_ = std::move(end);
  return OkStatus();
}

Status GpuStream::DoNothing(std::span<const std::unique_ptr<Event>> waits) {
  std::unique_ptr<device::ClientQueue> own;
  device::ClientQueue* queue = queue_.get();
  if (queue == nullptr) {
    TIM_ASSIGN_OR_RETURN(own, device::ClientQueue::Create(*device_));
    queue = own.get();
    if (last_ != nullptr) TIM_RETURN_IF_ERROR(queue->Await(*last_));
  }
  for (const std::unique_ptr<Event>& wait : waits) {
    TIM_RETURN_IF_ERROR(queue->Await(*wait));
  }
  TIM_ASSIGN_OR_RETURN(last_, queue->Mark());
  return OkStatus();
}

bool GpuStream::Settle() {
  for (const auto& run : std::exchange(runs_, {})) {
    const Status status = run->Wait();
    if (failure_.ok()) failure_ = status;
  }
  // What has only waited for events may still do so.
  if (last_ != nullptr && failure_.ok()) failure_ = last_->Wait();
  return failure_.ok();
}

Status GpuStream::Wait() {
  Settle();
  last_ = nullptr;
  if (queue_ != nullptr) {
    const Status status = queue_->Finish();
    if (failure_.ok()) failure_ = status;
  }
  return std::exchange(failure_, OkStatus());
}

Result<device::ClientQueue*> GpuStream::Queue() {
  if (queue_ == nullptr) {
    TIM_ASSIGN_OR_RETURN(auto queue, device::ClientQueue::Create(*device_));
    if (last_ != nullptr) TIM_RETURN_IF_ERROR(queue->Await(*last_));
    queue_ = std::move(queue);
  }
  return queue_.get();
}

}  // namespace tim::graph
