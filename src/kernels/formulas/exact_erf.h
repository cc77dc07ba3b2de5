// C++ twin of exact_erf.clh: the same bits from the same operations.
// Compiled with -ffp-contract=off.
#ifndef TIM_KERNELS_FORMULAS_EXACT_ERF_H_
#define TIM_KERNELS_FORMULAS_EXACT_ERF_H_

#include <algorithm>
#include <cmath>

#include "kernels/exact_exp.h"

namespace tim::kernels {

/// e^(t^2 / 2) * Phi(-t), Phi the normal distribution, for 0 <= t < 15; of
/// larger ones something.
inline float ScaledNormalTail(float t) {
  const float r = 1.0f / (t + 3.0f);
  const float q = (t - 3.0f) * r;
  float g = 0x1.c4d1f6p-15f;
  for (const float c :
       {0x1.12071ep-13f, -0x1.000db2p-12f, -0x1.0e7810p-10f, 0x1.0c94c4p-10f,
        0x1.c8b7e0p-8f, -0x1.56d5a6p-7f, -0x1.832ceep-5f, 0x1.d71384p-3f,
        -0x1.04c72ap-1f, 0x1.754a76p-1f}) {
    g = std::fma(g, q, c);
  }
  return g * r;
}

/// erf(x) within 2 ulp for every float x.
inline float Erf(float x) {
  const float y = std::fabs(x);
  if (!(y >= 1.0f)) {
    float q = 0x1.49234ep-14f;
    for (const float c : {-0x1.a3dc18p-11f, 0x1.5401dcp-8f, -0x1.b7f88cp-6f,
                          0x1.ce2cf0p-4f, -0x1.81273ep-2f, 0x1.06eba8p-3f}) {
      q = std::fma(q, y * y, c);
    }
    return std::fma(x, q, x);
  }
  const float bounded = std::min(y, 8.0f);
  const float square = bounded * bounded;
  const float rest = std::fma(bounded, bounded, -square);
  const float tail = ScaledNormalTail(bounded * 0x1.6a09e6p+0f);
  return std::copysign(1.0f - 2.0f * ExpProduct(tail, -square, -rest), x);
}

/// x * Phi(x) within 7 ulp for every float x; -0 for minus infinity.
inline float GeluErf(float x) {
  const float t = std::min(std::fabs(x), 15.0f);
  const float half = 0.5f * t;
  const float square = half * t;
  const float rest = std::fma(half, t, -square);
  const float u = std::max(x, -15.0f);
  const float y = ExpProduct(u * ScaledNormalTail(t), -square, -rest);
  return x < 0.0f ? y : x >= 15.0f ? x : x - y;
}

}  // namespace tim::kernels

#endif  // TIM_KERNELS_FORMULAS_EXACT_ERF_H_
