// Extents of convolutions along one spatial axis for their tests.
#ifndef TIM_TESTS_PROPERTIES_FAMILIES_CONV_AXIS_H_
#define TIM_TESTS_PROPERTIES_FAMILIES_CONV_AXIS_H_

#include <algorithm>
#include <cstdint>

#include "tests/properties/case_rng.h"
#include "tests/support/data/conv2d_attributes.h"

namespace tim::testing {

/// As the operator's page states them.
struct ConvCaseAxis {
  int64_t input = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t front = 0;
  int64_t back = 0;

  int64_t Output(int64_t padding) const {
    if (padding == kSame) return (input + stride - 1) / stride;
    const int64_t pads = padding == kValid ? 0 : front + back;
    const int64_t span = (kernel - 1) * std::max<int64_t>(dilation, 1) + 1;
    return (input + pads - span) / stride + 1;
  }
};

/// An axis whose kernel fits the input without padding.
inline ConvCaseAxis RandomConvAxis(CaseRng& rng) {
  ConvCaseAxis axis;
  axis.input = rng.Extent();
  axis.stride = rng.Int(1, 3);
  axis.dilation = rng.OneIn(4) ? rng.Int(0, 2) : 1;
  axis.kernel = std::min<int64_t>(
      rng.Int(1, 5),
      (axis.input - 1) / std::max<int64_t>(axis.dilation, 1) + 1);
  axis.front = rng.Int(0, 2);
  axis.back = rng.Int(0, 2);
  return axis;
}

}  // namespace tim::testing

#endif  // TIM_TESTS_PROPERTIES_FAMILIES_CONV_AXIS_H_
