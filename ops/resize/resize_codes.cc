#include "ops/resize/resize_codes.h"

#include <algorithm>
#include <cmath>

#include "kernels/bytes/codes.h"

namespace tim::ops {
namespace {

// float32 holds integers of 24 bits; a code less a zero point has up to 10.
constexpr int kMostFractionBits = 14;
// 65,281 blends of all codes.
constexpr int kMostTriedBits = 8;

// Bits behind the point that all weights fit, or more than any may have.
int FractionBits(const std::vector<ResizeSource>& sources) {
  int bits = 0;
  for (const ResizeSource& source : sources) {
    while (bits <= kMostFractionBits &&
           std::ldexp(source.weight, bits) !=
               std::trunc(std::ldexp(source.weight, bits))) {
      ++bits;
    }
  }
  return bits;
}

// Whether one rounding gives the same codes, of blends of codes that have so
// many bits behind the point.
bool RoundsOnce(const ir::TensorDesc& input, const ir::TensorDesc& output,
                int bits) {
  const BlendScale scale = BlendScaleOf(input, output);
  const auto zero = static_cast<float>(scale.zero);
  const auto low = static_cast<float>(ir::Info(output.type).min);
  const auto high = static_cast<float>(ir::Info(output.type).max);
  const auto code = [&](float units) {
    return std::clamp(std::nearbyintf(units), low, high);
  };
  const int64_t first = (ir::Info(input.type).min - scale.in_zero) << bits;
  const int64_t last = (ir::Info(input.type).max - scale.in_zero) << bits;
  const float step = std::ldexp(1.0f, -bits);
  for (int64_t i = first; i <= last; ++i) {
    const float blend = static_cast<float>(i) * step;
    const float units = blend * scale.multiplier;
    if (code(units + zero) != code(std::fma(blend, scale.multiplier, zero))) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<CodeBlends> CodeBlendsOf(const ir::TensorDesc& input,
                                       const ir::TensorDesc& output,
                                       const ResizeMap& map) {
  if (!kernels::AreBoundedCodes(input, output)) return std::nullopt;
  const int bits = FractionBits(map.w) + FractionBits(map.h);
  if (bits > kMostFractionBits) return CodeBlends();
  return CodeBlends{
      .exact = true,
      .fused = bits <= kMostTriedBits && RoundsOnce(input, output, bits)};
}

}  // namespace tim::ops
