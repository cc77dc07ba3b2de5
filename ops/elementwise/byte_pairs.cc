#include "ops/elementwise/byte_pairs.h"

#include <array>

#include "kernels/bytes/codes.h"
#include "kernels/elements.h"

namespace tim::ops {
namespace {

bool IsBytes(const ir::TensorDesc& desc) {
  return (desc.type == ir::DataType::kInt8 ||
          desc.type == ir::DataType::kUint8) &&
         !(desc.quantized() && desc.quantization.per_channel());
}

}  // namespace

std::optional<BytePairs> BytePairsOf(const BinaryProblem& problem,
                                     const ir::TensorDesc& y,
                                     kernels::RequantizePolicy policy) {
  const bool bytes = IsBytes(problem.a) && IsBytes(problem.b) && IsBytes(y);
  if (!bytes || problem.exact || policy.wrap || policy.to_zero) {
    return std::nullopt;
  }
  const std::array<float, 256> as = RealsOfBytes(problem.a);
  const std::array<float, 256> bs = RealsOfBytes(problem.b);
  kernels::BoundedCodes codes(y);
  for (const float a : as) {
    if (!codes.corrections()) return std::nullopt;
    for (const float b : bs) {
      codes.Add(problem.formula.binary(a, b) * problem.scale);
    }
  }
  if (!codes.corrections()) return std::nullopt;
  return BytePairs{.corrections = *codes.corrections(),
                   .linear = LinearCodesOf(problem, y)};
}

}  // namespace tim::ops
