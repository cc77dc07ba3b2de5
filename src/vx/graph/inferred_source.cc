// Lowers a graph, infers it and asks its custom operations.
#include "vx/graph/inferred_source.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "runtime/compile_options.h"
#include "vx/dump/graph_dump.h"

namespace tim::vx {
namespace {

// An INPUT that nothing reads is legal, and most likely a mistake.
void WarnOfUnused(const LoweredGraph& lowered,
                  const std::vector<std::shared_ptr<Tensor>>& io) {
  for (const auto& tensor : io) {
    if (std::any_of(lowered.tensors.begin(), lowered.tensors.end(),
                    [&](const auto& used) { return used.tensor == tensor; })) {
      continue;
    }
    TIM_LOG(kWarning, "graph ", lowered.graph.name(),
            ": no operation uses the ",
            tensor->GetSpec().attr_ == INPUT ? "INPUT" : "OUTPUT", " tensor ",
            NameOf(*tensor));
  }
}

// What has no effect would be dropped, and Run() would do nothing.
Status CheckReaches(const LoweredGraph& lowered, size_t operations) {
  const ir::Graph& graph = lowered.graph;
  if (!graph.outputs().empty() || !graph.state_updates().empty()) {
    return OkStatus();
  }
  return InvalidArgument("graph ", graph.name(), ": none of its ", operations,
                         " operations reaches an OUTPUT or a VARIABLE tensor, "
                         "so that none would run; create the tensors that you "
                         "read as OUTPUT");
}

}  // namespace

namespace {

// A folder that cannot be written is no reason not to compile.
void BeginDump(GraphCore& core) {
  const DumpOptions& options = core.context->options.dump;
  if (options.directory.empty() || core.dump != nullptr) return;
  auto dump = GraphDump::Create(options, core.name);
  if (dump.ok()) {
    core.dump = *std::move(dump);
  } else {
    TIM_LOG(kError, dump.status().WithContext("TIMCL_DUMP").message());
  }
}

}  // namespace

compiler::CompileOptions OptionsFor(GraphCore& core, const Devices& devices) {
  compiler::CompileOptions out = runtime::CompileOptionsFor(devices);
  out.strict = core.context->options.strict;
  out.lenient = core.context->options.lenient;
  out.known_doubts = &core.known_doubts;
  core.context->options.division.AddTo(&out);
  BeginDump(core);
  if (core.dump != nullptr) GraphDump::Observe(core.dump, &out);
  return out;
}

Result<std::unique_ptr<InferredSource>> InferSource(
    const GraphCore& core, GraphRevision revision, const Operations& operations,
    const Operations& effective, const std::vector<std::shared_ptr<Tensor>>& io,
    const compiler::CompileOptions& options) {
  auto made = std::make_unique<InferredSource>();
  made->effective = effective;
  TIM_ASSIGN_OR_RETURN(made->lowered, Lower(core, effective, io));
  const LoweredGraph& lowered = made->lowered;
  WarnOfUnused(lowered, io);
  TIM_ASSIGN_OR_RETURN(
      made->inferred,
      compiler::Infer(lowered.graph, *lowered.registry, options));
  TIM_RETURN_IF_ERROR(
      SetUp(lowered.custom_operators).WithContext(StrCat("graph ", core.name)));
  TIM_RETURN_IF_ERROR(CheckReaches(lowered, effective.size()));
  made->revision = std::move(revision);
  made->revision.Take(operations, lowered);
  return made;
}

Status StoreInferred(const LoweredGraph& lowered, const ir::Graph& inferred) {
  for (const LoweredTensor& entry : lowered.tensors) {
    TIM_RETURN_IF_ERROR(
        entry.tensor->StoreInferred(inferred.value(entry.value).desc));
  }
  return OkStatus();
}

}  // namespace tim::vx
