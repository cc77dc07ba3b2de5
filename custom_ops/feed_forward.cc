#include "custom_ops/feed_forward.h"

#include "tim/vx/ops.h"

namespace tim {
namespace custom_ops {
namespace {

using TensorPtr = std::shared_ptr<vx::Tensor>;

// Compile() finds out the shape.
TensorPtr Between(vx::Graph* graph, const TensorPtr& like) {
  vx::TensorSpec spec(like->GetDataType(), {}, vx::TensorAttribute::TRANSIENT);
  return graph->CreateTensor(spec);
}

TensorPtr Dense(vx::Graph* graph, const TensorPtr& x, const TensorPtr& weights,
                const TensorPtr& bias) {
  const TensorPtr y = Between(graph, x);
  graph->CreateOperation<vx::ops::FullyConnected>(0u)
      ->BindInputs({x, weights, bias})
      .BindOutput(y);
  return y;
}

}  // namespace

FeedForward::FeedForward(vx::Graph* graph)
    : ComposedOp(graph, OpName(), 5, 1) {}

std::shared_ptr<vx::Operation> FeedForward::Clone(
    std::shared_ptr<vx::Graph>& graph) const {
  return graph->CreateOperation<FeedForward>();
}

void FeedForward::Wire(vx::Graph* graph, const std::vector<TensorPtr>& inputs,
                       const std::vector<TensorPtr>& outputs) {
  const TensorPtr& x = inputs[0];
  const TensorPtr hidden = Dense(graph, x, inputs[1], inputs[2]);
  const TensorPtr active = Between(graph, x);
  graph->CreateOperation<vx::ops::Relu>()->BindInput(hidden).BindOutput(active);
  const TensorPtr change = Dense(graph, active, inputs[3], inputs[4]);
  graph->CreateOperation<vx::ops::Add>()
      ->BindInputs({x, change})
      .BindOutput(outputs[0]);
}

}  // namespace custom_ops
}  // namespace tim
