// Builds a graph of tim::vx, tensor by tensor and operation by operation, of
// what a graph of values has recorded.
#include "bridges/to_vx.h"

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/passes/passes.h"
#include "ir/live_copy.h"
#include "ir/op_schema.h"
#include "ops/registered.h"
#include "tim/vx/named_op.h"
#include "tim/vx/ops/reshape.h"
#include "values/value_state.h"
#include "vx/graph/graph_impl.h"
#include "vx/operation/op_impl.h"
#include "vx/tensor/type_convert.h"

namespace tim::bridges {
namespace {

using values::internal::GraphState;
using TensorPtr = std::shared_ptr<vx::Tensor>;
using GraphPtr = std::shared_ptr<vx::GraphImpl>;
/// Contents of values of outside, by the inputs that they are bound to.
using Contents = std::map<ir::ValueId, std::shared_ptr<const ir::ConstantData>>;

Status CheckSayable(const GraphState& graph) {
  TIM_RETURN_IF_ERROR(graph.status());
  if (!graph.states().empty()) {
    return Unimplemented(
        "it reads or assigns variable '", graph.states()[0].variable->name(),
        "', which other graphs may share; make an input and an output of it");
  }
  if (graph.ordered() || !graph.own().empty()) {
    return Unimplemented(
        "it has a holder, whose function is the process's; put an operator in "
        "its place by Replace(), or divide the graph there");
  }
  return OkStatus();
}

Status CheckKnown(const ir::Value& value) {
  if (vx::ToVx(value.desc.type) == vx::DataType::UNKNOWN) {
    return Unimplemented("value ", value.name, " (", value.desc.ToString(),
                         ") has a type that tim::vx does not have");
  }
  for (const int64_t extent : value.desc.shape.dims()) {
    if (extent <= std::numeric_limits<uint32_t>::max()) continue;
    return Unimplemented("value ", value.name, " (", value.desc.ToString(),
                         ") has an extent of more than 32 bits, as many as "
                         "shapes of tim::vx have");
  }
  if (value.desc.shape.IsStatic()) return OkStatus();
  return Unimplemented("value ", value.name, " (", value.desc.ToString(),
                       ") has extents that are not known; Specialize() closes "
                       "those of inputs, and no graph of tim::vx has extents "
                       "that depend on data");
}

// Composites of the graph, and those that appear in their places.
void ExpandAll(ir::Graph* graph) {
  while (true) {
    std::vector<ir::NodeId> ids = graph->NodeIds();
    std::erase_if(ids, [&](ir::NodeId id) {
      return graph->node(id).composite == nullptr;
    });
    if (ids.empty()) return;
    compiler::ExpandComposites(ids, graph);
  }
}

// Calls of graphs taken apart, in the graphs of If and While, too.
ir::Graph TakenApart(ir::Graph graph) {
  ExpandAll(&graph);
  for (const ir::NodeId id : graph.NodeIds()) {
    ir::AttributeMap& attributes = graph.node(id).attributes;
    const ir::AttributeMap before = attributes;
    for (const auto& [name, value] : before.entries()) {
      const auto* inner = std::get_if<std::shared_ptr<const ir::Graph>>(&value);
      if (inner == nullptr || *inner == nullptr) continue;
      attributes.Set(
          name, std::shared_ptr<const ir::Graph>(
                    std::make_shared<const ir::Graph>(TakenApart(**inner))));
    }
  }
  return graph;
}

class Builder {
 public:
  Builder(const ir::Graph& from, GraphPtr to, vx::Context& context,
          const Contents& contents)
      : from_(from),
        to_(std::move(to)),
        context_(context),
        contents_(contents) {}

  Status Run();

 private:
  Status AddPorts();
  Status AddOperation(const ir::Node& node);
  Status AddGraphs(const ir::Node& node, vx::OpImpl* operation);
  Result<TensorPtr> TensorOf(ir::ValueId id);
  Result<TensorPtr> Make(const ir::Value& value, vx::TensorAttribute attribute);

  /// An output that is another tensor's copy.
  struct Copy {
    ir::ValueId from = ir::kNone;
    TensorPtr to;
  };

  const ir::Graph& from_;
  const GraphPtr to_;
  vx::Context& context_;
  const Contents& contents_;
  std::map<ir::ValueId, TensorPtr> made_;
  std::vector<Copy> copies_;
};

Result<GraphPtr> NewGraph(vx::Context& context) {
  auto graph = std::dynamic_pointer_cast<vx::GraphImpl>(context.CreateGraph());
  if (graph != nullptr) return graph;
  return InvalidArgument("the context gave no graph of this library");
}

Result<TensorPtr> Builder::Make(const ir::Value& value,
                                vx::TensorAttribute attribute) {
  TIM_RETURN_IF_ERROR(CheckKnown(value));
  const auto& dims = value.desc.shape.dims();
  vx::TensorSpec spec(vx::ToVx(value.desc.type),
                      vx::ShapeType(dims.begin(), dims.end()), attribute,
                      vx::ToVx(value.desc.quantization));
  spec.SetName(value.name);
  const auto content = contents_.find(value.id);
  TensorPtr tensor;
  if (attribute == vx::CONSTANT) {
    tensor = to_->CreateConstant(
        spec, content != contents_.end() ? content->second : value.constant);
  } else {
    tensor = to_->CreateTensor(spec, nullptr);
  }
  auto& own = static_cast<vx::TensorImpl&>(*tensor);
  TIM_RETURN_IF_ERROR(own.problem().WithContext(StrCat("value ", value.name)));
  if (value.is_scalar) tensor->SetScalar(1);
  if (attribute == vx::TRANSIENT && value.shape_declared) own.DeclareShape();
  return tensor;
}

Result<TensorPtr> Builder::TensorOf(ir::ValueId id) {
  if (id == ir::kNone) return to_->CreateTensorPlaceHolder();
  const auto known = made_.find(id);
  if (known != made_.end()) return known->second;
  const ir::Value& value = from_.value(id);
  const bool constant = value.constant != nullptr || contents_.contains(id);
  TIM_ASSIGN_OR_RETURN(TensorPtr tensor,
                       Make(value, constant ? vx::CONSTANT : vx::TRANSIENT));
  made_.emplace(id, tensor);
  return tensor;
}

// Tensors in the order in which clients see them.
Status Builder::AddPorts() {
  for (const ir::ValueId id : from_.inputs()) {
    if (contents_.contains(id)) continue;
    TIM_ASSIGN_OR_RETURN(made_[id], Make(from_.value(id), vx::INPUT));
  }
  for (const ir::ValueId id : from_.outputs()) {
    const ir::Value& value = from_.value(id);
    TIM_ASSIGN_OR_RETURN(TensorPtr tensor, Make(value, vx::OUTPUT));
    if (value.producer == ir::kNone || made_.contains(id)) {
      copies_.push_back({id, std::move(tensor)});
    } else {
      made_.emplace(id, std::move(tensor));
    }
  }
  return OkStatus();
}

Status Builder::AddGraphs(const ir::Node& node, vx::OpImpl* operation) {
  for (const auto& [name, value] : node.attributes.entries()) {
    const auto* inner = std::get_if<std::shared_ptr<const ir::Graph>>(&value);
    if (inner == nullptr) {
      operation->attributes.Set(name, value);
      continue;
    }
    TIM_ASSIGN_OR_RETURN(GraphPtr graph, NewGraph(context_));
    const Status status = Builder(**inner, graph, context_, {}).Run();
    if (!status.ok()) return status.WithContext(StrCat("graph '", name, "'"));
    operation->graphs.emplace_back(name, std::move(graph));
  }
  return OkStatus();
}

Status Builder::AddOperation(const ir::Node& node) {
  const ir::OpSchema& schema = *node.schema;
  const std::string name = schema.domain == "tim" ? schema.name : schema.Key();
  auto made = to_->CreateOperation<vx::ops::Named>(name);
  vx::OpImpl& operation = *made->impl();
  if (operation.Schema() != node.schema) {
    return Unimplemented("the context does not know its operator ",
                         schema.Key());
  }
  TIM_RETURN_IF_ERROR(AddGraphs(node, &operation));
  made->SetInstanceName(node.name);
  for (const ir::ValueId id : node.inputs) {
    TIM_ASSIGN_OR_RETURN(const TensorPtr tensor, TensorOf(id));
    made->BindInput(tensor);
  }
  for (const ir::ValueId id : node.outputs) {
    TIM_ASSIGN_OR_RETURN(const TensorPtr tensor, TensorOf(id));
    made->BindOutput(tensor);
  }
  return operation.problem;
}

Status Builder::Run() {
  TIM_RETURN_IF_ERROR(AddPorts());
  TIM_ASSIGN_OR_RETURN(const std::vector<ir::NodeId> order,
                       from_.TopologicalOrder());
  for (const ir::NodeId id : order) {
    const ir::Node& node = from_.node(id);
    const Status status = AddOperation(node);
    if (!status.ok()) return status.WithContext(node.name);
  }
  for (const Copy& copy : copies_) {
    TIM_ASSIGN_OR_RETURN(const TensorPtr source, TensorOf(copy.from));
    auto made = to_->CreateOperation<vx::ops::Reshape>(source->GetShape());
    made->BindInput(source).BindOutput(copy.to);
    TIM_RETURN_IF_ERROR(made->impl()->problem);
  }
  return OkStatus();
}

Result<Contents> ContentsOf(const GraphState& graph, const ir::Graph& known) {
  Contents contents;
  size_t input = graph.input_count();
  for (const values::Value& value : graph.ClosedOver()) {
    const auto state = values::internal::StateOf(value);
    TIM_RETURN_IF_ERROR(state->Force());
    TIM_ASSIGN_OR_RETURN(contents[known.inputs()[input++]], state->Content());
  }
  return contents;
}

}  // namespace

Result<std::shared_ptr<vx::Graph>> ToVx(const GraphState& graph,
                                        vx::Context* context) {
  if (context == nullptr) return InvalidArgument("the context is null");
  TIM_RETURN_IF_ERROR(CheckSayable(graph));
  ir::Graph known = graph.Known();
  for (const ir::ValueId id : known.inputs()) {
    TIM_RETURN_IF_ERROR(CheckKnown(known.value(id)));
  }
  known = TakenApart(ir::LiveCopy(known, known.outputs()));
  TIM_RETURN_IF_ERROR(compiler::InferGraph(&known, ops::KnownOperators()));
  TIM_ASSIGN_OR_RETURN(const Contents contents, ContentsOf(graph, known));
  TIM_ASSIGN_OR_RETURN(GraphPtr made, NewGraph(*context));
  TIM_RETURN_IF_ERROR(Builder(known, made, *context, contents).Run());
  return std::shared_ptr<vx::Graph>(std::move(made));
}

}  // namespace tim::bridges
