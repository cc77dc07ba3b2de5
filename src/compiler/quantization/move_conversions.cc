// Moves Dequantize behind, and Quantize before operators that move elements.
#include "compiler/quantization/move_conversions.h"

#include <optional>
#include <string>
#include <utility>

#include "ir/element_map/compose.h"
#include "ir/node_descs.h"
#include "ir/op_schema.h"

namespace tim::compiler {
namespace {

using ir::kNone;
using ir::Node;
using ir::NodeId;
using ir::Shape;
using ir::ValueId;

// How a node of float32 moves elements, if that is all that it does.
std::optional<ir::ElementMap> MapOf(Conversions& conversions,
                                    const Node& node) {
  if (node.composite || !node.schema->element_map || node.inputs.size() != 1 ||
      node.outputs.size() != 1) {
    return std::nullopt;
  }
  for (const ValueId id : {node.inputs[0], node.outputs[0]}) {
    const ir::TensorDesc& desc = conversions.Desc(id);
    if (desc.type != ir::DataType::kFloat32 || !desc.shape.IsStatic()) {
      return std::nullopt;
    }
  }
  const ir::NodeDescs descs(conversions.graph(), node);
  return node.schema->element_map(descs.view());
}

// The index along `axis` of each element.
ir::ElementMap IndicesAlong(const Shape& shape, int axis) {
  return {.start = 0,
          .extents = {shape.Product(0, axis), shape[axis],
                      shape.Product(axis + 1, shape.rank())},
          .strides = {0, 1, 0},
          .bounds = {}};
}

// Axis of `to` whose indices are those of `axis` of `from`.
std::optional<int> MovedAxis(const ir::ElementMap& map, const Shape& from,
                             int axis, const Shape& to) {
  const auto moved = ir::Compose(IndicesAlong(from, axis), map);
  for (int i = 0; moved && i < to.rank(); ++i) {
    if (to[i] == from[axis] && ir::Joined(IndicesAlong(to, i)) == *moved) {
      return i;
    }
  }
  return std::nullopt;
}

// The mover's operator takes these in place of float32.
bool Takes(const Node& mover, const ir::TensorDesc& from,
           const ir::TensorDesc& to) {
  const ir::TensorDesc* input = &from;
  const ir::TensorDesc* output = &to;
  return !mover.schema->check ||
         mover.schema->check({mover, {&input, 1}, {&output, 1}}).ok();
}

// The mover reads codes, or the integers of a bias, which are converted behind
// it.
void SinkDequantize(Conversions* conversions, NodeId id) {
  ir::Graph& graph = conversions->graph();
  const Node& mover = graph.node(id);
  if (mover.inputs.size() != 1) return;
  const ValueId codes = conversions->SourceOf(mover.inputs[0]);
  if (codes == kNone) return;
  ir::TensorDesc desc = conversions->Desc(codes);
  if (!IsCodes(desc) && desc.type != ir::DataType::kInt32) return;
  const auto map = MapOf(*conversions, mover);
  if (!map) return;
  const ValueId real = mover.outputs[0];
  if (desc.quantization.per_channel()) {
    const auto axis = MovedAxis(*map, desc.shape, desc.quantization.axis,
                                conversions->Desc(real).shape);
    if (!axis) return;
    desc.quantization.axis = *axis;
  }
  desc.shape = conversions->Desc(real).shape;
  // More elements would be converted, each time it runs.
  if (*desc.shape.NumElements() >
          *conversions->Desc(codes).shape.NumElements() &&
      !conversions->IsConstant(codes)) {
    return;
  }
  if (!Takes(mover, conversions->Desc(codes), desc)) return;
  const std::string mover_name = mover.name;
  Node convert = graph.node(graph.value(mover.inputs[0]).producer);
  const ValueId moved = graph.AddValue(desc);
  graph.value(moved).is_scalar = graph.value(real).is_scalar;
  graph.SetInput(id, 0, codes);
  graph.SetOutput(id, 0, moved);
  convert.name = StrCat(convert.name, " behind ", mover_name);
  convert.inputs = {moved};
  convert.outputs = {real};
  graph.AddNode(std::move(convert));
}

// The mover can read the codes that are made of its result.  One that drops
// elements would let more of them be converted.
bool CanFollowQuantize(Conversions& conversions, const Node& mover) {
  if (mover.outputs.size() != 1) return false;
  const auto quantize = conversions.QuantizeOf(mover.outputs[0]);
  if (!quantize || !MapOf(conversions, mover)) return false;
  const ir::TensorDesc& to = conversions.Desc(quantize->codes);
  ir::TensorDesc from = to;
  from.shape = conversions.Desc(mover.inputs[0]).shape;
  return *to.shape.NumElements() >= *from.shape.NumElements() &&
         Takes(mover, from, to);
}

}  // namespace

bool HoistQuantize(Conversions* conversions, NodeId id) {
  ir::Graph& graph = conversions->graph();
  const Node& node = graph.node(id);
  const auto quantize = conversions->QuantizeOf(node.outputs[0]);
  if (!quantize) return false;
  const ValueId real = node.inputs[0];
  const ValueId dropped = node.outputs[0];
  const ir::Value& source = graph.value(real);
  ir::TensorDesc desc = conversions->Desc(quantize->codes);
  desc.shape = source.desc.shape;
  const bool is_scalar = source.is_scalar;
  const ValueId codes = graph.AddValue(desc);
  graph.SetOutput(quantize->last, 0, codes);
  for (const NodeId convert : {quantize->first, quantize->last}) {
    ir::Value& made = graph.value(graph.node(convert).outputs[0]);
    made.desc.shape = desc.shape;
    made.is_scalar = is_scalar;
  }
  graph.SetOutput(id, 0, quantize->codes);
  graph.SetInput(quantize->first, 0, real);
  graph.RemoveValue(dropped);
  graph.SetInput(id, 0, codes);
  return true;
}

void MoveConversions(Conversions* conversions,
                     const std::vector<NodeId>& order) {
  for (const NodeId id : order) SinkDequantize(conversions, id);
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    const Node& node = conversions->graph().node(*id);
    if (CanFollowQuantize(*conversions, node)) HoistQuantize(conversions, *id);
  }
}

}  // namespace tim::compiler
