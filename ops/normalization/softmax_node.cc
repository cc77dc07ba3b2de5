// The numbers of a Softmax: its rows, and how exact an estimate of them is.
#include "ops/normalization/softmax_node.h"

#include <cmath>
#include <cstdint>

#include "ops/elements/shapes.h"

namespace tim::ops {
namespace {

constexpr float kLog2E = 1.44269504f;
constexpr double kMostDistance = 255;  // Distance of two codes, at most.

float ScaleOf(const ir::TensorDesc& desc) {
  return desc.quantized() ? desc.quantization.Scale() : 1.0f;
}

int64_t ZeroOf(const ir::TensorDesc& desc) {
  return desc.quantized() ? desc.quantization.ZeroPoint() : 0;
}

bool IsCode(int64_t value, const ir::TensorDesc& desc) {
  const ir::DataTypeInfo& info = ir::Info(desc.type);
  return value >= info.min && value <= info.max;
}

// Roundings that may add up in a result, in units of 2^-24 of it, of `count`
// elements whose codes are 2^step apart.
double RoundingsOf(double step, double count) {
  const double ln2 = std::log(2.0);
  // Roundings of each e, in the result and in the sum.  eval's: x, the maximum,
  // their difference and t, and that of e itself; the estimate's: step and t
  // of both powers, these themselves and their product.
  const double of_eval = ln2 * step * 4 * kMostDistance + 1;
  const double of_estimate = ln2 * step * 2 * (kMostDistance + 15) + 3;
  // Roundings of eval's sum, one after the other, and of the estimate's 64.
  const double of_sums = count + count / 64 + 7;
  // Behind them: of eval the reciprocal, the product and the quotient; of the
  // estimate a quotient as inexact as OpenCL allows, and products.
  const double of_results = 3 + 9;
  return 2 * (of_eval + of_estimate) + of_sums + of_results;
}

}  // namespace

Result<SoftmaxProblem> SoftmaxProblemOf(const ir::AttributeMap& attributes,
                                        const ir::Shape& shape) {
  const int rank = shape.rank();
  TIM_ASSIGN_OR_RETURN(const int axis, WrapAxis(attributes.Int("axis"), rank));
  return SoftmaxProblem{.inner = shape.Product(0, axis),
                        .count = shape[axis],
                        .outer = shape.Product(axis + 1, rank),
                        .k = attributes.Float("beta") * kLog2E};
}

float SoftmaxTolerance(const SoftmaxProblem& problem,
                       const ir::TensorDesc& input,
                       const ir::TensorDesc& output) {
  // Beyond it one row in four of few great results could be in doubt.
  constexpr double kGreatest = 0x1p-11;
  // Powers of 16 neighbours, and results in units of codes, then stay far from
  // the limits of float.
  constexpr float kMostStep = 2.0f;
  constexpr float kLeastScale = 0x1p-30f;
  const float step = ScaleOf(input) * problem.k;
  if (!(step >= 0 && step <= kMostStep)) return 0;
  if (!(ScaleOf(output) >= kLeastScale)) return 0;
  if (!IsCode(ZeroOf(input), input) || !IsCode(ZeroOf(output), output)) {
    return 0;
  }
  // Products of two roundings are far less than a twentieth of the sum.
  const double tolerance =
      1.05 * 0x1p-24 * RoundingsOf(step, static_cast<double>(problem.count));
  return tolerance <= kGreatest ? static_cast<float>(tolerance) : 0;
}

}  // namespace tim::ops
