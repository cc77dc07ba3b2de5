// Reshapes that keep declared shapes go behind the element-wise operators that
// read them, so that these follow whatever makes their elements, and can be
// fused with it or folded into it.
#include <algorithm>

#include "compiler/passes/passes.h"
#include "ir/node_descs.h"

namespace tim::compiler {
namespace {

using ir::Graph;
using ir::Node;
using ir::Shape;
using ir::ValueId;

bool IsReshape(const Graph& graph, ir::NodeId id) {
  if (id == ir::kNone) return false;
  const Node& node = graph.node(id);
  return !node.composite && node.schema->Key() == "tim.Reshape@1" &&
         HasStaticOperands(graph, node) &&
         node.schema->is_view(ir::NodeDescs(graph, node).view());
}

bool HasChannels(const Graph& graph, ValueId id) {
  return graph.value(id).desc.quantization.per_channel();
}

// The one node that reads the value, where nothing else needs it.
ir::NodeId OnlyReader(const Graph& graph, ValueId id) {
  const ir::Value& value = graph.value(id);
  if (value.uses.size() != 1 || graph.IsLiveOut(id)) return ir::kNone;
  return value.uses[0].node;
}

// Axis i of one is axis i of the other.
bool DifferInTrailingOnes(const Shape& a, const Shape& b) {
  for (int axis = 0; axis < std::max(a.rank(), b.rank()); ++axis) {
    if (a.DimOr1(axis) != b.DimOr1(axis)) return false;
  }
  return true;
}

// An operand of the reader, or the same elements, to be read beside a tensor of
// the shape `from` where `to` is; kNone where there is none.
ValueId Beside(const Graph& graph, ValueId operand, const Shape& from,
               const Shape& to) {
  const ir::Value& value = graph.value(operand);
  const Shape& shape = value.desc.shape;
  if (HasChannels(graph, operand)) return ir::kNone;
  if (shape == to && IsReshape(graph, value.producer)) {
    const ValueId source = graph.node(value.producer).inputs[0];
    if (graph.value(source).desc.shape == from) return source;
  }
  const bool broadcasts =
      shape.NumElements() == 1 || DifferInTrailingOnes(from, to);
  return broadcasts && shape.rank() <= from.rank() ? operand : ir::kNone;
}

// What the reader of the Reshape `id` reads once it stands before it; empty
// where it cannot.
std::vector<ValueId> InputsBefore(const Graph& graph, const Node& reshape,
                                  const Node& reader) {
  const ValueId from = reshape.inputs[0];
  const Shape& source = graph.value(from).desc.shape;
  const Shape& shape = graph.value(reshape.outputs[0]).desc.shape;
  std::vector<ValueId> inputs;
  for (const ValueId input : reader.inputs) {
    if (input == ir::kNone) return {};
    const ValueId before = input == reshape.outputs[0]
                               ? from
                               : Beside(graph, input, source, shape);
    if (before == ir::kNone) return {};
    inputs.push_back(before);
  }
  return inputs;
}

bool CanPass(const Graph& graph, const Node& reshape, const Node& reader) {
  if (reader.composite || !reader.schema->pointwise ||
      reader.outputs.size() != 1 || !HasStaticOperands(graph, reader)) {
    return false;
  }
  const ValueId output = reader.outputs[0];
  const auto& updates = graph.state_updates();
  return !HasChannels(graph, reshape.inputs[0]) &&
         !HasChannels(graph, output) &&
         graph.value(output).desc.shape ==
             graph.value(reshape.outputs[0]).desc.shape &&
         std::none_of(updates.begin(), updates.end(), [&](const auto& update) {
           return update.value == output;
         });
}

// Moves the Reshape behind its reader; its new id, or kNone where it stays.
ir::NodeId Sink(Graph& graph, ir::NodeId id) {
  if (!IsReshape(graph, id)) return ir::kNone;
  Node reshape = graph.node(id);
  const ir::Value& source = graph.value(reshape.inputs[0]);
  const ir::NodeId next = OnlyReader(graph, reshape.outputs[0]);
  if (source.producer == ir::kNone || next == ir::kNone ||
      OnlyReader(graph, source.id) != id ||
      !CanPass(graph, reshape, graph.node(next))) {
    return ir::kNone;
  }
  const std::vector<ValueId> inputs =
      InputsBefore(graph, reshape, graph.node(next));
  if (inputs.empty()) return ir::kNone;
  const ValueId output = graph.node(next).outputs[0];
  ir::TensorDesc desc = graph.value(output).desc;
  desc.shape = source.desc.shape;
  const ValueId made = graph.AddValue(std::move(desc));
  for (size_t i = 0; i < inputs.size(); ++i) {
    graph.SetInput(next, static_cast<int>(i), inputs[i]);
  }
  graph.SetOutput(next, 0, made);
  graph.RemoveNode(id);
  graph.RemoveValue(reshape.outputs[0]);
  reshape.inputs = {made};
  reshape.outputs = {output};
  return graph.AddNode(std::move(reshape));
}

}  // namespace

Status SinkViews(Module& module) {
  for (ir::NodeId id : module.declared_reshapes) {
    while (id != ir::kNone && module.graph.HasNode(id)) {
      id = Sink(module.graph, id);
    }
  }
  return OkStatus();
}

}  // namespace tim::compiler
