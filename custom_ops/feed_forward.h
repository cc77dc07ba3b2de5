// A feed-forward block, a composed operator.
#ifndef TIM_CUSTOM_OPS_FEED_FORWARD_H_
#define TIM_CUSTOM_OPS_FEED_FORWARD_H_

#include <memory>
#include <vector>

#include "tim/vx/composed_op.h"

namespace tim {
namespace custom_ops {

/// Two dense layers and a residual connection, as in a transformer:
///   y = x + W2 * relu(W1 * x + b1) + b2
/// Inputs, all FLOAT32 or all FLOAT16:
///   0: x, {C, N}; any N
///   1: W1, {C, H}   2: b1, {H}   3: W2, {H, C}   4: b2, {C}
/// Output 0: y, {C, N}.
///
/// An example of vx::ComposedOp: it consists of FullyConnected, Relu and Add
/// and runs wherever those do.
/// Errors, all of Compile(): those of the inner operations.
/// Source: Vaswani et al., Attention Is All You Need, 2017, 3.3, with the
/// residual of 3.1, without its normalization.
class FeedForward : public vx::ComposedOp {
 public:
  static const char* OpName() { return "user.FeedForward"; }

  explicit FeedForward(vx::Graph* graph);

  std::shared_ptr<vx::Operation> Clone(
      std::shared_ptr<vx::Graph>& graph) const override;

  void Wire(vx::Graph* graph,
            const std::vector<std::shared_ptr<vx::Tensor>>& inputs,
            const std::vector<std::shared_ptr<vx::Tensor>>& outputs) override;
};

}  // namespace custom_ops
}  // namespace tim

#endif  // TIM_CUSTOM_OPS_FEED_FORWARD_H_
