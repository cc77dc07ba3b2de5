#include "vx/platform/native_executor.h"

#include <algorithm>
#include <mutex>
#include <typeinfo>
#include <utility>

#include "base/fork/fork.h"
#include "base/guarded.h"
#include "base/log.h"
#include "base/options.h"
#include "vx/core/failure.h"
#include "vx/graph/graph_impl.h"
#include "vx/platform/native_device.h"

namespace tim::vx::platform {
namespace {

// Of a device with `all` cores.
Result<device::CoreRange> CoresOf(const IDevice& device, int32_t index,
                                  int32_t count) {
  const auto all = static_cast<int32_t>(device.CoreCount());
  if (index >= all) {
    return InvalidArgument("an executor on core ", index, " of device ",
                           device.Id(), ", which has ", all,
                           ", numbered from 0");
  }
  const int32_t first = std::max(index, 0);
  const int32_t rest = all - first;
  if (count > rest) {
    TIM_LOG(kWarning, "an executor on ", count, " cores from core ", first,
            " of device ", device.Id(), " gets ", rest, ": it has ", all);
  }
  return device::CoreRange{first, count > 0 ? std::min(count, rest) : rest};
}

// The one given, on other devices; or a new one.
Result<std::shared_ptr<const ContextState>> StateOn(
    Devices devices, std::shared_ptr<Context>* context) {
  if (*context == nullptr) {
    *context = CreateContext(std::move(devices),
                             ContextOptions{.strict = GetOptions().strict,
                                            .lenient = GetOptions().lenient,
                                            .dump = GetOptions().dump,
                                            .record = GetOptions().record});
    return static_cast<const ContextImpl&>(**context).state();
  }
  const auto* given = dynamic_cast<const ContextImpl*>(context->get());
  if (given == nullptr) {
    return InvalidArgument("an executor needs a context of Context::Create()");
  }
  ContextState state = *given->state();
  state.devices = std::move(devices);
  state.options.devices_of = nullptr;
  return std::make_shared<const ContextState>(std::move(state));
}

// The graph where it can be compiled without being written: one of this library
// whose operators every context has.
GraphImpl* AsLocal(Graph* graph, const ContextState& on) {
  auto* own = dynamic_cast<GraphImpl*>(graph);
  const bool local = own != nullptr && on.options.operators == nullptr &&
                     own->core()->context->options.operators == nullptr;
  return local ? own : nullptr;
}

// One without a graph, or null, after a failure.
std::shared_ptr<IExecutable> CompileBytes(
    Graph& graph, const std::shared_ptr<IExecutor>& executor) {
  size_t size = 0;
  if (!graph.CompileToBinary(nullptr, &size)) return nullptr;
  std::vector<char> binary(size);
  if (!graph.CompileToBinary(binary.data(), &size)) return nullptr;
  return std::make_shared<NativeExecutable>(executor, binary,
                                            graph.InputsTensor().size(),
                                            graph.OutputsTensor().size());
}

Status ReasonOf(const std::string& what, const Status& problem) {
  return problem.WithContext(StrCat(what, " of an executor"));
}

// A set runs its members.  Of a class that is a client's only
// Trigger() is known.
void AddRuns(const std::shared_ptr<IExecutable>& executable,
             std::vector<QueuedRun>* runs) {
  const IExecutable& known = *executable;
  if (typeid(known) == typeid(NativeExecutable)) {
    runs->push_back(
        QueuedRunOf(std::static_pointer_cast<NativeExecutable>(executable)));
    return;
  }
  if (typeid(known) == typeid(ExecutableSet)) {
    const auto& members =
        static_cast<const ExecutableSet&>(known).Executables();
    for (const auto& member : members) AddRuns(member, runs);
    if (!members.empty()) return;
  }
  runs->push_back({.run = [executable] {
    return StatusOf([&] { return executable->Trigger(); });
  }});
}

QueuedRun DestroyedRun() {
  const auto fail = [] {
    Status status = FailedPrecondition(
        "an executable was destroyed between Submit() and Trigger(); it and "
        "those behind it did not run");
    Fail(status);
    return status;
  };
  return {.run = fail, .is_end = true};
}

// Beside `ref`; last where that is `executable`.  False where `ref` is not
// among the tasks.
bool Insert(std::vector<std::weak_ptr<IExecutable>>* tasks,
            const std::shared_ptr<IExecutable>& executable,
            const std::shared_ptr<IExecutable>& ref, bool after) {
  const std::lock_guard lock(ForkMutex());
  auto place = tasks->end();
  if (ref != executable) {
    place = std::find_if(tasks->begin(), tasks->end(), [&](const auto& known) {
      return !known.owner_before(ref) && !ref.owner_before(known);
    });
    if (place == tasks->end()) return false;
    if (after) ++place;
  }
  tasks->insert(place, executable);
  return true;
}

}  // namespace

NativeExecutor::NativeExecutor(const std::shared_ptr<IDevice>& device,
                               const std::shared_ptr<Context>& context)
    : NativeExecutor(device, 0, -1, context) {}

NativeExecutor::NativeExecutor(const std::shared_ptr<IDevice>& device,
                               int32_t core_index, int32_t core_count,
                               const std::shared_ptr<Context>& context)
    : impl_(std::make_unique<Impl>()) {
  device_ = device;
  context_ = context;
  impl_->problem = GuardedCall([&]() -> Status {
    const auto* native = dynamic_cast<const NativeDevice*>(device.get());
    if (native == nullptr) {
      return InvalidArgument(
          "an executor needs a device of IDevice::Enumerate()");
    }
    TIM_ASSIGN_OR_RETURN(const device::CoreRange cores,
                         CoresOf(*device, core_index, core_count));
    const NativeDevice::Impl& known = *native->impl_;
    TIM_ASSIGN_OR_RETURN(Devices devices, known.entry.open(cores));
    TIM_ASSIGN_OR_RETURN(impl_->context,
                         StateOn(std::move(devices), &context_));
    core_index_ = static_cast<uint32_t>(cores.first);
    core_count_ = static_cast<uint32_t>(cores.count);
    impl_->queue = known.queues->Add();
    return OkStatus();
  });
  if (!impl_->problem.ok()) Fail(impl_->problem);
}

NativeExecutor::~NativeExecutor() = default;

bool NativeExecutor::Submit(const std::shared_ptr<IExecutable>& executable,
                            const std::shared_ptr<IExecutable>& ref,
                            bool after) {
  if (!impl_->problem.ok()) return Fail(ReasonOf("Submit()", impl_->problem));
  if (executable == nullptr || ref == nullptr) {
    return Fail(InvalidArgument(
        "Submit() needs an executable, and the one that it is submitted "
        "after or before: itself to be the last"));
  }
  if (!executable->Verify()) return false;
  if (Insert(&tasks_, executable, ref, after)) return true;
  return Fail(InvalidArgument(
      "Submit() ", after ? "after" : "before",
      " an executable that was not submitted since the last Trigger()"));
}

bool NativeExecutor::Trigger(bool async) { return Trigger(async, nullptr); }

bool NativeExecutor::Trigger(bool async, IDevice::async_callback callback) {
  if (!impl_->problem.ok()) return Fail(ReasonOf("Trigger()", impl_->problem));
  std::vector<task> tasks;
  {
    const std::lock_guard lock(ForkMutex());
    tasks.swap(tasks_);
  }
  if (tasks.empty()) {
    return Fail(FailedPrecondition(
        "Trigger() of an executor: nothing was submitted since the last"));
  }
  std::vector<QueuedRun> runs;
  for (const task& submitted : tasks) {
    const auto executable = submitted.lock();
    if (executable == nullptr) {
      runs.push_back(DestroyedRun());
    } else {
      AddRuns(executable, &runs);
    }
  }
  // The executor may be destroyed meanwhile.
  const std::shared_ptr<RunQueue> queue = impl_->queue;
  return queue->Launch(std::move(runs), ModeOf(async), std::move(callback));
}

std::shared_ptr<IExecutable> NativeExecutor::Compile(
    const std::shared_ptr<Graph>& graph) {
  if (!impl_->problem.ok()) {
    Fail(ReasonOf("Compile()", impl_->problem));
    return nullptr;
  }
  if (graph == nullptr) {
    Fail(InvalidArgument("Compile() of an executor needs a graph"));
    return nullptr;
  }
  const std::shared_ptr<IExecutor> self = weak_from_this().lock();
  std::shared_ptr<IExecutable> executable;
  if (GraphImpl* const local = AsLocal(graph.get(), *impl_->context)) {
    auto binary = local->CompileFor(*impl_->context);
    if (!binary.ok()) return nullptr;
    executable = ExecutableOf(self, *std::move(binary));
  } else {
    executable = CompileBytes(*graph, self);
  }
  if (executable == nullptr || executable->NBGraph() == nullptr) return nullptr;
  return executable;
}

Result<NativeExecutor*> AsNative(const std::shared_ptr<IExecutor>& executor) {
  auto* native = dynamic_cast<NativeExecutor*>(executor.get());
  if (native != nullptr && native->impl().problem.ok()) return native;
  if (native != nullptr) return native->impl().problem;
  return InvalidArgument(
      executor == nullptr
          ? "the executor was destroyed, or was never one of std::shared_ptr"
          : "an executable needs an executor of IDevice::CreateExecutor()");
}

bool SubmitTo(const std::shared_ptr<IExecutor>& executor,
              const std::shared_ptr<IExecutable>& executable,
              const std::shared_ptr<IExecutable>& ref, bool after) {
  if (executor != nullptr) return executor->Submit(executable, ref, after);
  return Fail(AsNative(executor).status().WithContext("Submit()"));
}

bool RunBehindQueue(const std::shared_ptr<IExecutor>& executor,
                    const std::shared_ptr<IExecutable>& executable) {
  if (executable == nullptr) {
    return Fail(InvalidArgument(
        "only an executable of a std::shared_ptr runs asynchronously"));
  }
  const auto native = AsNative(executor);
  if (!native.ok()) return Fail(native.status());
  std::vector<QueuedRun> runs;
  AddRuns(executable, &runs);
  const std::shared_ptr<RunQueue> queue = (*native)->impl().queue;
  return queue->Launch(std::move(runs), Mode::kReturn, nullptr);
}

void WaitForQueue(const std::shared_ptr<IExecutor>& executor) {
  const auto native = AsNative(executor);
  if (!native.ok()) return;  // nothing is queued
  const Status status = (*native)->impl().queue->Wait();
  if (!status.ok()) Fail(status);
}

}  // namespace tim::vx::platform
