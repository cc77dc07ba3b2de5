#include "compiler/transposes/default_layouts.h"

#include <utility>

#include "compiler/passes/passes.h"
#include "ir/node_descs.h"
#include "ir/permuted_node.h"

namespace tim::compiler {
namespace {

using ir::Graph;
using ir::NodeId;
using ir::Permutation;
using ir::ValueId;

Result<NodeId> AddTranspose(Module& module, ValueId from,
                            const Permutation& perm, ValueId to) {
  Graph& graph = module.graph;
  TIM_ASSIGN_OR_RETURN(
      ir::Node node, MakeNode(module.registry, "tim.Transpose", "perm",
                              std::vector<int64_t>(perm.begin(), perm.end())));
  node.name = StrCat("Transpose of ", graph.value(from).name);
  node.inputs = {from};
  node.outputs = {to};
  return graph.AddNode(std::move(node));
}

// A value with the elements of `desc` in another order, of unknown shape.
ValueId AddPermuted(Graph& graph, const ir::TensorDesc& desc,
                    const Permutation& perm, std::string name) {
  ir::TensorDesc permuted = ir::Permuted(desc, perm);
  permuted.shape = ir::Shape();
  return graph.AddValue(std::move(permuted), ir::Role::kTransient,
                        std::move(name));
}

// Readers of an input see it as operators want it.
Status TakeArrival(Module& module, ValueId input, const Permutation& arrived) {
  Graph& graph = module.graph;
  const Permutation back = ir::Inverse(arrived);
  const ir::TensorDesc desc = graph.value(input).desc;
  const ValueId read =
      AddPermuted(graph, desc, back, graph.value(input).name + ".read");
  graph.ReplaceUses(input, read);
  return AddTranspose(module, input, back, read).status();
}

// Layout rules ask for ranks of inputs; outputs are in the user's order.
Result<ir::PermutedNode> AskForDefaultLayout(const Graph& graph,
                                             const ir::Node& node) {
  const ir::NodeDescs descs(graph, node);
  const ir::NodeView view = descs.view();
  std::vector<ir::TensorDesc> open;
  std::vector<const ir::TensorDesc*> outputs;
  for (const ir::TensorDesc* desc : view.outputs) {
    open.push_back(desc != nullptr ? *desc : ir::TensorDesc());
    open.back().shape = ir::Shape();
  }
  for (size_t i = 0; i < open.size(); ++i) outputs.push_back(&open[i]);
  auto answer = ir::NodeInDefaultLayout({node, view.inputs, outputs});
  if (answer.ok()) return answer;
  const Status& status = answer.status();
  return Status(status.code(),
                StrCat(Describe(graph, node), ": ", status.message(),
                       DescribeOperands(graph, node)));
}

// The value with extents of 1 behind its own, up to `rank`.
Result<ValueId> Extended(Module& module, ValueId from, int rank) {
  Graph& graph = module.graph;
  const ir::Value& value = graph.value(from);
  if (value.desc.shape.rank() >= rank) return from;
  ir::TensorDesc desc = value.desc;
  std::vector<int64_t> dims = desc.shape.dims();
  dims.resize(rank, 1);
  desc.shape = ir::Shape(dims);
  if (value.role == ir::Role::kConstant) {
    return graph.AddConstant(std::move(desc), value.constant,
                             value.name + ".extended");
  }
  const ValueId to = graph.AddValue(std::move(desc), ir::Role::kTransient,
                                    value.name + ".extended");
  TIM_ASSIGN_OR_RETURN(ir::Node node,
                       MakeNode(module.registry, "tim.Reshape", "shape", dims));
  node.name = StrCat("Reshape of ", value.name);
  node.inputs = {from};
  node.outputs = {to};
  TIM_RETURN_IF_ERROR(
      InferNode(module, graph, graph.AddNode(std::move(node)), Doubts::kNone));
  return to;
}

Status PermuteInputs(Module& module, NodeId id,
                     const std::vector<Permutation>& inputs) {
  Graph& graph = module.graph;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueId input = graph.node(id).inputs[i];
    if (input == ir::kNone || ir::IsIdentity(inputs[i])) continue;
    TIM_ASSIGN_OR_RETURN(
        const ValueId from,
        Extended(module, input, static_cast<int>(inputs[i].size())));
    const ValueId to = AddPermuted(graph, graph.value(from).desc, inputs[i],
                                   graph.value(from).name + ".permuted");
    TIM_ASSIGN_OR_RETURN(const NodeId transpose,
                         AddTranspose(module, from, inputs[i], to));
    TIM_RETURN_IF_ERROR(InferNode(module, graph, transpose, Doubts::kNone));
    graph.SetInput(id, static_cast<int>(i), to);
  }
  return OkStatus();
}

// The output that the node makes in the order `perm` of the user's `declared`.
ValueId PermuteOutput(Graph& graph, NodeId id, int index,
                      const Permutation& perm) {
  const ir::Value& declared = graph.value(graph.node(id).outputs[index]);
  const bool counts =
      declared.shape_declared && declared.desc.shape.rank() == std::ssize(perm);
  const ir::TensorDesc wanted = ir::Permuted(declared.desc, perm);
  const ValueId made =
      AddPermuted(graph, declared.desc, perm, declared.name + ".permuted");
  if (counts) graph.value(made).desc.shape = wanted.shape;
  graph.value(made).shape_declared = counts;
  graph.SetOutput(id, index, made);
  return made;
}

// A declared shape that is not the operator's is one of the user's order, which
// the Transpose's result gets: not one of what is transposed.
ValueId DropReshape(Graph& graph, NodeId id, ValueId made) {
  const NodeId producer = graph.value(made).producer;
  if (producer == id) return made;
  const ValueId result = graph.node(producer).inputs[0];
  graph.RemoveNode(producer);
  graph.RemoveValue(made);
  return result;
}

// Its inputs are inferred.
Status InferInDefaultLayout(Module& module, NodeId id) {
  Graph& graph = module.graph;
  TIM_ASSIGN_OR_RETURN(ir::PermutedNode answer,
                       AskForDefaultLayout(graph, graph.node(id)));
  graph.node(id).attributes = std::move(answer.attributes);
  TIM_RETURN_IF_ERROR(PermuteInputs(module, id, answer.inputs));
  struct Moved {
    ValueId made;
    ValueId wanted;
    Permutation back;
  };
  std::vector<Moved> moved;
  for (size_t i = 0; i < answer.outputs.size(); ++i) {
    const ValueId wanted = graph.node(id).outputs[i];
    if (wanted == ir::kNone || ir::IsIdentity(answer.outputs[i])) continue;
    const ValueId made =
        PermuteOutput(graph, id, static_cast<int>(i), answer.outputs[i]);
    moved.push_back({made, wanted, ir::Inverse(answer.outputs[i])});
  }
  const bool was_composite = graph.node(id).composite != nullptr;
  // A Reshape before a Transpose is dropped: the one behind it says the doubt.
  TIM_RETURN_IF_ERROR(InferNode(
      module, graph, id, moved.empty() ? Doubts::kShapes : Doubts::kNone));
  if (!was_composite) graph.node(id).composite = nullptr;
  for (const Moved& output : moved) {
    const ValueId made = DropReshape(graph, id, output.made);
    TIM_ASSIGN_OR_RETURN(
        const NodeId transpose,
        AddTranspose(module, made, output.back, output.wanted));
    TIM_RETURN_IF_ERROR(InferNode(module, graph, transpose, Doubts::kShapes));
  }
  return OkStatus();
}

}  // namespace

Result<ir::Node> MakeNode(const ir::OpRegistry& registry, const std::string& op,
                          const std::string& attribute,
                          std::vector<int64_t> value) {
  ir::Node node;
  node.schema = registry.Find(op);
  if (node.schema == nullptr) return TIM_INTERNAL(op, " is not registered");
  node.attributes.Set(attribute, std::move(value));
  TIM_RETURN_IF_ERROR(ir::CompleteAttributes(*node.schema, &node.attributes));
  return node;
}

Status InferInDefaultLayouts(Module& module,
                             const std::map<ValueId, Permutation>& arrival) {
  for (const auto& [input, arrived] : arrival) {
    if (ir::IsIdentity(arrived)) continue;
    TIM_RETURN_IF_ERROR(TakeArrival(module, input, arrived));
  }
  TIM_ASSIGN_OR_RETURN(const std::vector<NodeId> order,
                       module.graph.TopologicalOrder());
  for (const NodeId id : order) {
    TIM_RETURN_IF_ERROR(InferInDefaultLayout(module, id));
  }
  return OkStatus();
}

}  // namespace tim::compiler
