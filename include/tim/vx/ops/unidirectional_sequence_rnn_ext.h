// UnidirectionalSequenceRnn with the operands of ONNX.
#ifndef TIM_VX_OPS_UNIDIRECTIONAL_SEQUENCE_RNN_EXT_H_
#define TIM_VX_OPS_UNIDIRECTIONAL_SEQUENCE_RNN_EXT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "tim/vx/composed_op.h"
#include "tim/vx/ops/reshape.h"
#include "tim/vx/ops/stack.h"
#include "tim/vx/ops/unidirectional_sequence_rnn.h"
#include "tim/vx/ops/unstack.h"

namespace tim {
namespace vx {
namespace ops {

/// UnidirectionalSequenceRnn, time-major:
///   h(t) = f(W x(t) + b + R h(t - 1) + c)
///
/// Input 0, x: [I, B, T].  1, W: [I, U, 1].  2, R: [U, U, 1].
/// 3, the biases b and then c: [2 U, 1].  4, the first state: [U, B, 1].
/// Output 0, the last state: [U, B, 1]; a placeholder where it is not wanted.
/// Output 1, h of every step: [U, 1, B, T].
/// Types: those of UnidirectionalSequenceRnn.
///
/// - act_type: f.
/// Errors: Compile() fails where extents do not fit and on other types.
/// Source: ONNX RNN-14, forward (there the outputs change places).
class UnidirectionalSequenceRnnExt : public ComposedOp {
 public:
  static const char* OpName() { return "UnidirectionalSequenceRnnExt"; }
  UnidirectionalSequenceRnnExt(
      Graph* graph, UnidirectionalSequenceRnn::ActivationType act_type)
      : ComposedOp(graph, "UnidirectionalSequenceRnnExt", 5, 2, 0,
                   {{"activation", act_type}}),
        act_type_(act_type) {}

  std::shared_ptr<Operation> Clone(
      std::shared_ptr<Graph>& graph) const override {
    return graph->CreateOperation<UnidirectionalSequenceRnnExt>(act_type_);
  }

  void Wire(Graph* graph, const std::vector<std::shared_ptr<Tensor>>& inputs,
            const std::vector<std::shared_ptr<Tensor>>& outputs) override {
    const auto weights = Like(graph, inputs[1]);
    const auto recurrent = Like(graph, inputs[2]);
    const auto biases = Like(graph, inputs[3]);
    const auto bias = Like(graph, inputs[3]);
    const auto recurrent_bias = Like(graph, inputs[3]);
    const auto state = Like(graph, inputs[4]);
    const auto sequence = Like(graph, outputs[1]);
    graph->CreateOperation<Unstack>(2, 1)->BindInput(inputs[1]).BindOutput(
        weights);
    graph->CreateOperation<Unstack>(2, 1)->BindInput(inputs[2]).BindOutput(
        recurrent);
    graph->CreateOperation<Unstack>(2, 1)->BindInput(inputs[4]).BindOutput(
        state);
    graph
        ->CreateOperation<Reshape>(
            std::vector<uint32_t>{static_cast<uint32_t>(-1), 2})
        ->BindInput(inputs[3])
        .BindOutput(biases);
    graph->CreateOperation<Unstack>(1, 2)->BindInput(biases).BindOutputs(
        {bias, recurrent_bias});
    const bool wants_last = !outputs[0]->IsPlaceHolder();
    const auto last = wants_last ? Like(graph, outputs[0]) : outputs[0];
    graph->CreateOperation<UnidirectionalSequenceRnn>(act_type_, true)
        ->BindInputs(
            {inputs[0], weights, recurrent, bias, recurrent_bias, state})
        .BindOutputs({last, sequence});
    graph->CreateOperation<Stack>(1, 1)->BindInput(sequence).BindOutput(
        outputs[1]);
    if (!wants_last) return;
    graph->CreateOperation<Stack>(2, 1)->BindInput(last).BindOutput(outputs[0]);
  }

 protected:
  UnidirectionalSequenceRnn::ActivationType act_type_;

 private:
  // A tensor between operations, of any shape.
  static std::shared_ptr<Tensor> Like(Graph* graph,
                                      const std::shared_ptr<Tensor>& tensor) {
    return graph->CreateTensor(TensorSpec(tensor->GetDataType(), {}, TRANSIENT,
                                          tensor->GetQuantization()));
  }
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_UNIDIRECTIONAL_SEQUENCE_RNN_EXT_H_
