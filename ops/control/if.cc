// If: outputs = (condition ? then_graph : else_graph)(inputs behind it).
#include <algorithm>

#include "ir/evaluate.h"
#include "ir/node_descs.h"
#include "ir/op_registry.h"
#include "ops/control/graphs.h"

namespace tim::ops {
namespace {

ir::Arity OutputArity(const ir::AttributeMap& attributes) {
  const auto* graph = std::get_if<std::shared_ptr<const ir::Graph>>(
      attributes.Find(ir::kThenGraph));
  const bool known = graph != nullptr && *graph != nullptr;
  const int count = known ? static_cast<int>((*graph)->outputs().size()) : 1;
  return {count, count};
}

Status InferIf(ir::InferContext& context) {
  if (!context.has_input(0)) return InvalidArgument("has no condition");
  TIM_RETURN_IF_ERROR(CheckCondition("the condition", *context.inputs[0].desc));
  const ir::Graph& first = GraphOf(context.node, ir::kThenGraph);
  const ir::Graph& second = GraphOf(context.node, ir::kElseGraph);
  for (size_t i = 0; i < context.outputs.size(); ++i) {
    const ir::Value& value = OutputOf(first, i);
    const ir::Value& other = OutputOf(second, i);
    TIM_RETURN_IF_ERROR(CheckSame("output", i, "in then_graph", value.desc,
                                  "in else_graph", other.desc));
    auto& output = context.outputs[i];
    output.desc = value.desc;
    if (!value.desc.shape.IsStatic()) output.desc.shape = ir::Shape();
    output.desc.layout = ir::Layout::Dense();
    output.is_scalar = value.is_scalar && other.is_scalar;
  }
  return OkStatus();
}

Status EvalIf(const ir::EvalContext& context) {
  const bool condition =
      *static_cast<const uint8_t*>(context.inputs[0].data) != 0;
  return ir::Evaluate(
      GraphOf(context.node, condition ? ir::kThenGraph : ir::kElseGraph),
      context.inputs.subspan(1), context.outputs);
}

int64_t IfMemory(const ir::NodeView& view) {
  return std::max(EvalBytesOf(GraphOf(view.node, ir::kThenGraph)),
                  EvalBytesOf(GraphOf(view.node, ir::kElseGraph)));
}

// Estimate of the longer way.
ir::ComputeEstimate IfCompute(const ir::NodeView& view) {
  const auto first = ir::EstimateOf(GraphOf(view.node, ir::kThenGraph));
  const auto second = ir::EstimateOf(GraphOf(view.node, ir::kElseGraph));
  return {.flops = std::max(first.flops, second.flops),
          .bytes_read = std::max(first.bytes_read, second.bytes_read) + 1,
          .bytes_written = std::max(first.bytes_written, second.bytes_written)};
}

constexpr int kMostOperands = 1024;

ir::OpSchema IfSchema() {
  return {.name = "If",
          .inputs = {1, kMostOperands},
          .outputs = {1, kMostOperands},
          .output_arity = OutputArity,
          .attributes = {{ir::kThenGraph, ir::AttributeType::kGraph},
                         {ir::kElseGraph, ir::AttributeType::kGraph}},
          .control = ir::ControlKind::kIf,
          .infer_shapes = InferIf,
          .eval = EvalIf,
          .memory_estimate = IfMemory,
          .compute_estimate = IfCompute};
}

}  // namespace

TIM_OPERATOR(if) { registry.Add(IfSchema()); }

}  // namespace tim::ops
