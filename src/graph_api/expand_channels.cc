// Arithmetic of channels in the place of conversions that no kernel has.
#include "graph_api/expand_channels.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "compiler/quantization/conversions.h"
#include "graph_api/lowering.h"
#include "ir/tensor_desc.h"

namespace tim::graph {
namespace {

using ir::DataType;
using ir::TensorDesc;
using ir::ValueId;

// Constants along the axis of a quantization.
Result<Tensor> Along(Lowering& lowering, Floats values, const TensorDesc& desc,
                     int axis) {
  const auto rank = static_cast<int64_t>(desc.shape.rank());
  values.resize(static_cast<size_t>(desc.shape[axis]), values.back());
  Dims dims(static_cast<size_t>(rank), 1);
  dims[static_cast<size_t>(InnerAxis(axis, rank))] = desc.shape[axis];
  return lowering.Constant(values, dims);
}

Tensor TensorOf(const ir::Graph& graph, ValueId id) {
  const TensorDesc& desc = graph.value(id).desc;
  return {.id = id, .dims = Reversed(desc.shape.dims()), .type = desc.type};
}

Status Expand(ir::Graph* graph, ir::NodeId convert) {
  const ValueId from = graph->node(convert).inputs[0];
  const ValueId to = graph->node(convert).outputs[0];
  const bool reads = graph->value(from).desc.quantized();
  const TensorDesc codes = graph->value(reads ? from : to).desc;
  Floats zeros(codes.quantization.zero_points.begin(),
               codes.quantization.zero_points.end());
  if (zeros.empty()) zeros.push_back(0);
  const int axis = codes.quantization.axis;
  Lowering lowering(graph);
  TIM_ASSIGN_OR_RETURN(const Tensor scale,
                       Along(lowering, codes.quantization.scales, codes, axis));
  TIM_ASSIGN_OR_RETURN(const Tensor zero,
                       Along(lowering, std::move(zeros), codes, axis));
  Tensor x = TensorOf(*graph, from);
  if (reads) {
    TIM_ASSIGN_OR_RETURN(x, lowering.Cast(x, DataType::kFloat32));
    TIM_ASSIGN_OR_RETURN(x, lowering.Add("Sub", {x, zero}));
    TIM_ASSIGN_OR_RETURN(x, lowering.Add("Multiply", {x, scale}));
    graph->RemoveNode(convert);
    graph->ReplaceUses(to, x.id);
    return OkStatus();
  }
  TIM_ASSIGN_OR_RETURN(x, lowering.Add("Div", {x, scale}));
  TIM_ASSIGN_OR_RETURN(x, lowering.Add("Add", {x, zero}));
  TIM_ASSIGN_OR_RETURN(x, lowering.Cast(x, codes.type));
  TIM_ASSIGN_OR_RETURN(
      x, lowering.Add(
             "Cast", {x}, {},
             {.type = codes.type,
              .quantization = {
                  .kind = codes.quantization.kind,
                  .axis = static_cast<int>(InnerAxis(axis, codes.shape.rank())),
                  .scales = codes.quantization.scales,
                  .zero_points = codes.quantization.zero_points}}));
  graph->RemoveNode(convert);
  graph->ReplaceUses(to, x.id);
  return OkStatus();
}

}  // namespace

Status ExpandChannels(ir::Graph* graph) {
  const compiler::Conversions conversions(graph);
  for (const ir::NodeId id : graph->NodeIds()) {
    const ir::Node& node = graph->node(id);
    if (!conversions.IsConversion(node)) continue;
    const ValueId from = node.inputs[0];
    const bool channels =
        conversions.Desc(from).quantization.per_channel() ||
        conversions.Desc(node.outputs[0]).quantization.per_channel();
    if (channels && !conversions.IsConstant(from)) {
      TIM_RETURN_IF_ERROR(Expand(graph, id));
    }
  }
  return OkStatus();
}

}  // namespace tim::graph
