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

/// Of e^(x + rest), `rest` less than an ulp of x.
inline ReducedExp ReduceExp(float x, float rest = 0.0f) {
  const float n = std::nearbyintf(x * 0x1.715476p+0f);
  const float high = std::fma(n, -0x1.62e430p-1f, x);
  const float r = std::fma(n, 0x1.05c610p-29f, high) + rest;
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

/// factor * e^(x + rest) for x <= 0, where the product is rounded once if it is
/// subnormal; a zero of the factor's sign below -112.
inline float ExpProduct(float factor, float x, float rest = 0.0f) {
  const auto [p, n] = ReduceExp(std::max(x, -112.0f), x < -112 ? 0.0f : rest);
  const int exponent = std::isnan(n) ? 0 : static_cast<int>(n);
  const int half = exponent >> 1;
  const float y =
      factor * (1.0f + p) * PowerOf2(half) * PowerOf2(exponent - half);
  return x < -112.0f ? std::copysign(0.0f, factor) : y;
}

/// e^x - 1 within 2 ulp for every float x.
inline float Expm1(float x) {
  if (!(x > -20.0f && x < 89.0f)) {
    if (x <= -20.0f) return -1.0f;
    return x >= 89.0f ? std::numeric_limits<float>::infinity() : x;
  }
  const auto [p, n] = ReduceExp(x);
  if (n == 0.0f) return p;
  const float half = PowerOf2(static_cast<int>(n) - 1);  // 2^n may be too large
  return std::fma(half, p, half - 0.5f) * 2.0f;
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

/// x / (1 + e^-x) within 4 ulp for every float x; -0 for minus infinity.
inline float Swish(float x) {
  return x < -17.0f ? ExpProduct(std::max(x, -120.0f), x) : x * Sigmoid(x);
}

/// x * tanh(ln(1 + e^x)) within 5 ulp for every float x; -0 for minus infinity.
inline float Mish(float x) {
  if (x < -17.0f) return ExpProduct(std::max(x, -120.0f), x);
  if (!(x < 17.0f)) return x;
  const float e = Exp(x);
  const float n = e * (e + 2.0f);
  return x * (n / (n + 2.0f));
}

/// x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2 within 5 ulp for
/// every float x; -0 for minus infinity.  It is x / (1 + e^-v), where v has a
/// low part.
inline float GeluTanh(float x) {
  const float u = std::clamp(x, -16.0f, 16.0f);
  const float square = u * u;
  const float square_rest = std::fma(u, u, -square);
  const float b = 0x1.2444f2p-4f * square;
  const float b_rest =
      std::fma(0x1.2444f2p-4f, square, -b) +
      (0x1.2444f2p-4f * square_rest + 0x1.49b16ap-29f * square);
  const float slope = b + 0x1.988454p+0f;
  const float part = slope - b;
  const float slope_rest = ((b - (slope - part)) + (0x1.988454p+0f - part)) +
                           (b_rest + -0x1.857936p-25f);
  const float v = u * slope;
  const float rest = std::fma(u, slope, -v) + u * slope_rest;
  if (v < -17.0f) return ExpProduct(u, v, rest);
  const float s = Sigmoid(v);
  return x * (s + s * (1.0f - s) * rest);
}

}  // namespace tim::kernels

#endif  // TIM_KERNELS_EXACT_EXP_H_
