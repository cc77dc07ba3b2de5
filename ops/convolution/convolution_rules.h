// The rule of gradients of Conv2d, and what it shares with DeConv2d's.
#ifndef TIM_OPS_CONVOLUTION_CONVOLUTION_RULES_H_
#define TIM_OPS_CONVOLUTION_CONVOLUTION_RULES_H_

#include <vector>

#include "ops/convolution/convolution.h"
#include "ops/gradients/gradient_windows.h"
#include "ops/gradients/vjp_builder.h"

namespace tim::ops {

/// How the convolution along an axis reads its input.
GradientWindow GradientWindowOf(const ConvAxis& axis);
/// Weights of groups as [.., C / groups, O], also where the node has them in a
/// depthwise form.
ir::Shape GroupedShape(const ir::Shape& weights, const ConvGroups& group);
/// The bias, where the node has one as input 2, gets sums for each channel.
void SetBias(VjpBuilder& b, ir::ValueId g);

Result<std::vector<ir::ValueId>> Conv2dVjp(const ir::VjpContext& context);

}  // namespace tim::ops

#endif  // TIM_OPS_CONVOLUTION_CONVOLUTION_RULES_H_
