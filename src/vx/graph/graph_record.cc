// Gathers what the record of a graph holds, and writes its file.
#include "vx/graph/graph_record.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/guarded.h"
#include "base/log_capture.h"
#include "base/log_once.h"
#include "base/write_file.h"
#include "vx/core/environment.h"

namespace tim::vx {
namespace {

using Content = std::span<const std::byte>;
using Impls = std::vector<std::shared_ptr<TensorImpl>>;

// "a/b.bin" for the first graph of a process, "a/b-2.bin" for its second.
std::string NextPath(const std::string& file) {
  static constinit std::atomic<int> count{0};
  const int number = ++count;
  std::string path = PathOfProcess(file);
  if (number == 1) return path;
  const size_t name = path.rfind('/') + 1;  // 0 where there is no folder
  const size_t dot = path.rfind('.');
  const bool has_suffix = dot != std::string::npos && dot > name;
  return path.insert(has_suffix ? dot : path.size(), StrCat("-", number));
}

// Bytes by tensor of `ports`; empty where the run has none of it.
std::vector<Content> ByPort(const GraphRecord::Tensors& ports,
                            const Impls& tensors,
                            std::span<const runtime::PortMemory> memory) {
  std::vector<Content> contents(ports.size());
  for (size_t i = 0; i < ports.size(); ++i) {
    const size_t place =
        std::find(tensors.begin(), tensors.end(), ports[i]) - tensors.begin();
    if (place >= memory.size() || memory[place].host == nullptr) continue;
    contents[i] = {static_cast<const std::byte*>(memory[place].host),
                   static_cast<size_t>(tensors[place]->handle()->bytes)};
  }
  return contents;
}

bool HasStates(const BinarySource& source) {
  return std::any_of(
      source.tensors.begin(), source.tensors.end(),
      [](const auto& entry) { return entry.first->state() != nullptr; });
}

}  // namespace

bool IsRecorded(const GraphCore& core) {
  return !core.context->options.record.file.empty();
}

void WarnNotRecorded(const std::string& graph, const Status& reason) {
  TIM_LOG_ONCE(kWarning, "TIMCL_RECORD: graph ", graph,
               " is not recorded: ", reason.message());
}

GraphRecord::GraphRecord(const GraphCore& core, const Tensors& io)
    : graph_(core.name), path_(core.record_path) {
  for (const auto& tensor : io) {
    (tensor->GetSpec().attr_ == INPUT ? inputs_ : outputs_).push_back(tensor);
  }
}

std::shared_ptr<GraphRecord> GraphRecord::Begin(GraphCore& core,
                                                const BinarySource& source,
                                                const Tensors& io,
                                                const Devices& devices) {
  const ContextOptions& options = core.context->options;
  if (core.record_path.empty()) {
    core.record_path = NextPath(options.record.file);
  }
  std::shared_ptr<GraphRecord> record(new GraphRecord(core, io));
  record->record_.facts =
      EnvironmentOf(devices, options.strict, options.lenient);
  const bool inputs = options.record.inputs;
  record->has_runs_ = inputs;
  record->record_.messages = LogCapture::CurrentLines();
  record->Keep(
      record->Encode(source, inputs ? States::kAsTheyAre : States::kZeros));
  record->Write();
  return record->status_.ok() ? record : nullptr;
}

void GraphRecord::EndCompile(const Status& status) {
  const std::lock_guard lock(mutex_);
  of_compile_ = LogCapture::CurrentLines();
  if (!status.ok()) {
    of_compile_.push_back(StrCat("Compile() failed: ", status.message()));
  }
  if (of_compile_ == record_.messages) return;
  record_.messages = of_compile_;
  Write();
}

// Kernels of users are asked again what they are.
Status GraphRecord::Encode(const BinarySource& source, States states) {
  return GuardedCall([&]() -> Status {
    TIM_ASSIGN_OR_RETURN(GraphBinary made,
                         BinaryOf(source, inputs_, outputs_, states));
    binary_ = std::make_unique<GraphBinary>(std::move(made));
    return OkStatus();
  });
}

uint64_t GraphRecord::BeginRun(const BinarySource& source, const Impls& tensors,
                               std::span<const runtime::PortMemory> memory) {
  const std::lock_guard lock(mutex_);
  const uint64_t run = ++record_.run;
  if (!status_.ok()) return run;
  record_.end = binary::RunEnd::kUnknown;
  record_.message.clear();
  record_.messages = of_compile_;
  record_.outputs.clear();
  record_.inputs.clear();
  read_.clear();
  Keep(GuardedCall([&]() -> Status {
    for (const Content content : ByPort(inputs_, tensors, memory)) {
      record_.inputs.push_back(
          read_.emplace_back(content.begin(), content.end()));
    }
    return HasStates(source) ? Encode(source, States::kAsTheyAre) : OkStatus();
  }));
  Write();
  return run;
}

void GraphRecord::EndRun(uint64_t run, const Status& status,
                         const Impls& tensors,
                         std::span<const runtime::PortMemory> memory) {
  const std::lock_guard lock(mutex_);
  if (run != record_.run || !status_.ok()) return;
  record_.end = status.ok() ? binary::RunEnd::kDone : binary::RunEnd::kFailed;
  record_.message = status.message();
  for (std::string& line : LogCapture::CurrentLines()) {
    record_.messages.push_back(std::move(line));
  }
  if (status.ok()) record_.outputs = ByPort(outputs_, tensors, memory);
  Write();
  record_.outputs.clear();  // the memory is the caller's
}

void GraphRecord::Write() {
  if (!status_.ok()) return;
  Keep(GuardedCall([&]() -> Status {
    binary_->content.record = binary::EncodeRecord(record_);
    const binary::BlobWriter writer(binary_->content);
    std::vector<std::byte> bytes(static_cast<size_t>(writer.bytes()));
    writer.WriteTo(bytes.data());
    return ReplaceFile(path_, bytes);
  }));
}

void GraphRecord::Keep(const Status& status) {
  if (status.ok() || !status_.ok()) return;
  status_ = status;
  WarnNotRecorded(graph_, status);
}

}  // namespace tim::vx
