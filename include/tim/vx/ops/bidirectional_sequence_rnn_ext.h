// BidirectionalSequenceRnn with the operands of ONNX.
#ifndef TIM_VX_OPS_BIDIRECTIONAL_SEQUENCE_RNN_EXT_H_
#define TIM_VX_OPS_BIDIRECTIONAL_SEQUENCE_RNN_EXT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "tim/vx/composed_op.h"
#include "tim/vx/ops/bidirectional_sequence_rnn.h"
#include "tim/vx/ops/reshape.h"
#include "tim/vx/ops/stack.h"
#include "tim/vx/ops/unstack.h"

namespace tim {
namespace vx {
namespace ops {

/// BidirectionalSequenceRnn, time-major, with the two directions beside each
/// other along an axis, forward first:
///   h(t) = f(W x(t) + b + R h(before) + c)
///
/// Input 0, x: [I, B, T].  1, W: [I, U, 2].  2, R: [U, U, 2].
/// 3, the biases b and then c of each direction: [2 U, 2].
/// 4, the first states: [U, B, 2].
/// Output 0, the last states: [U, B, 2]; a placeholder where they are not
///        wanted.
/// Output 1, h of every step: [U, B, 2, T].
/// Types: those of BidirectionalSequenceRnn.
///
/// - act_type: f.
/// Errors: Compile() fails where extents do not fit and on other types.
/// Source: ONNX RNN-14, bidirectional (there the outputs change places).
class BidirectionalSequenceRnnExt : public ComposedOp {
 public:
  static const char* OpName() { return "BidirectionalSequenceRnnExt"; }
  BidirectionalSequenceRnnExt(
      Graph* graph,
      tim::vx::ops::BidirectionalSequenceRnn::ActivationType act_type)
      : ComposedOp(graph, "BidirectionalSequenceRnnExt", 5, 2, 0,
                   {{"activation", act_type}}),
        act_type_(act_type) {}

  std::shared_ptr<Operation> Clone(
      std::shared_ptr<Graph>& graph) const override {
    return graph->CreateOperation<BidirectionalSequenceRnnExt>(act_type_);
  }

  void Wire(Graph* graph, const std::vector<std::shared_ptr<Tensor>>& inputs,
            const std::vector<std::shared_ptr<Tensor>>& outputs) override {
    const Tensors weights = Slices(graph, inputs[1], 2, 2);
    const Tensors recurrent = Slices(graph, inputs[2], 2, 2);
    const Tensors states = Slices(graph, inputs[4], 2, 2);
    const auto rows = Like(graph, inputs[3]);
    graph
        ->CreateOperation<Reshape>(
            std::vector<uint32_t>{static_cast<uint32_t>(-1), 4})
        ->BindInput(inputs[3])
        .BindOutput(rows);
    const Tensors biases = Slices(graph, rows, 1, 4);
    const bool wants_last = !outputs[0]->IsPlaceHolder();
    Tensors last = {outputs[0], outputs[0]};
    if (wants_last) last = {Like(graph, outputs[0]), Like(graph, outputs[0])};
    const Tensors sequences = {Like(graph, outputs[1]),
                               Like(graph, outputs[1])};
    graph->CreateOperation<BidirectionalSequenceRnn>(act_type_, true, false)
        ->BindInputs({inputs[0], weights[0], recurrent[0], biases[0], biases[1],
                      states[0], weights[1], recurrent[1], biases[2], biases[3],
                      states[1]})
        .BindOutputs({last[0], last[1], sequences[0], sequences[1]});
    graph->CreateOperation<Stack>(2, 2)->BindInputs(sequences).BindOutput(
        outputs[1]);
    if (!wants_last) return;
    graph->CreateOperation<Stack>(2, 2)->BindInputs(last).BindOutput(
        outputs[0]);
  }

 protected:
  tim::vx::ops::BidirectionalSequenceRnn::ActivationType act_type_;

 private:
  using Tensors = std::vector<std::shared_ptr<Tensor>>;

  // A tensor between operations, of any shape.
  static std::shared_ptr<Tensor> Like(Graph* graph,
                                      const std::shared_ptr<Tensor>& tensor) {
    return graph->CreateTensor(TensorSpec(tensor->GetDataType(), {}, TRANSIENT,
                                          tensor->GetQuantization()));
  }

  static Tensors Slices(Graph* graph, const std::shared_ptr<Tensor>& tensor,
                        int32_t axis, uint32_t count) {
    Tensors slices;
    for (uint32_t i = 0; i < count; ++i) slices.push_back(Like(graph, tensor));
    graph->CreateOperation<Unstack>(axis, count)
        ->BindInput(tensor)
        .BindOutputs(slices);
    return slices;
  }
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_BIDIRECTIONAL_SEQUENCE_RNN_EXT_H_
