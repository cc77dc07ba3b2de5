// C++ twin of exact_log.clh: the same bits from the same operations.
// Compiled with -ffp-contract=off.
#ifndef TIM_KERNELS_FORMULAS_EXACT_LOG_H_
#define TIM_KERNELS_FORMULAS_EXACT_LOG_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/exact_exp.h"

namespace tim::kernels {

/// Of a positive number, as fraction * 2^exponent with a fraction in
/// [sqrt(1/2), sqrt(2)).
struct LogParts {
  float fraction;
  int exponent;
};

inline LogParts SplitForLog(float x) {
  int exponent = 0;
  const float fraction = std::frexp(x, &exponent);  // in [1/2, 1)
  if (fraction < 0x1.6a09e6p-1f) return {fraction * 2.0f, exponent - 1};
  return {fraction, exponent};
}

/// ln(1 + f) + n * ln(2) for 1 + f in [sqrt(1/2), sqrt(2)).
inline float LogOfParts(float f, float n) {
  float q = 7.0376836292e-2f;
  for (const float c : {-1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f,
                        1.4249322787e-1f, -1.6668057665e-1f, 2.0000714765e-1f,
                        -2.4999993993e-1f, 3.3333331174e-1f}) {
    q = std::fma(q, f, c);
  }
  const float square = f * f;
  float y = q * f * square;
  y = std::fma(n, -2.12194440e-4f, y);
  y = std::fma(-0.5f, square, y);
  return std::fma(n, 0.693359375f, f + y);
}

/// ln(x) within 2 ulp for every float x; NaN where x < 0.
inline float Log(float x) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (x == 0.0f) return -kInfinity;
  if (x < 0.0f) return std::numeric_limits<float>::quiet_NaN();
  if (!(x < kInfinity)) return x;
  const auto [fraction, exponent] = SplitForLog(x);
  return LogOfParts(fraction - 1.0f, static_cast<float>(exponent));
}

/// ln(1 + x) within 2 ulp for x < 2^64; NaN where x < -1.
inline float Log1p(float x) {
  const float u = 1.0f + x;
  if (u == 0.0f) return -std::numeric_limits<float>::infinity();
  if (!(u > 0.0f)) return std::numeric_limits<float>::quiet_NaN();
  const int exponent = SplitForLog(u).exponent;
  const float scale = PowerOf2(-exponent);
  const float f = std::fma(x, scale, scale - 1.0f);
  return LogOfParts(f, static_cast<float>(exponent));
}

/// ln(1 + e^x) within 3 ulp for every float x.
inline float Softplus(float x) {
  if (x < -17.0f) return Exp(x);
  if (!(x <= 17.0f)) return x;
  return (x > 0.0f ? x : 0.0f) + Log1p(Exp(-std::fabs(x)));
}

/// artanh(x) within 3 ulp for every float x; NaN where |x| > 1.
inline float Atanh(float x) {
  const float magnitude = std::fabs(x);
  if (!(magnitude >= 0x1p-12f)) return x;
  const float bounded = std::min(magnitude, 2.0f);
  const float y = 0.5f * (Log1p(bounded) - Log1p(-bounded));
  return std::copysign(y, x);
}

/// arcosh(x) within 3 ulp for every float x; NaN where x < 1.
inline float Acosh(float x) {
  if (x >= 0x1p13f) {
    if (!(x < std::numeric_limits<float>::infinity())) return x;
    const auto [fraction, exponent] = SplitForLog(x);
    return LogOfParts(fraction - 1.0f, static_cast<float>(exponent + 1));
  }
  const float t = x - 1.0f;
  if (!(t >= 0.0f)) return std::numeric_limits<float>::quiet_NaN();
  return Log1p(t + std::sqrt(t * (t + 2.0f)));
}

}  // namespace tim::kernels

#endif  // TIM_KERNELS_FORMULAS_EXACT_LOG_H_
