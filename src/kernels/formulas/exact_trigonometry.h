// C++ twin of exact_trigonometry.clh: the same bits from the same operations.
// Compiled with -ffp-contract=off.
#ifndef TIM_KERNELS_FORMULAS_EXACT_TRIGONOMETRY_H_
#define TIM_KERNELS_FORMULAS_EXACT_TRIGONOMETRY_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tim::kernels {

/// x = quarters * pi / 2 + rest, |rest| <= pi / 4 and a little; of `quarters`
/// the two low bits.
struct ReducedAngle {
  float rest;
  int quarters;
};

/// |x| <= 2^15: by subtraction, pi / 2 in three parts.
inline ReducedAngle ReduceSmallAngle(float x) {
  const float n = std::nearbyintf(x * 0x1.45f306p-1f);
  float rest = std::fma(n, -0x1.921fb6p+0f, x);
  rest = std::fma(n, 0x1.777a5cp-25f, rest);
  rest = std::fma(n, 0x1.ee59dap-50f, rest);
  return {rest, static_cast<int>(n)};
}

/// 2^15 <= |x| < infinity: by the bits of 2 / pi that matter (Payne and Hanek).
inline ReducedAngle ReduceLargeAngle(float x) {
  static constexpr uint32_t kTwoOverPi[] = {0,          0xa2f9836e, 0x4e441529,
                                            0xfc2757d1, 0xf534ddc0, 0xdb629599,
                                            0x3c439041, 0xfe5163ab};
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint64_t mantissa = (bits & 0x7fffff) | 0x800000;
  const int first = static_cast<int>(bits >> 23 & 0xff) - 120;
  const auto word = [&](int i) -> uint64_t {
    const int at = first / 32 + i;
    const uint64_t two = uint64_t{kTwoOverPi[at]} << 32 | kTwoOverPi[at + 1];
    return two << first % 32 >> 32;
  };
  // Quarters of a turn, of which two bits stand before the point.
  const uint64_t turn = (mantissa * word(0) << 32) + mantissa * word(1) +
                        (mantissa * word(2) >> 32);
  const uint64_t quarters = (turn + (uint64_t{1} << 61)) >> 62;
  const auto fraction = static_cast<int64_t>(turn - (quarters << 62));
  const auto high = static_cast<float>(fraction);
  const auto low = static_cast<float>(fraction - static_cast<int64_t>(high));
  const float rest =
      std::fma(high, 0x1.921fb6p-62f,
               std::fma(high, -0x1.777a5cp-87f, low * 0x1.921fb6p-62f));
  const bool negative = bits >> 31 != 0;
  return {negative ? -rest : rest,
          negative ? -static_cast<int>(quarters) : static_cast<int>(quarters)};
}

/// Sine and cosine of an angle within pi / 4.
inline float SinOfRest(float r) {
  const float z = r * r;
  float q = -1.9515295891e-4f;
  q = std::fma(q, z, 8.3321608736e-3f);
  q = std::fma(q, z, -1.6666654611e-1f);
  return std::fma(q * z, r, r);
}
inline float CosOfRest(float r) {
  const float z = r * r;
  float q = 2.443315711809948e-5f;
  q = std::fma(q, z, -1.388731625493765e-3f);
  q = std::fma(q, z, 4.166664568298827e-2f);
  return std::fma(q * z, z, std::fma(-0.5f, z, 1.0f));
}

inline ReducedAngle ReduceAngle(float x) {
  return std::fabs(x) <= 0x1p15f ? ReduceSmallAngle(x) : ReduceLargeAngle(x);
}

/// sin(x + quarters * pi / 2); NaN where x is infinite.
inline float SinPlus(float x, int more) {
  if (!std::isfinite(x)) return std::numeric_limits<float>::quiet_NaN();
  const auto [rest, quarters] = ReduceAngle(x);
  const int n = quarters + more;
  const float y = n & 1 ? CosOfRest(rest) : SinOfRest(rest);
  return n & 2 ? -y : y;
}

/// Within 2 ulp for every float x, in radians.
inline float Sin(float x) { return SinPlus(x, 0); }
inline float Cos(float x) { return SinPlus(x, 1); }

/// Within 4 ulp for every float x, in radians.
inline float Tan(float x) {
  if (!std::isfinite(x)) return std::numeric_limits<float>::quiet_NaN();
  const auto [rest, quarters] = ReduceAngle(x);
  const float s = SinOfRest(rest);
  const float c = CosOfRest(rest);
  return quarters & 1 ? -c / s : s / c;
}

/// Within 3 ulp for every float x.
inline float Atan(float x) {
  const float a = std::fabs(x);
  const bool large = a > 2.41421356f;
  const bool middle = a > 0.41421356f;
  const float numerator = large ? -1.0f : middle ? a - 1.0f : a;
  const float denominator = large ? a : middle ? a + 1.0f : 1.0f;
  const float first = large ? 0x1.921fb6p+0f : middle ? 0x1.921fb6p-1f : 0.0f;
  const float t = numerator / denominator;
  const float z = t * t;
  float q = 8.05374449538e-2f;
  q = std::fma(q, z, -1.38776856032e-1f);
  q = std::fma(q, z, 1.99777106478e-1f);
  q = std::fma(q, z, -3.33329491539e-1f);
  const float y = std::fma(q * z, t, t);
  return std::copysign(first + (y + first * -0x1.de12cap-26f), x);
}

}  // namespace tim::kernels

#endif  // TIM_KERNELS_FORMULAS_EXACT_TRIGONOMETRY_H_
