#include <utility>

#include "base/guarded.h"
#include "binary/blob_header.h"
#include "tim/vx/operation.h"
#include "tim/vx/ops/nbg.h"
#include "vx/core/failure.h"
#include "vx/graph/graph_impl.h"
#include "vx/platform/native_executor.h"
#include "vx/platform/run_lock.h"
#include "vx/platform/run_queue.h"
#include "vx/tensor/tensor_impl.h"

namespace tim::vx::platform {

using Handles = std::vector<std::shared_ptr<ITensorHandle>>;

class NativeExecutable::Impl {
 public:
  static std::shared_ptr<NativeExecutable> Make(
      const std::shared_ptr<IExecutor>& executor, LocalBinary binary);

  /// One of these whose tensor can be bound to `operation` of `graph`.
  Status Check(const std::shared_ptr<ITensorHandle>& handle,
               TensorAttribute attribute, const Graph* graph) const;
  /// All are set.
  Status CheckComplete(size_t inputs_set, size_t outputs_set) const;
  /// See QueuedRun::try_start.
  static EventPtr TryStart(const NativeExecutable& executable,
                           const EventPtr& after);

  Status problem;  ///< Not ok: the executable could not be made.
  std::shared_ptr<Operation> operation;
  size_t inputs = 0;
  size_t outputs = 0;
  /// Held while the graph is changed or runs, and by copies of its tensors.
  const std::shared_ptr<RunLock> running = std::make_shared<RunLock>();
};

Status NativeExecutable::Impl::Check(
    const std::shared_ptr<ITensorHandle>& handle, TensorAttribute attribute,
    const Graph* graph) const {
  const char* const what = attribute == INPUT ? "SetInput()" : "SetOutput()";
  if (!problem.ok()) return problem.WithContext(what);
  const auto tensor = handle != nullptr ? handle->GetTensor() : nullptr;
  if (tensor == nullptr) return InvalidArgument(what, ": the handle is null");
  const auto* made = dynamic_cast<const TensorImpl*>(tensor.get());
  if (made == nullptr || made->core()->graph != graph) {
    return InvalidArgument(what,
                           ": the tensor is not of this executable; make it "
                           "by AllocateTensor()");
  }
  if (made->attribute() != attribute) {
    return InvalidArgument(what, ": tensor ", made->Name(),
                           " was allocated with another attribute");
  }
  return OkStatus();
}

Status NativeExecutable::Impl::CheckComplete(size_t inputs_set,
                                             size_t outputs_set) const {
  if (!problem.ok()) return problem.WithContext("an executable");
  if (inputs_set == inputs && outputs_set == outputs) return OkStatus();
  return FailedPrecondition("an executable has ", inputs_set, " of ", inputs,
                            " inputs and ", outputs_set, " of ", outputs,
                            " outputs set; use SetInput() and SetOutput()");
}

EventPtr NativeExecutable::Impl::TryStart(const NativeExecutable& executable,
                                          const EventPtr& after) {
  const Impl& impl = *executable.impl_;
  RunLock& running = *impl.running;
  const auto lock = running.TryTakeBesideRun();
  if (!lock.owns_lock()) return nullptr;
  const Status complete = impl.CheckComplete(executable.input_handles_.size(),
                                             executable.output_handles_.size());
  if (!complete.ok()) return nullptr;
  auto* const graph = dynamic_cast<GraphImpl*>(executable.nb_graph_.get());
  if (graph == nullptr) return nullptr;
  std::vector<EventPtr> before;
  for (const EventPtr& event : {after, running.run()}) {
    if (event != nullptr) before.push_back(event);
  }
  EventPtr run = graph->TryStart(std::move(before));
  if (run != nullptr) running.SetRun(run);
  return run;
}

QueuedRun QueuedRunOf(const std::shared_ptr<NativeExecutable>& executable) {
  return {.run =
              [executable] {
                return StatusOf([&] { return executable->Trigger(); });
              },
          .try_start =
              [executable](const EventPtr& after) {
                return NativeExecutable::Impl::TryStart(*executable, after);
              }};
}

namespace {

// The operator reads as many bytes as the header says.
Status CheckLength(const std::vector<char>& blob) {
  const auto* first = reinterpret_cast<const std::byte*>(blob.data());
  TIM_ASSIGN_OR_RETURN(
      const tim::binary::BlobHeader header,
      tim::binary::ReadBlobHeader(first, blob.size(),
                                  tim::binary::Checksum::kChecked));
  if (header.total_bytes <= blob.size()) return OkStatus();
  return InvalidArgument("the binary graph is cut short: it has ",
                         header.total_bytes, " bytes, these are ", blob.size());
}

// An operation that runs `blob`, in a graph of its own.
Result<std::shared_ptr<Graph>> MakeGraph(
    const NativeExecutor& executor, const std::vector<char>& blob,
    size_t inputs, size_t outputs, std::shared_ptr<Operation>* operation) {
  TIM_RETURN_IF_ERROR(CheckLength(blob));
  std::shared_ptr<Graph> graph =
      std::make_shared<GraphImpl>(executor.impl().context);
  *operation = graph->CreateOperation<ops::NBG>(blob.data(), inputs, outputs);
  return graph;
}

}  // namespace

NativeExecutable::NativeExecutable(const std::shared_ptr<IExecutor>& executor,
                                   const std::vector<char>& nb_buf,
                                   size_t inputs, size_t outputs)
    : impl_(std::make_unique<Impl>()) {
  executor_ = executor;
  impl_->inputs = inputs;
  impl_->outputs = outputs;
  impl_->problem = GuardedCall([&]() -> Status {
    TIM_ASSIGN_OR_RETURN(const NativeExecutor* native, AsNative(executor));
    context_ = native->Contex();
    TIM_ASSIGN_OR_RETURN(nb_graph_, MakeGraph(*native, nb_buf, inputs, outputs,
                                              &impl_->operation));
    return OkStatus();
  });
  if (!impl_->problem.ok()) Fail(impl_->problem);
}

NativeExecutable::NativeExecutable(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}

NativeExecutable::~NativeExecutable() = default;

std::shared_ptr<NativeExecutable> NativeExecutable::Impl::Make(
    const std::shared_ptr<IExecutor>& executor, LocalBinary binary) {
  std::shared_ptr<NativeExecutable> made(
      new NativeExecutable(std::make_unique<Impl>()));
  Impl& impl = *made->impl_;
  made->executor_ = executor;
  impl.inputs = binary.blob.inputs.size();
  impl.outputs = binary.blob.outputs.size();
  impl.problem = GuardedCall([&]() -> Status {
    TIM_ASSIGN_OR_RETURN(const NativeExecutor* native, AsNative(executor));
    made->context_ = native->Contex();
    auto graph = std::make_shared<GraphImpl>(native->impl().context);
    impl.operation = LocalNbg::Add(graph, std::move(binary.blob));
    graph->SetReady({impl.operation.get(), std::move(binary.ready)});
    made->nb_graph_ = std::move(graph);
    return OkStatus();
  });
  if (!impl.problem.ok()) Fail(impl.problem);
  return made;
}

std::shared_ptr<NativeExecutable> ExecutableOf(
    const std::shared_ptr<IExecutor>& executor, LocalBinary binary) {
  return NativeExecutable::Impl::Make(executor, std::move(binary));
}

std::shared_ptr<ITensorHandle> NativeExecutable::AllocateTensor(
    const TensorSpec& tensor_spec, void* data, uint32_t size) {
  if (!impl_->problem.ok()) {
    Fail(impl_->problem.WithContext("AllocateTensor()"));
    return nullptr;
  }
  if (tensor_spec.attr_ != INPUT && tensor_spec.attr_ != OUTPUT) {
    Fail(
        InvalidArgument("AllocateTensor() makes INPUT and OUTPUT tensors, the "
                        "attribute is ",
                        static_cast<int>(tensor_spec.attr_)));
    return nullptr;
  }
  const auto lock = impl_->running->Take();
  auto tensor = nb_graph_->CreateTensor(tensor_spec);
  if (tensor->GetId() == kNoTensorId) return nullptr;
  if (data != nullptr && !tensor->CopyDataToTensor(data, size)) return nullptr;
  return std::make_shared<NativeTensorHandle>(std::move(tensor),
                                              impl_->running);
}

void NativeExecutable::SetInput(const std::shared_ptr<ITensorHandle>& th) {
  const auto lock = impl_->running->TakeBesideRun();
  Status status = impl_->Check(th, INPUT, nb_graph_.get());
  if (status.ok() && input_handles_.size() == impl_->inputs) {
    status = InvalidArgument("SetInput(): the executable has ", impl_->inputs,
                             " inputs, which are set");
  }
  if (!status.ok()) {
    Fail(status);
    return;
  }
  impl_->operation->BindInput(th->GetTensor());
  input_handles_.push_back(th);
}

void NativeExecutable::SetOutput(const std::shared_ptr<ITensorHandle>& th) {
  const auto lock = impl_->running->TakeBesideRun();
  Status status = impl_->Check(th, OUTPUT, nb_graph_.get());
  if (status.ok() && output_handles_.size() == impl_->outputs) {
    status = InvalidArgument("SetOutput(): the executable has ", impl_->outputs,
                             " outputs, which are set");
  }
  if (!status.ok()) {
    Fail(status);
    return;
  }
  impl_->operation->BindOutput(th->GetTensor());
  output_handles_.push_back(th);
}

void NativeExecutable::SetInputs(const Handles& ths) {
  for (const auto& th : ths) SetInput(th);
}

void NativeExecutable::SetOutputs(const Handles& ths) {
  for (const auto& th : ths) SetOutput(th);
}

Handles NativeExecutable::Getinputs() {
  const auto lock = impl_->running->TakeBesideRun();
  return input_handles_;
}

Handles NativeExecutable::GetOutputs() {
  const auto lock = impl_->running->TakeBesideRun();
  return output_handles_;
}

bool NativeExecutable::Verify() {
  const auto lock = impl_->running->TakeBesideRun();
  const Status status =
      impl_->CheckComplete(input_handles_.size(), output_handles_.size());
  if (!status.ok()) return Fail(status);
  return nb_graph_->Compile();
}

bool NativeExecutable::Trigger(bool async) {
  if (async) return RunBehindQueue(Executor(), weak_from_this().lock());
  const auto lock = impl_->running->Take();
  const Status status =
      impl_->CheckComplete(input_handles_.size(), output_handles_.size());
  if (!status.ok()) return Fail(status);
  return nb_graph_->Run();
}

bool NativeExecutable::Submit(const std::shared_ptr<IExecutable>& ref,
                              bool after) {
  return SubmitTo(Executor(), weak_from_this().lock(), ref, after);
}

}  // namespace tim::vx::platform
