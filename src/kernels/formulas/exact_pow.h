// C++ twin of exact_pow.clh: the same bits from the same operations.
// Compiled with -ffp-contract=off.
#ifndef TIM_KERNELS_FORMULAS_EXACT_POW_H_
#define TIM_KERNELS_FORMULAS_EXACT_POW_H_

#include <cmath>
#include <limits>

#include "kernels/exact_exp.h"
#include "kernels/exact_exp2.h"
#include "kernels/formulas/exact_log.h"

namespace tim::kernels {

/// log2(x) of a positive number, with a relative error below 2^-35.
inline FloatPair Log2Pair(float x) {
  constexpr float kTail[] = {0x1.0f6250p-3f,  -0x1.13b87cp-3f, 0x1.0acdf8p-3f,
                             -0x1.23d656p-3f, 0x1.481facp-3f,  -0x1.7188d2p-3f};
  constexpr FloatPair kPairs[] = {
      {0x1.a61b7ep-3f, -0x1.b4cfbcp-30f}, {-0x1.ec6f2ep-3f, -0x1.b28baap-33f},
      {0x1.2776b6p-2f, 0x1.9a3e30p-27f},  {-0x1.715478p-2f, -0x1.106064p-27f},
      {0x1.ec709ep-2f, -0x1.cc3eb4p-30f}, {-0x1.715476p-1f, -0x1.46dc36p-27f},
      {0x1.715476p+0f, 0x1.4ad63ep-26f}};
  const auto [fraction, exponent] = SplitForLog(x);
  const float f = fraction - 1.0f;
  float h = -0x1.1da69ep-4f;
  for (const float c : kTail) h = std::fma(f, h, c);
  float l = 0.0f;
  for (const FloatPair& c : kPairs) {
    const float product = f * h;
    const float product_low = std::fma(f, l, std::fma(f, h, -product));
    h = product + c.high;
    l = (product - (h - c.high)) + (product_low + c.low);
  }
  const float high = f * h;
  const float low = std::fma(f, l, std::fma(f, h, -high));
  const auto n = static_cast<float>(exponent);
  const float sum = n + high;
  return {sum, (high - (sum - n)) + low};
}

/// 2^(t + rest), `rest` less than an ulp of t; 0 or infinite where |t| > 200.
inline float Exp2Sum(float t, float rest) {
  const float x = std::clamp(t, -200.0f, 200.0f);
  const float n = std::nearbyintf(x);
  const float f = (x - n) + (x == t ? rest : 0.0f);
  float q = 0x1.ffc310p-17f;
  for (const float c : {0x1.443ef8p-13f, 0x1.5d88c2p-10f, 0x1.3b2a1cp-7f,
                        0x1.c6b08cp-5f, 0x1.ebfbe0p-3f, -0x1.02c872p-29f}) {
    q = std::fma(q, f, c);
  }
  const float p = std::fma(f, 0x1.62e430p-1f, f * q);
  const int exponent = static_cast<int>(n);
  const int half = exponent >> 1;
  return (1.0f + p) * PowerOf2(half) * PowerOf2(exponent - half);
}

/// Whether a float is an integer, and which kind.
enum class Parity : uint8_t { kNone, kEven, kOdd };
inline Parity ParityOf(float y) {
  if (!(std::fabs(y) < 0x1p24f)) return Parity::kEven;  // infinities, too
  const int integer = static_cast<int>(y);
  if (static_cast<float>(integer) != y) return Parity::kNone;
  return (integer & 1) != 0 ? Parity::kOdd : Parity::kEven;
}

/// x^y within 1 ulp for all floats, with the special cases of C's pow.
inline float Pow(float x, float y) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (y == 0.0f || x == 1.0f) return 1.0f;
  if (std::isnan(x) || std::isnan(y)) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  const float magnitude = std::fabs(x);
  const Parity parity = ParityOf(y);
  float power = 0.0f;
  if (magnitude == 0.0f || magnitude == kInfinity) {
    power = (magnitude == 0.0f) == (y < 0.0f) ? kInfinity : 0.0f;
  } else if (x < 0.0f && parity == Parity::kNone) {
    return std::numeric_limits<float>::quiet_NaN();
  } else {
    const FloatPair log = Log2Pair(magnitude);
    const float exponent = std::clamp(y, -0x1p32f, 0x1p32f);
    const float t = exponent * log.high;
    const float rest = std::fma(exponent, log.high, -t) + exponent * log.low;
    power = Exp2Sum(t, rest);
  }
  return std::signbit(x) && parity == Parity::kOdd ? -power : power;
}

}  // namespace tim::kernels

#endif  // TIM_KERNELS_FORMULAS_EXACT_POW_H_
