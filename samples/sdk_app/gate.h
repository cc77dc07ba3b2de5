// A composed operator of this application.
#ifndef SDK_APP_GATE_H_
#define SDK_APP_GATE_H_

#include <memory>
#include <vector>

#include "tim/vx/composed_op.h"
#include "tim/vx/ops.h"

namespace sdk_app {

/// out = x * sigmoid(weights * x): every row of x decides what passes of it.
/// Input 0, x: [K, M].  Input 1, weights: [K, K].  Output 0: [K, M].  FLOAT32.
class Gate : public tim::vx::ComposedOp {
 public:
  using Tensors = std::vector<std::shared_ptr<tim::vx::Tensor>>;

  explicit Gate(tim::vx::Graph* graph) : ComposedOp(graph, "user.Gate", 2, 1) {}

  std::shared_ptr<tim::vx::Operation> Clone(
      std::shared_ptr<tim::vx::Graph>& graph) const override {
    return graph->CreateOperation<Gate>();
  }

  void Wire(tim::vx::Graph* graph, const Tensors& inputs,
            const Tensors& outputs) override {
    namespace ops = tim::vx::ops;
    const tim::vx::TensorSpec between(tim::vx::DataType::FLOAT32, {},
                                      tim::vx::TRANSIENT);
    const auto product = graph->CreateTensor(between);
    const auto gate = graph->CreateTensor(between);
    graph->CreateOperation<ops::FullyConnected>(0)
        ->BindInputs({inputs[0], inputs[1]})
        .BindOutput(product);
    graph->CreateOperation<ops::Sigmoid>()->BindInput(product).BindOutput(gate);
    graph->CreateOperation<ops::Multiply>()
        ->BindInputs({inputs[0], gate})
        .BindOutput(outputs[0]);
  }
};

}  // namespace sdk_app

#endif  // SDK_APP_GATE_H_
