// One step of a recurrent layer.
#ifndef TIM_VX_OPS_RNN_CELL_H_
#define TIM_VX_OPS_RNN_CELL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "tim/vx/composed_op.h"
#include "tim/vx/ops/activations.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/fullyconnected.h"
#include "tim/vx/ops/simple_operations.h"

namespace tim {
namespace vx {
namespace ops {

/// out(u, n) = tanh(sum over i of in(i, n) * weights(i, u) + bias(u) +
///                  sum over v of state(v, n) * recurrent(v, u)).
///
/// Input 0: [I, B].  1, weights: [I, U].  2, bias: [U].  3, state: [U, B].
/// 4, recurrent weights: [U, U].
/// Output 0: [U, B].  Output 1, the next state: [U, B], output 0 converted to
/// its type and quantization; a placeholder where it is not wanted.
/// Types: FLOAT32, FLOAT16 or quantized, each tensor its own; sums are FLOAT32.
///
/// - activation: has no effect: the cell always takes tanh, as TIM-VX's
///        does.
/// Errors: Compile() fails where extents do not fit and on other types.
/// Source: NNAPI RNN (there inputs 3 and 4 are swapped).
class RNNCell : public ComposedOp {
 public:
  enum ActivationType {
    kNONE = 0,
    kRELU = 1,
    kRELU1 = 2,
    kRELU6 = 3,
    kTANH = 4,
    kSIGMOID = 6,
    kHARDSIGMOID = 31
  };

  static const char* OpName() { return "RNNCell"; }
  RNNCell(Graph* graph, ActivationType activation)
      : ComposedOp(graph, "RNNCell", 5, 2), activation_(activation) {}

  std::shared_ptr<Operation> Clone(
      std::shared_ptr<Graph>& graph) const override {
    return graph->CreateOperation<RNNCell>(activation_);
  }

  void Wire(Graph* graph, const std::vector<std::shared_ptr<Tensor>>& inputs,
            const std::vector<std::shared_ptr<Tensor>>& outputs) override {
    const TensorSpec inner(DataType::FLOAT32, {}, TRANSIENT);
    const auto from_input = graph->CreateTensor(inner);
    const auto from_state = graph->CreateTensor(inner);
    const auto sum = graph->CreateTensor(inner);
    graph->CreateOperation<FullyConnected>(0)
        ->BindInputs({inputs[0], inputs[1], inputs[2]})
        .BindOutput(from_input);
    graph->CreateOperation<FullyConnected>(0)
        ->BindInputs({inputs[3], inputs[4]})
        .BindOutput(from_state);
    graph->CreateOperation<Add>()
        ->BindInputs({from_input, from_state})
        .BindOutput(sum);
    graph->CreateOperation<Tanh>()->BindInput(sum).BindOutput(outputs[0]);
    if (outputs[1]->IsPlaceHolder()) return;
    graph->CreateOperation<DataConvert>()
        ->BindInput(outputs[0])
        .BindOutput(outputs[1]);
  }

 protected:
  ActivationType activation_;
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_RNN_CELL_H_
