// C++ twin of requantize.clh: the same bits from the same operations.
// Compiled with -ffp-contract=off.
#ifndef TIM_KERNELS_REQUANTIZE_H_
#define TIM_KERNELS_REQUANTIZE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tim::kernels {

/// How real results become codes (Operation::SetRoundingPolicy).
struct RequantizePolicy {
  bool wrap = false;     ///< Keep the low bits instead of saturating.
  bool to_zero = false;  ///< Truncate instead of rounding half to even.
};

/// Saturating conversion of an integral float; NaN gives 0.
inline int64_t FloatToInt64(float value) {
  if (std::isnan(value)) return 0;
  if (value >= 0x1p63f) return std::numeric_limits<int64_t>::max();
  if (value < -0x1p63f) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

/// `code` within [min, max], the range of a type of `bits` bits.
inline int64_t FitCode(int64_t code, int64_t min, int64_t max, int bits,
                       bool wrap) {
  if (!wrap || bits >= 64) return std::clamp(code, min, max);
  const uint64_t low = static_cast<uint64_t>(code) << (64 - bits);
  return min < 0 ? static_cast<int64_t>(low) >> (64 - bits)
                 : static_cast<int64_t>(low >> (64 - bits));
}

/// A real number in units of codes to a code.
inline int64_t RoundToCode(float value, int64_t min, int64_t max, int bits,
                           RequantizePolicy policy) {
  const float rounded =
      policy.to_zero ? std::trunc(value) : std::nearbyintf(value);
  return FitCode(FloatToInt64(rounded), min, max, bits, policy.wrap);
}

}  // namespace tim::kernels

#endif  // TIM_KERNELS_REQUANTIZE_H_
