// C++ twin of exact_log2.clh: the same bits from the same operations.
// Compiled with -ffp-contract=off.
#ifndef TIM_KERNELS_EXACT_LOG2_H_
#define TIM_KERNELS_EXACT_LOG2_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>

namespace tim::kernels {

/// log2(x) within 1.25 ulp for every float x: -infinity for 0, NaN below.
inline float Log2(float x) {
  int32_t bits = std::bit_cast<int32_t>(x);
  if (std::isnan(x) || bits == 0x7f800000) return x;
  if ((bits & 0x7fffffff) == 0) return -std::numeric_limits<float>::infinity();
  if (bits < 0) return std::numeric_limits<float>::quiet_NaN();
  float e = 0.0f;
  if (bits < 0x800000) {  // subnormal: so many units of 2^-149
    bits = std::bit_cast<int32_t>(static_cast<float>(bits));
    e = -149.0f;
  }
  // x = 2^exponent * (1 + f), sqrt(1/2) <= 1 + f < sqrt(2).
  const int32_t exponent = (bits - 0x3f3504f3) >> 23;
  e += static_cast<float>(exponent);
  const float f = std::bit_cast<float>(bits - exponent * 0x800000) - 1.0f;
  float q = 0x1.145dfcp-4f;
  for (const float c : {-0x1.de366cp-4f, 0x1.e6ea0ep-4f, -0x1.fc229cp-4f,
                        0x1.2337eep-3f, -0x1.555c4ep-3f, 0x1.99a4aep-3f,
                        -0x1.000006p-2f, 0x1.555548p-2f, -0x1.000000p-1f}) {
    q = std::fma(q, f, c);
  }
  const float rest = f * f * q;  // ln(1 + f) - f
  const float high = f * 0x1.715476p+0f;
  const float low =
      std::fma(f, 0x1.4ae0c0p-26f, std::fma(f, 0x1.715476p+0f, -high));
  const float sum = e + high;
  const float lost = high - (sum - e);
  return sum + (std::fma(rest, 0x1.715476p+0f, low) + lost);
}

}  // namespace tim::kernels

#endif  // TIM_KERNELS_EXACT_LOG2_H_
