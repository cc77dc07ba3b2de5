// C++ twin of exact_exp.clh: the same bits from the same operations.
// Compiled with -ffp-contract=off.
#ifndef TIM_KERNELS_EXACT_EXP_H_
#define TIM_KERNELS_EXACT_EXP_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tim::kernels {

/// 2^n, -127 < n < 128.
inline float PowerOf2(int n) {
  return std::bit_cast<float>((n + 127) * 0x800000);
}

/// p and n of e^x = 2^n * (1 + p), |p| < 0.42, for |x| < 105.
struct ReducedExp {
  float p;
  float n;
};

inline ReducedExp ReduceExp(float x) {
  const float n = std::nearbyintf(x * 0x1.715476p+0f);
  const float r = std::fma(n, 0x1.05c610p-29f, std::fma(n, -0x1.62e430p-1f, x));
  float q = 0x1.a12528p-13f;
  for (const float c : {0x1.6d4362p-10f, 0x1.1110e0p-7f, 0x1.5554e8p-5f,
                        0x1.555556p-3f, 0x1.000000p-1f}) {
    q = std::fma(q, r, c);
  }
  return {std::fma(r * r, q, r), n};
}

/// e^x within 1 ulp for every float x.
inline float Exp(float x) {
  if (!(x > -104.0f && x < 89.0f)) {
    if (x <= -104.0f) return 0.0f;
    return x >= 89.0f ? std::numeric_limits<float>::infinity() : x;
  }
  const auto [p, n] = ReduceExp(x);
  const int exponent = static_cast<int>(n);
  const int half = exponent >> 1;  // 2^n may be no normal number
  return (1.0f + p) * PowerOf2(half) * PowerOf2(exponent - half);
}

/// 1 / (1 + e^-x) within 3 ulp for every float x.
inline float Sigmoid(float x) {
  const float z = Exp(-std::fabs(x));
  return (x >= 0.0f ? 1.0f : z) / (1.0f + z);
}

/// tanh(x) within 3 ulp for every float x.
inline float Tanh(float x) {
  const float magnitude = std::fabs(x);
  if (!(magnitude >= 0x1p-12f)) return x;
  // From 10 on the result is 1.
  const auto [p, n] = ReduceExp(-2.0f * std::min(magnitude, 10.0f));
  const float power = PowerOf2(static_cast<int>(n));
  const float e = std::fma(power, p, power - 1.0f);  // e^(-2|x|) - 1
  return std::copysign(e / (2.0f + e), x);
}

}  // namespace tim::kernels

#endif  // TIM_KERNELS_EXACT_EXP_H_
