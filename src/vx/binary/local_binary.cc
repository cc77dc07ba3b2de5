// What an executor compiles of a graph of this process.
#include "vx/binary/local_binary.h"

#include <utility>

#include "binary/frozen_graph.h"
#include "tim/vx/ops/nbg.h"
#include "vx/operation/op_impl.h"

namespace tim::vx {
namespace {

// Inferred before: freezing changes neither types nor shapes.
Result<runtime::ReadyGraph> ReadyOf(const binary::FrozenGraph& frozen,
                                    const BinarySource& source,
                                    const LocalTarget& target) {
  if (target.executable != nullptr) {
    return runtime::ReadyGraph{.executable = target.executable,
                               .context = nullptr};
  }
  auto registry = std::make_shared<ir::OpRegistry>(&target.operators);
  compiler::InferredGraph graph;
  TIM_ASSIGN_OR_RETURN(graph.graph, ThawGraph(frozen, "", registry.get()));
  graph.declared_reshapes = source.declared_reshapes;
  runtime::Surroundings surroundings = target.surroundings;
  surroundings.operators = std::move(registry);
  return runtime::CompileAndPrepare(graph, target.options, surroundings);
}

}  // namespace

Result<LocalBinary> LocalBinaryOf(
    const BinarySource& source,
    const std::vector<std::shared_ptr<Tensor>>& inputs,
    const std::vector<std::shared_ptr<Tensor>>& outputs,
    const LocalTarget* target) {
  TIM_ASSIGN_OR_RETURN(WrittenGraph written,
                       WrittenOf(source, inputs, outputs));
  TIM_ASSIGN_OR_RETURN(
      binary::FrozenGraph frozen,
      binary::FreezeGraph(std::move(written.graph), *source.registry));
  LocalBinary made;
  if (target != nullptr) {
    TIM_ASSIGN_OR_RETURN(made.ready, ReadyOf(frozen, source, *target));
  }
  TIM_RETURN_IF_ERROR(Complete(source, written, &frozen.graph));
  made.blob.library = TIM_CL_VERSION;
  made.blob.graph_name = frozen.graph.name();
  made.blob.inputs = std::move(written.inputs);
  made.blob.outputs = std::move(written.outputs);
  made.blob.frozen =
      std::make_shared<const binary::FrozenGraph>(std::move(frozen));
  return made;
}

std::shared_ptr<Operation> LocalNbg::Add(const std::shared_ptr<Graph>& graph,
                                         binary::Blob blob) {
  std::shared_ptr<ops::NBG> nbg(new ops::NBG());
  nbg->impl()->kind = NbgContent(std::move(blob));
  return ops::NBG::AddClone(graph, std::move(nbg));
}

}  // namespace tim::vx
