#include "tim/transform/layout_inference.h"

#include <functional>
#include <map>
#include <vector>

#include "compiler/transposes/infer_layouts.h"
#include "device/host/host_device.h"
#include "vx/core/failure.h"
#include "vx/graph/effective_operations.h"
#include "vx/graph/graph_impl.h"
#include "vx/operation/op_impl.h"
#include "vx/transform/arrival.h"
#include "vx/transform/rebuilt_graph.h"

namespace tim::transform {
namespace {

using GraphPtr = std::shared_ptr<vx::GraphImpl>;

struct Inferred {
  GraphPtr graph;
  TensorMap tensors;
};

Result<vx::GraphImpl*> OwnGraph(vx::Graph* graph) {
  if (graph == nullptr) return InvalidArgument("the graph is null");
  auto* own = dynamic_cast<vx::GraphImpl*>(graph);
  if (own != nullptr) return own;
  return InvalidArgument("the graph is not one of this library");
}

Result<GraphPtr> NewGraph(vx::Context* context,
                          const vx::CompileOption& options) {
  if (context == nullptr) return InvalidArgument("the context is null");
  auto graph =
      std::dynamic_pointer_cast<vx::GraphImpl>(context->CreateGraph(options));
  if (graph != nullptr) return graph;
  return InvalidArgument("the context gave no graph of this library");
}

using Predicate = std::function<bool(const vx::Operation&)>;

// Without the composed operations, so that their parts are operations of the
// graph itself; overridden ones stay whole.
vx::Operations OpenedUp(const vx::Operations& operations,
                        const Predicate& is_overridden) {
  std::map<uint32_t, const vx::Operation*> composed;
  for (const auto& operation : operations) {
    const vx::OpImpl& impl = *operation->impl();
    if (impl.As<vx::Composition>() != nullptr)
      composed[impl.uid] = operation.get();
  }
  const auto stays_whole = [&](const vx::Operation* at) {
    while (!is_overridden(*at)) {
      const auto owner = composed.find(at->impl()->owner);
      if (owner == composed.end()) return false;
      at = owner->second;
    }
    return true;
  };
  vx::Operations opened;
  for (const auto& operation : operations) {
    if (operation->impl()->As<vx::Composition>() == nullptr ||
        stays_whole(operation.get())) {
      opened.push_back(operation);
    }
  }
  return opened;
}

class LayoutPass {
 public:
  LayoutPass(vx::GraphImpl& source, GraphPtr to)
      : source_(source), core_(*source.core()), to_(std::move(to)) {}

  Status Run(const PermuteVectors& vectors, TensorMap* tensors) {
    vx::Operations& operations = source_.OpVector();
    TIM_RETURN_IF_ERROR(vx::WireOperations(core_, operations));
    const Predicate is_overridden = [this](const vx::Operation& operation) {
      return vx::IsOverridden(operation, core_.overrides) ||
             vx::IsOverridden(operation, *to_->core()->context->overrides);
    };
    const vx::Operations opened = OpenedUp(operations, is_overridden);
    TIM_ASSIGN_OR_RETURN(vx::LoweredGraph lowered,
                         vx::Lower(core_, opened, InputsAndOutputs()));
    std::vector<bool> stays;  // by node
    for (const vx::Operation* operation : lowered.operations) {
      stays.push_back(is_overridden(*operation));
    }
    compiler::LayoutOptions options{.lenient = core_.context->options.lenient};
    TIM_ASSIGN_OR_RETURN(options.arrival, ArrivalOf(vectors, core_, lowered));
    options.stays = [&](const ir::Node& node) {
      const auto id = static_cast<size_t>(node.id);
      return id < stays.size() && stays[id];
    };
    TIM_RETURN_IF_ERROR(
        compiler::InferLayouts(&lowered.graph, *lowered.registry, options));
    to_->core()->overrides.Inherit(core_.overrides);
    return Rebuild(lowered, to_, tensors);
  }

 private:
  std::vector<std::shared_ptr<vx::Tensor>> InputsAndOutputs() const {
    auto all = source_.InputsTensor();
    const auto outputs = source_.OutputsTensor();
    all.insert(all.end(), outputs.begin(), outputs.end());
    return all;
  }

  vx::GraphImpl& source_;
  vx::GraphCore& core_;
  const GraphPtr to_;
};

Status Infer(vx::Graph* graph, vx::Context* context,
             const PermuteVectors& vectors, Inferred* inferred) {
  TIM_ASSIGN_OR_RETURN(vx::GraphImpl* const source, OwnGraph(graph));
  TIM_ASSIGN_OR_RETURN(inferred->graph,
                       NewGraph(context, source->core()->options));
  inferred->tensors = CopyInputsAndOutputs(*source, *inferred->graph);
  return LayoutPass(*source, inferred->graph).Run(vectors, &inferred->tensors);
}

// A graph that fails for `reason`, with the tensors that clients ask for.
Inferred Refused(vx::Graph* graph, vx::Context* context, const Status& reason) {
  const auto* source = dynamic_cast<const vx::GraphImpl*>(graph);
  Inferred out;
  if (context != nullptr) {
    out.graph =
        std::dynamic_pointer_cast<vx::GraphImpl>(context->CreateGraph());
  }
  if (out.graph == nullptr) {
    auto host = std::make_shared<vx::ContextState>();
    host->devices = {device::CreateHostDevice()};
    out.graph = std::make_shared<vx::GraphImpl>(
        source != nullptr ? source->core()->context : host);
  }
  out.graph->Refuse(reason);
  if (source != nullptr) {
    out.tensors = CopyInputsAndOutputs(*source, *out.graph);
  }
  return out;
}

}  // namespace

std::pair<std::shared_ptr<vx::Graph>,
          std::map<std::shared_ptr<vx::Tensor>, std::shared_ptr<vx::Tensor>>>
LayoutInference(
    const std::shared_ptr<vx::Graph>& src_graph,
    std::shared_ptr<vx::Context>& ctx,
    std::map<std::shared_ptr<vx::Tensor>, std::shared_ptr<IPermuteVector>>
        tensor_pv_map) {
  Inferred inferred;
  Status status = GuardedCall([&] {
    return Infer(src_graph.get(), ctx.get(), tensor_pv_map, &inferred);
  });
  if (!status.ok()) {
    status = status.WithContext("LayoutInference()");
    inferred = Refused(src_graph.get(), ctx.get(), status);
    vx::Fail(status);
  }
  return {std::move(inferred.graph), std::move(inferred.tensors)};
}

}  // namespace tim::transform
