// Gradients of DeConv2d, the adjoint of a convolution.
#include "ops/deconvolution/deconvolution_rules.h"

#include <utility>

#include "ops/convolution/convolution_rules.h"
#include "ops/deconvolution/deconv_node.h"

namespace tim::ops {
namespace {

using Value = ir::ValueId;
using Values = std::vector<Value>;

// The convolution whose adjoint a transposed one is: it reads what that makes.
GradientWindow AdjointOf(const ConvAxis& axis) {
  GradientWindow window = GradientWindowOf(axis);
  std::swap(window.image, window.count);
  return window;
}

}  // namespace

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
