// Graphs inside of operations: what they read of the graph around them becomes
// an operand where it is first read.
#include <algorithm>
#include <utility>

#include "models/build/graph_builder.h"
#include "tim/vx/error.h"
#include "tim/vx/ops/control.h"
#include "tim/vx/ops/reshape.h"

namespace tim::models {

Result<GraphBuilder> GraphBuilder::Inner() const {
  if (context_ == nullptr) {
    return Unimplemented("graphs inside of a graph are not taken here");
  }
  GraphBuilder inner(context_->CreateGraph(), nullptr, context_);
  inner.is_inner_ = true;
  inner.node_ = node_;
  return inner;
}

Result<Value> GraphBuilder::AddOperand(const Value& value) {
  if (value.IsAbsent()) return InvalidArgument("an operand is absent");
  vx::TensorSpec spec(GraphType(value.type), GraphShape(value.dims), vx::INPUT,
                      value.quantization);
  Value inside = value;
  inside.constant = nullptr;
  TIM_ASSIGN_OR_RETURN(inside.tensor, MakeTensor(spec, value.dims.empty()));
  operands_.push_back({value, inside, false});
  return inside;
}

Result<std::shared_ptr<vx::Tensor>> GraphBuilder::OwnTensorOf(
    const Value& value) {
  if (own_.contains(value.tensor.get())) return value.tensor;
  const auto known = std::find_if(
      operands_.begin(), operands_.end(), [&](const Operand& operand) {
        return operand.read && operand.outside.tensor == value.tensor;
      });
  if (known != operands_.end()) return known->inside.tensor;
  TIM_ASSIGN_OR_RETURN(const Value inside, AddOperand(value));
  operands_.back().read = true;
  return inside.tensor;
}

Status GraphBuilder::AddOperandsOf(const GraphBuilder& other) {
  for (size_t i = operands_.size(); i < other.operands_.size(); ++i) {
    TIM_RETURN_IF_ERROR(AddOperand(other.operands_[i].outside).status());
    operands_.back().read = other.operands_[i].read;
  }
  return OkStatus();
}

Status GraphBuilder::AddResult(const Value& value) {
  TIM_ASSIGN_OR_RETURN(const std::shared_ptr<vx::Tensor> from, TensorOf(value));
  const vx::TensorSpec spec(GraphType(value.type), GraphShape(value.dims),
                            vx::OUTPUT, value.quantization);
  TIM_ASSIGN_OR_RETURN(const std::shared_ptr<vx::Tensor> output,
                       MakeTensor(spec, value.dims.empty()));
  graph_->CreateOperation<vx::ops::Reshape>(spec.shape_)
      ->BindInput(from)
      .BindOutput(output);
  return OkStatus();
}

Result<std::vector<Value>> GraphBuilder::AddIf(
    const Value& condition, GraphBuilder* then_graph,
    const std::vector<Value>& then_values, GraphBuilder* else_graph,
    const std::vector<Value>& else_values) {
  std::vector<Wanted> wanted;
  for (size_t i = 0; i < then_values.size(); ++i) {
    const Value& value = then_values[i];
    TIM_RETURN_IF_ERROR(then_graph->AddResult(value));
    TIM_RETURN_IF_ERROR(else_graph->AddResult(else_values[i]));
    wanted.push_back(Wanted::Of(value.type, value.dims, value.quantization));
  }
  TIM_RETURN_IF_ERROR(then_graph->AddOperandsOf(*else_graph));
  std::vector<Value> inputs = {condition};
  for (const Operand& operand : then_graph->operands()) {
    inputs.push_back(operand.outside);
  }
  return AddMade(graph_->CreateOperation<vx::ops::If>(then_graph->graph(),
                                                      else_graph->graph()),
                 inputs, wanted);
}

}  // namespace tim::models
