// Gradients of Conv2d, by its adjoint.
#include "ops/convolution/convolution_rules.h"

namespace tim::ops {

using Value = ir::ValueId;
using Values = std::vector<Value>;

GradientWindow GradientWindowOf(const ConvAxis& axis) {
  return {.image = axis.input,
          .kernel = axis.kernel,
          .count = axis.output,
          .stride = axis.stride,
          .dilation = axis.dilation,
          .front = axis.pad};
}

ir::Shape GroupedShape(const ir::Shape& weights, const ConvGroups& group) {
  return ir::Shape(
      {weights[0], weights[1], group.channels, group.out_channels});
}

void SetBias(VjpBuilder& b, Value g) {
  if (b.HasIn(2) && b.Wanted(2)) b.Set(2, ChannelSums(b, g));
}

Result<Values> Conv2dVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape,
                       ConvShapeOf(b.attributes(), b.ShapeOf(b.In(0)),
                                   b.ShapeOf(b.In(1)), b.ShapeOf(b.Out())));
  const GradientWindows windows = {GradientWindowOf(shape.w),
                                   GradientWindowOf(shape.h)};
  const int64_t groups = shape.channels / shape.group.channels;
  const Value g = b.Cotangent();
  if (b.Wanted(0)) {
    const Value weights =
        b.Reshape(b.In(1), GroupedShape(b.ShapeOf(b.In(1)), shape.group));
    b.Set(0, SpreadWindows(b, g, weights, windows, groups));
  }
  if (b.Wanted(1)) {
    b.Set(1, WeightsGradient(b, b.In(0), g, windows, groups));
  }
  SetBias(b, g);
  return b.Finish();
}

}  // namespace tim::ops
