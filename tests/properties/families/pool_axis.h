// What the descriptions of Pool1d and Pool2d share.
#ifndef TIM_TESTS_PROPERTIES_FAMILIES_POOL_AXIS_H_
#define TIM_TESTS_PROPERTIES_FAMILIES_POOL_AXIS_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/properties/case_rng.h"

namespace tim::testing {

/// Values of `padding`.
enum PoolPadding : int64_t { kNone = -1, kAuto = 0, kValid = 1, kSame = 2 };

inline std::vector<std::string> PoolTypes() {
  return {
      "f32>f32",   "f16>f16", "u8a>u8a", "i8a>i8a",  "i16a>i16a",
      "i8d>i8d",   "f16>u8a", "i8a>f16", "u8a>i16a", "i16d>f32",
      "bf16>bf16", "f64>f32", "u4a>u8a", "i8c>f32",  "i32>i32",
  };
}

/// Extents along one axis, as the operator's page states them.
struct PoolCaseAxis {
  int64_t input = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t front = 0;
  int64_t back = 0;

  int64_t Output(int64_t padding, bool ceiling) const {
    if (padding == kSame) return (input + stride - 1) / stride;
    const int64_t pads = padding == kValid ? 0 : front + back;
    const int64_t room = input + pads - kernel;
    return (ceiling ? (room + stride - 1) / stride : room / stride) + 1;
  }
};

inline PoolCaseAxis RandomPoolAxis(CaseRng& rng) {
  PoolCaseAxis axis;
  axis.input = rng.Extent();
  axis.kernel = std::min<int64_t>(rng.Int(1, 5), axis.input);
  axis.stride = rng.Int(1, 3);
  axis.front = rng.Int(0, 2);
  axis.back = rng.Int(0, 2);
  return axis;
}

}  // namespace tim::testing

#endif  // TIM_TESTS_PROPERTIES_FAMILIES_POOL_AXIS_H_
