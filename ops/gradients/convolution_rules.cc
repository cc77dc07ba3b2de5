// Gradients of Conv2d and DeConv2d, which are each other's adjoints.
#include "ops/convolution/convolution.h"
#include "ops/deconvolution/deconv_node.h"
#include "ops/gradients/gradient_windows.h"
#include "ops/gradients/product_rules.h"

namespace tim::ops {
namespace {

using Value = ir::ValueId;
using Values = std::vector<Value>;

GradientWindow WindowOf(const ConvAxis& axis) {
  return {.image = axis.input,
          .kernel = axis.kernel,
          .count = axis.output,
          .stride = axis.stride,
          .dilation = axis.dilation,
          .front = axis.pad};
}

// The convolution whose adjoint a transposed one is: it reads what that makes.
GradientWindow AdjointOf(const ConvAxis& axis) {
  GradientWindow window = WindowOf(axis);
  std::swap(window.image, window.count);
  return window;
}

// Weights of groups as [.., C / groups, O], also where the node has them in a
// depthwise form.
ir::Shape GroupedShape(const ir::Shape& weights, const ConvGroups& group) {
  return ir::Shape(
      {weights[0], weights[1], group.channels, group.out_channels});
}

void SetBias(VjpBuilder& b, Value g) {
  if (b.HasIn(2) && b.Wanted(2)) b.Set(2, ChannelSums(b, g));
}

}  // namespace

Result<Values> Conv2dVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape,
                       Conv2dShapeOf(b.attributes(), b.ShapeOf(b.In(0)),
                                     b.ShapeOf(b.In(1)), b.ShapeOf(b.Out())));
  const GradientWindows windows = {WindowOf(shape.w), WindowOf(shape.h)};
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

Result<Values> DeConv2dVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  TIM_ASSIGN_OR_RETURN(
      const Conv2dShape shape,
      TransposedShapeOf(b.attributes(), b.ShapeOf(b.In(0)), b.ShapeOf(b.In(1)),
                        b.ShapeOf(b.Out())));
  const GradientWindows windows = {AdjointOf(shape.w), AdjointOf(shape.h)};
  const int64_t groups = shape.channels / shape.group.channels;
  const Value g = b.Cotangent();
  if (b.Wanted(0)) {
    const Value weights =
        b.Reshape(b.In(1), GroupedShape(b.ShapeOf(b.In(1)), shape.group));
    b.Set(0, Convolve(b, g, ExchangeChannels(b, weights, groups), windows));
  }
  if (b.Wanted(1)) {
    b.Set(1, ExchangeChannels(
                 b, WeightsGradient(b, g, b.In(0), windows, groups), groups));
  }
  SetBias(b, g);
  return b.Finish();
}

}  // namespace tim::ops
