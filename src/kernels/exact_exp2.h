// C++ twin of exact_exp2.clh: the same bits, as both are correctly rounded.
// Compiled with -ffp-contract=off.
#ifndef TIM_KERNELS_EXACT_EXP2_H_
#define TIM_KERNELS_EXACT_EXP2_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tim::kernels {

/// 2^t for -150 < t < 128 in 64-bit fixed point: what Exp2 falls back to.
inline float Exp2Exact(float t) {
  // ln(2)^k / k! in units of 2^-62, k = 14 … 0.
  constexpr int64_t kCoefficients[] = {
      0x4c526,           0x605865,           0x70ef594,
      0x7a32b1cd,        0x7933d4563,        0x6d494f4e58,
      0x58b0088e972,     0x3ff97f8b1162,     0x2861225f0d8f1,
      0x15d87fe78a6731,  0x9d955b7dd273b9,   0x38d611ae09417f1,
      0xf5fdeffc162c754, 0x2c5c85fdf473de6b, 0x4000000000000000};
  const float n = std::nearbyintf(t);
  const int64_t f = static_cast<int64_t>((t - n) * 0x1p62f) * 2;
  int64_t v = 0;
  for (const int64_t coefficient : kCoefficients) {
    const auto high =
        static_cast<int64_t>((static_cast<__int128>(v) * f) >> 64);
    v = high * 2 + coefficient;
  }
  const int below_one = v < 0x4000000000000000;
  const int exponent = std::max(static_cast<int>(n) - below_one, -126);
  const int shift = exponent + 39 - static_cast<int>(n);
  const auto u = static_cast<uint64_t>(v);
  const uint64_t odd = (u >> shift) & 1;
  const uint64_t k = (u + ((uint64_t{1} << (shift - 1)) - 1) + odd) >> shift;
  return std::bit_cast<float>((exponent + 126) * 0x800000 +
                              static_cast<int>(k));
}

/// The unevaluated sum of two floats.
struct FloatPair {
  float high;
  float low;
};

/// 2^f for |f| <= 0.5 with a relative error below 2^-41.4.
inline FloatPair Exp2Pair(float f) {
  constexpr float kTail[] = {0x1.e4cf52p-28f, 0x1.b5253ep-24f, 0x1.62c022p-20f,
                             0x1.ffcbfcp-17f, 0x1.430912p-13f};
  constexpr FloatPair kPairs[] = {
      {0x1.5d87fep-10f, 0x1.e299ccp-36f}, {0x1.3b2ab6p-7f, 0x1.f749cep-32f},
      {0x1.c6b08ep-5f, -0x1.1f6be8p-30f}, {0x1.ebfbe0p-3f, -0x1.f4e9c6p-33f},
      {0x1.62e430p-1f, -0x1.05c610p-29f}, {1.0f, 0.0f}};
  float h = 0x1.e8cac8p-32f;
  for (const float c : kTail) h = std::fma(f, h, c);
  float l = 0.0f;
  for (const FloatPair& c : kPairs) {
    const float product = f * h;
    const float product_low = std::fma(f, l, std::fma(f, h, -product));
    h = product + c.high;
    l = (product - (h - c.high)) + (product_low + c.low);
  }
  const float sum = h + l;
  return {sum, l - (sum - h)};
}

/// 2^t, correctly rounded for every float t: 0 up to -150, subnormal up to
/// -126, infinite from 128, NaN for NaN.
inline float Exp2(float t) {
  if (!(t > -150.0f && t < 128.0f)) {
    if (t <= -150.0f) return 0.0f;
    return t >= 128.0f ? std::numeric_limits<float>::infinity() : t * 0.0f;
  }
  const float n = std::nearbyintf(t);
  const FloatPair y = Exp2Pair(t - n);
  if (t < -126.0f ||
      y.high + (y.low - 0x1p-40f) != y.high + (y.low + 0x1p-40f)) {
    return Exp2Exact(t);
  }
  return std::bit_cast<float>(std::bit_cast<int32_t>(y.high) +
                              static_cast<int32_t>(n) * 0x800000);
}

}  // namespace tim::kernels

#endif  // TIM_KERNELS_EXACT_EXP2_H_
