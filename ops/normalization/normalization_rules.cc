// Gradients of normalisations, by what they consist of.
#include "ops/normalization/normalization_rules.h"

#include <functional>
#include <numeric>

#include "ops/elements/shapes.h"
#include "ops/normalization/batchnorm_node.h"

namespace tim::ops {
namespace {

using Value = ir::ValueId;
using Values = std::vector<Value>;
using Axes = VjpBuilder::Axes;

// A parameter against an input of `rank`: one of rank 1 and as long as `axis`
// lies along it, others are broadcast as they are.
class Parameter {
 public:
  Parameter(VjpBuilder& b, int index, int axis) : b_(b), index_(index) {
    const ir::Shape input = b.ShapeOf(b.In(0));
    placed_ = b.ShapeOf(b.In(index));
    const bool along = placed_.rank() == 1 && placed_[0] == input.DimOr1(axis);
    if (!along) return;
    Axes dims(input.rank(), 1);
    dims[axis] = placed_[0];
    placed_ = ir::Shape(dims);
  }

  Value value() const { return b_.Reshape(b_.In(index_), placed_); }
  void Set(Value cotangent) const {
    b_.Set(index_, b_.SumTo(cotangent, placed_));
  }

 private:
  VjpBuilder& b_;
  int index_;
  ir::Shape placed_;
};

// y = n * gamma + beta, n = (x - mean) / sqrt(variance + eps) over `axes`.
Result<Values> MomentsVjp(VjpBuilder& b, const Axes& axes, int parameter_axis) {
  enum { kInput, kBeta, kGamma };
  const Value x = b.In(kInput);
  const Value g = b.Cotangent();
  const Value centered = b.Sub(x, b.Mean(x, axes));
  const Value variance = b.Mean(b.Square(centered), axes);
  const Value r =
      b.Op("Rsqrt", {b.Linear(variance, 1, b.attributes().Float("eps"))});
  const Value n = b.Multiply(centered, r);
  const Parameter gamma(b, kGamma, parameter_axis);
  if (b.Wanted(kBeta)) Parameter(b, kBeta, parameter_axis).Set(g);
  if (b.Wanted(kGamma)) gamma.Set(b.Multiply(g, n));
  if (!b.Wanted(kInput)) return b.Finish();
  const Value of_n = b.Multiply(g, gamma.value());
  const Value along = b.Multiply(n, b.Mean(b.Multiply(of_n, n), axes));
  const Value rest = b.Sub(b.Sub(of_n, b.Mean(of_n, axes)), along);
  b.Set(kInput, b.Multiply(rest, r));
  return b.Finish();
}

int AxisOf(VjpBuilder& b) {
  return b.Try(WrapAxis(b.attributes().Int("axis"), b.ShapeOf(b.In(0)).rank()));
}

}  // namespace

// x gets beta * y * (g - sum of g * y).
Result<Values> SoftmaxVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  const Value g = b.Cotangent();
  const int axis = AxisOf(b);
  const Value sum = b.Sum(b.Multiply(g, b.Out()), {axis});
  const Value slope = b.Multiply(b.Out(), b.Sub(g, sum));
  b.Set(0, b.Scale(slope, b.attributes().Float("beta")));
  return b.Finish();
}

// x gets beta * (g - e^y * sum of g).
Result<Values> LogSoftmaxVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  const Value g = b.Cotangent();
  const int axis = AxisOf(b);
  const Value share = b.Multiply(b.Op("Exp", {b.Out()}), b.Sum(g, {axis}));
  b.Set(0, b.Scale(b.Sub(g, share), b.attributes().Float("beta")));
  return b.Finish();
}

Result<Values> BatchNormVjp(const ir::VjpContext& context) {
  enum { kInput, kMean, kVariance, kGamma, kBeta };
  VjpBuilder b(context);
  const int axis = ChannelAxis(b.ShapeOf(b.In(kInput)).rank());
  const auto parameter = [&](int index) { return Parameter(b, index, axis); };
  const Value g = b.Cotangent();
  const Value gamma = parameter(kGamma).value();
  const Value r = b.Op("Rsqrt", {b.Linear(parameter(kVariance).value(), 1,
                                          b.attributes().Float("eps"))});
  const Value of_input = b.Multiply(g, b.Multiply(gamma, r));
  b.Set(kInput, of_input);
  if (b.Wanted(kMean)) parameter(kMean).Set(b.Neg(of_input));
  if (b.Wanted(kBeta)) parameter(kBeta).Set(g);
  if (!b.Wanted(kVariance) && !b.Wanted(kGamma)) return b.Finish();
  const Value centered = b.Sub(b.In(kInput), parameter(kMean).value());
  const Value of_gamma = b.Multiply(g, b.Multiply(centered, r));
  if (b.Wanted(kGamma)) parameter(kGamma).Set(of_gamma);
  if (b.Wanted(kVariance)) {
    const Value slope = b.Scale(b.Multiply(gamma, b.Square(r)), -0.5);
    parameter(kVariance).Set(b.Multiply(of_gamma, slope));
  }
  return b.Finish();
}

Result<Values> LayerNormalizationVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  const int axis = AxisOf(b);
  return MomentsVjp(b, {axis}, axis);
}

Result<Values> InstanceNormalizationVjp(const ir::VjpContext& context) {
  VjpBuilder b(context);
  const int axis = b.ShapeOf(b.In(0)).rank() - 2;
  Axes image(axis, 0);
  std::iota(image.begin(), image.end(), 0);
  return MomentsVjp(b, image, axis);
}

// y = n * gamma, n = x * r, r = 1 / sqrt(mean of x^2 + eps).
Result<Values> RmsNormalizationVjp(const ir::VjpContext& context) {
  enum { kInput, kGamma };
  VjpBuilder b(context);
  const int axis = AxisOf(b);
  const Value x = b.In(kInput);
  const Value mean = b.Mean(b.Square(x), {axis});
  const Value r =
      b.Op("Rsqrt", {b.Linear(mean, 1, b.attributes().Float("eps"))});
  const Value n = b.Multiply(x, r);
  Value of_n = b.Cotangent();
  if (b.HasIn(kGamma)) {
    const Parameter gamma(b, kGamma, axis);
    if (b.Wanted(kGamma)) gamma.Set(b.Multiply(of_n, n));
    of_n = b.Multiply(of_n, gamma.value());
  }
  if (!b.Wanted(kInput)) return b.Finish();
  const Value along = b.Multiply(n, b.Mean(b.Multiply(of_n, n), {axis}));
  b.Set(kInput, b.Multiply(b.Sub(of_n, along), r));
  return b.Finish();
}

}  // namespace tim::ops
