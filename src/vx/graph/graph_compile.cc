// Compile, runs and PrintGraph.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/guarded.h"
#include "base/log.h"
#include "base/log_capture.h"
#include "base/log_once.h"
#include "base/trace.h"
#include "binary/blob.h"
#include "tim/vx/operation.h"
#include "vx/core/failure.h"
#include "vx/core/known_operators.h"
#include "vx/graph/effective_operations.h"
#include "vx/graph/graph_impl.h"
#include "vx/graph/run_event.h"
#include "vx/lowering/lowering.h"
#include "vx/operation/op_impl.h"

namespace tim::vx {
namespace {

std::vector<std::shared_ptr<Tensor>> Join(
    std::vector<std::shared_ptr<Tensor>> first,
    const std::vector<std::shared_ptr<Tensor>>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

void SetFailed(const std::vector<std::shared_ptr<Tensor>>& outputs) {
  for (const auto& output : outputs) {
    static_cast<TensorImpl&>(*output).SetRun(TensorImpl::RunResult::kFailed);
  }
}

}  // namespace

Status GraphImpl::CheckNotEmpty() const {
  if (!op_vector_.empty() || !inputs_.empty()) return OkStatus();
  return InvalidArgument("graph ", core_->name,
                         " is empty: create operations before Compile()");
}

Status GraphImpl::CompileNow() {
  if (compiled_ != nullptr) {
    // Out of date: its memory is better used now.
    TIM_RETURN_IF_ERROR(compiled_->RestoreConstants());
    compiled_ = nullptr;
  }
  TIM_RETURN_IF_ERROR(CheckNotEmpty());
  auto known = std::exchange(inferred_, nullptr);
  if (known != nullptr && !IsCurrent(known->revision)) known = nullptr;
  TIM_ASSIGN_OR_RETURN(
      compiled_,
      CompiledGraph::Create(*core_, op_vector_, Join(inputs_, outputs_),
                            std::move(known), &ready_));
  compiled_->ReleaseConstants();
  compiled_->ProfileIfAsked();
  return OkStatus();
}

Status GraphImpl::InferNow() {
  inferred_ = nullptr;
  TIM_RETURN_IF_ERROR(CheckNotEmpty());
  GraphRevision revision(*core_, inputs_.size() + outputs_.size());
  TIM_ASSIGN_OR_RETURN(const Devices devices,
                       core_->context->DevicesFor(core_->options));
  TIM_ASSIGN_OR_RETURN(const Operations effective,
                       EffectiveOperations(*core_, op_vector_));
  TIM_ASSIGN_OR_RETURN(
      inferred_,
      InferSource(*core_, std::move(revision), op_vector_, effective,
                  Join(inputs_, outputs_), OptionsFor(*core_, devices)));
  return OkStatus();
}

bool GraphImpl::IsCurrent(const GraphRevision& revision) const {
  return revision.IsCurrent(*core_, op_vector_,
                            inputs_.size() + outputs_.size());
}

bool GraphImpl::IsCompiled() const {
  return compiled_ != nullptr && IsCurrent(compiled_->revision());
}

bool GraphImpl::IsItsInputs() const {
  return op_vector_.empty() && outputs_.empty() && !inputs_.empty();
}

void GraphImpl::Refuse(const Status& reason) {
  refused_ = reason;
  core_->error = ErrorText(reason);
}

// Functions of users that Compile() calls must not call it again.
Status GraphImpl::CheckCompilable() const {
  if (compiling_) {
    return FailedPrecondition("Compile() of graph ", core_->name,
                              " is running: one thread at a time compiles a "
                              "graph, and what Compile() calls must not "
                              "compile or run it");
  }
  if (!refused_.ok()) return refused_;
  if (failure_.ok()) return OkStatus();
  return Status(failure_.code(),
                StrCat("graph ", core_->name,
                       ": Compile() failed before, and a new graph is "
                       "needed; the reason was: ",
                       failure_.message()));
}

void GraphImpl::WarnThatNothingIsDone() const {
  TIM_LOG_ONCE(kWarning, "graph ", core_->name,
               " has no operations and no OUTPUT: its results are its INPUT "
               "tensors as they are");
}

Status GraphImpl::CompileBy(const std::function<Status()>& part) {
  const TraceSpan span("compile", "Compile", core_->name);
  std::optional<LogCapture> messages;
  if (IsRecorded(*core_)) messages.emplace();
  compiling_ = true;
  const Status status = GuardedCall(part);
  compiling_ = false;
  core_->dump = nullptr;  // those of runs have it
  if (IsFinal(status.code())) failure_ = status;
  return status;
}

Status GraphImpl::CompileIfChanged() {
  TIM_RETURN_IF_ERROR(CheckCompilable());
  KernelFiles* const files = core_->kernel_files.get();
  const bool reload = files != nullptr && files->Refresh();
  if (reload) inferred_ = nullptr;
  if (IsCompiled() && !reload) return OkStatus();
  if (IsItsInputs()) {
    WarnThatNothingIsDone();
    return OkStatus();
  }
  if (files != nullptr) return CompileWithFiles(*files);
  return CompileBy([this] { return CompileNow(); });
}

Status GraphImpl::CompileWithFiles(KernelFiles& files) {
  std::unique_ptr<CompiledGraph> before;
  if (IsCompiled()) before = std::move(compiled_);
  if (before != nullptr) before->Drain();
  const Status tried = CompileBy([this] { return CompileNow(); });
  if (tried.ok()) {
    files.Accept();
    return tried;
  }
  // For want of memory it is tried again by the next call.
  if (!files.HasNew() || !IsFinal(tried.code())) return tried;
  TIM_LOG(kWarning, "graph ", core_->name,
          ": TIMCL_KERNEL_OVERRIDE: ", files.NewPaths(),
          " does not work; the kernel of before is kept: ", ErrorText(tried));
  failure_ = OkStatus();
  files.Reject();
  if (before != nullptr) {
    compiled_ = std::move(before);
    return OkStatus();
  }
  return CompileBy([this] { return CompileNow(); });
}

Status GraphImpl::InferIfChanged() {
  TIM_RETURN_IF_ERROR(CheckCompilable());
  KernelFiles* const files = core_->kernel_files.get();
  if (files != nullptr && files->Refresh()) inferred_ = nullptr;
  if (inferred_ != nullptr && IsCurrent(inferred_->revision)) {
    return OkStatus();
  }
  return CompileBy([this] { return InferNow(); });
}

bool GraphImpl::Compile() {
  const Status status = CompileIfChanged();
  return status.ok() || FailToCompile(*core_, status);
}

bool GraphImpl::Run() {
  const Status status = GuardedCall([&]() -> Status {
    TIM_RETURN_IF_ERROR(CompileIfChanged());
    return IsItsInputs() ? OkStatus() : compiled_->Run();
  });
  if (status.ok()) return true;
  LoseOutputs();
  return FailToCompile(*core_, status);
}

void GraphImpl::LoseOutputs() { SetFailed(outputs_); }

std::shared_ptr<runtime::RunEvent> GraphImpl::TryStart(
    std::vector<std::shared_ptr<runtime::RunEvent>> after) {
  std::shared_ptr<runtime::RunEvent> run;
  const Status status = GuardedCall([&]() -> Status {
    // Run() looks at kernels of files.
    if (core_->kernel_files != nullptr) return OkStatus();
    if (!CheckCompilable().ok() || !IsCompiled()) return OkStatus();
    const auto end = [core = core_, outputs = outputs_,
                      written =
                          compiled_->buffers().output_tensors()](Status ran) {
      if (!ran.ok()) {
        SetFailed(outputs);
        return LogFailure(*core, ran);
      }
      for (const auto& output : written) {
        output->SetRun(TensorImpl::RunResult::kWritten);
      }
      return ran;
    };
    TIM_ASSIGN_OR_RETURN(run, compiled_->TryEnqueue(std::move(after), end));
    return OkStatus();
  });
  return status.ok() ? run : nullptr;
}

namespace {

// Memory of a run by the tensor that it stands for, as `tensors` of the graph
// has them; `used`, the tensors of the plan, in its order.
template <typename Pointer>
Result<std::vector<runtime::PortMemory>> PortsOf(
    const char* what, const std::vector<Pointer>& memory,
    const std::vector<std::shared_ptr<Tensor>>& tensors,
    const std::vector<std::shared_ptr<TensorImpl>>& used) {
  if (memory.size() != tensors.size()) {
    return InvalidArgument("RunAsync() is given memory for ", memory.size(),
                           " ", what, "s, the graph has ", tensors.size());
  }
  std::vector<runtime::PortMemory> ports;
  for (const auto& tensor : used) {
    const size_t place =
        std::find(tensors.begin(), tensors.end(), tensor) - tensors.begin();
    if (memory[place] == nullptr) {
      return InvalidArgument("RunAsync(): the memory of ", what, " ", place,
                             ", tensor ", tensor->Name(), ", is null");
    }
    ports.emplace_back(memory[place], tensor->handle()->bytes);
  }
  return ports;
}

}  // namespace

Result<RunEvent> GraphImpl::StartRun(const std::vector<const void*>& inputs,
                                     const std::vector<void*>& outputs) {
  TIM_RETURN_IF_ERROR(CompileIfChanged());
  if (IsItsInputs()) {
    return InvalidArgument("graph ", core_->name,
                           " has no operations and no OUTPUT tensor, so that "
                           "RunAsync() has nothing to write");
  }
  const RunBuffers& tensors = compiled_->buffers();
  TIM_ASSIGN_OR_RETURN(
      const auto input_ports,
      PortsOf("input", inputs, inputs_, tensors.input_tensors()));
  TIM_ASSIGN_OR_RETURN(
      const auto output_ports,
      PortsOf("output", outputs, outputs_, tensors.output_tensors()));
  TIM_ASSIGN_OR_RETURN(auto run, compiled_->Enqueue(input_ports, output_ports));
  return RunEvent(std::make_shared<RunEvent::Impl>(std::move(run)));
}

RunEvent GraphImpl::Start(const std::vector<const void*>& inputs,
                          const std::vector<void*>& outputs) {
  RunEvent event;
  const Status status = GuardedCall([&]() -> Status {
    TIM_ASSIGN_OR_RETURN(event, StartRun(inputs, outputs));
    return OkStatus();
  });
  if (!status.ok()) FailToCompile(*core_, status);
  return event;
}

namespace {

Status NothingToWrite() {
  return InvalidArgument(
      "it has no operations and no OUTPUT tensor, and a binary graph needs "
      "one: with an OUTPUT like the INPUT it is a copy");
}

// What its binary graph holds, perhaps with a plan, is used as it is.
bool IsNbg(const Operations& operations) {
  return operations.size() == 1 && operations[0] != nullptr &&
         operations[0]->impl()->As<NbgContent>() != nullptr;
}

}  // namespace

Status GraphImpl::WriteBinary(void* buf, size_t* size) {
  if (size == nullptr) return InvalidArgument("size is null");
  TIM_RETURN_IF_ERROR(CompileIfChanged());
  if (IsItsInputs()) return NothingToWrite();
  TIM_ASSIGN_OR_RETURN(const GraphBinary binary,
                       compiled_->Binary(*core_, inputs_, outputs_));
  const binary::BlobWriter writer(binary.content);
  const size_t room = *size;
  *size = static_cast<size_t>(writer.bytes());
  if (buf == nullptr) return OkStatus();
  if (room < *size) {
    return InvalidArgument("the buffer has ", room, " bytes, the binary graph ",
                           *size, "; a call with a null buffer tells the size");
  }
  writer.WriteTo(static_cast<std::byte*>(buf));
  return OkStatus();
}

Result<LocalBinary> GraphImpl::MakeLocal(const ContextState& on) {
  TIM_RETURN_IF_ERROR(CheckCompilable());
  if (IsItsInputs()) {
    WarnThatNothingIsDone();
    return NothingToWrite();
  }
  if (!IsCompiled()) {
    TIM_RETURN_IF_ERROR(IsNbg(op_vector_) ? CompileIfChanged()
                                          : InferIfChanged());
  }
  TIM_ASSIGN_OR_RETURN(const Devices devices, on.DevicesFor(CompileOption()));
  for (const auto& device : devices) {
    TIM_RETURN_IF_ERROR(device->CheckUsable());
  }
  const ContextOptions& own = core_->context->options;
  const bool is_compiled = IsCompiled();
  const Operations& effective =
      is_compiled ? compiled_->effective() : inferred_->effective;
  LocalTarget target{.operators = KnownOperators(on),
                     .options = OptionsFor(*core_, devices),
                     .surroundings = CompiledGraph::SurroundingsOf(
                         on.options, effective, devices, nullptr)};
  target.options.strict = on.options.strict;
  if (is_compiled && own.placement == nullptr) {
    target.executable = compiled_->ExecutableFor(on.options, devices);
  }
  const bool pinned = on.options.placement != nullptr;
  const auto make = [&](const BinarySource& source) {
    return LocalBinaryOf(source, inputs_, outputs_, pinned ? nullptr : &target);
  };
  if (is_compiled) {
    TIM_ASSIGN_OR_RETURN(const BinarySource source,
                         compiled_->Source(*core_, Join(inputs_, outputs_)));
    return make(source);
  }
  auto made =
      make(CompiledGraph::SourceOf(inferred_->lowered, inferred_->inferred));
  if (made.ok()) {
    TIM_RETURN_IF_ERROR(
        StoreInferred(inferred_->lowered, inferred_->inferred.graph));
  }
  return made;
}

Result<LocalBinary> GraphImpl::CompileFor(const ContextState& on) {
  auto made = GuardedCall([&] { return MakeLocal(on); });
  core_->dump = nullptr;
  if (made.ok()) return made;
  const Status status = made.status().WithContext(
      StrCat("graph ", core_->name, ": CompileToBinary()"));
  FailToCompile(*core_, status);
  return status;
}

bool GraphImpl::CompileToBinary(void* buf, size_t* size) {
  const Status status = GuardedCall([&] { return WriteBinary(buf, size); });
  return status.ok() ||
         FailToCompile(
             *core_, status.WithContext(
                         StrCat("graph ", core_->name, ": CompileToBinary()")));
}

void GraphImpl::PrintGraph() const {
  const auto dump = [this]() -> Result<std::string> {
    Operations effective;
    if (IsCompiled()) {
      effective = compiled_->effective();
    } else {
      TIM_ASSIGN_OR_RETURN(effective, EffectiveOperations(*core_, op_vector_));
    }
    TIM_ASSIGN_OR_RETURN(const LoweredGraph lowered,
                         Lower(*core_, effective, Join(inputs_, outputs_)));
    return lowered.graph.Dump();
  }();
  const std::string text =
      dump.ok() ? *dump : StrCat(dump.status().message(), "\n");
  std::fputs(text.c_str(), stderr);
}

}  // namespace tim::vx
