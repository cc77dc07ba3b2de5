#include "ops/elementwise/byte_pairs.h"

#include <array>

#include "kernels/bytes/codes.h"
#include "kernels/elements.h"

namespace tim::ops {
namespace {

using Reals = std::array<float, 256>;

bool IsBytes(const ir::TensorDesc& desc) {
  return (desc.type == ir::DataType::kInt8 ||
          desc.type == ir::DataType::kUint8) &&
         !(desc.quantized() && desc.quantization.per_channel());
}

Reals RealsOf(ir::TensorDesc desc) {
  std::array<uint8_t, 256> codes;
  for (int i = 0; i < 256; ++i) codes[i] = static_cast<uint8_t>(i);
  desc.shape = ir::Shape({256});
  desc.layout = ir::Layout::Dense();
  const kernels::ElementReader reader({&desc, codes.data()});
  Reals reals;
  for (int i = 0; i < 256; ++i) reals[i] = reader.Real(i);
  return reals;
}

}  // namespace

std::optional<int> CorrectionsOfBytePairs(const BinaryProblem& problem,
                                          const ir::TensorDesc& y,
                                          kernels::RequantizePolicy policy) {
  const bool bytes = IsBytes(problem.a) && IsBytes(problem.b) && IsBytes(y);
  if (!bytes || problem.exact || policy.wrap || policy.to_zero) {
    return std::nullopt;
  }
  const Reals as = RealsOf(problem.a);
  const Reals bs = RealsOf(problem.b);
  kernels::BoundedCodes codes(y);
  for (const float a : as) {
    if (!codes.corrections()) return std::nullopt;
    for (const float b : bs) {
      codes.Add(problem.formula.binary(a, b) * problem.scale);
    }
  }
  return codes.corrections();
}

int64_t CodeOf(float real, const ir::TensorDesc& y) {
  const ir::DataTypeInfo& info = ir::Info(y.type);
  const bool quantized = y.quantized();
  const float scale = quantized ? y.quantization.Scale() : 1.0f;
  const auto zero =
      static_cast<float>(quantized ? y.quantization.ZeroPoint() : 0);
  return kernels::RoundToCode(real / scale + zero, info.min, info.max,
                              info.bits, {});
}

}  // namespace tim::ops
