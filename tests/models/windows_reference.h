// Convolutions and pools written from their formulas, over three axes.
#ifndef TIM_TESTS_MODELS_WINDOWS_REFERENCE_H_
#define TIM_TESTS_MODELS_WINDOWS_REFERENCE_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "models/build/value.h"

namespace tim::models::onnx {

/// Windows over D, H and W; axes that a case does not have are of extent 1.
struct ReferenceWindows {
  using Axes = std::array<int64_t, 3>;
  Axes kernel = {1, 1, 1};
  Axes strides = {1, 1, 1};
  Axes dilations = {1, 1, 1};
  Axes before = {0, 0, 0};
  Axes output = {1, 1, 1};
};

/// Calls visit(place in the plane of the input, or -1 outside of it, index in
/// the kernel) for every cell of the window at `at`.
inline void VisitWindow(const ReferenceWindows& windows,
                        const ReferenceWindows::Axes& input,
                        const ReferenceWindows::Axes& at,
                        const std::function<void(int64_t, int64_t)>& visit) {
  const auto& k = windows.kernel;
  for (int64_t cell = 0; cell < k[0] * k[1] * k[2]; ++cell) {
    const ReferenceWindows::Axes tap = {cell / (k[1] * k[2]),
                                        cell / k[2] % k[1], cell % k[2]};
    int64_t place = 0;
    for (size_t i = 0; i < 3; ++i) {
      const int64_t x = at[i] * windows.strides[i] - windows.before[i] +
                        tap[i] * windows.dilations[i];
      if (x < 0 || x >= input[i]) place = -1;
      if (place >= 0) place = place * input[i] + x;
    }
    visit(place, cell);
  }
}

/// x [N, C, plane], weights [O, C / group, kernel], bias [O] or empty.
inline std::vector<float> ConvolutionReference(
    const std::vector<float>& x, const std::vector<float>& weights,
    const std::vector<float>& bias, int64_t batch, int64_t channels,
    int64_t outputs, int64_t group, const ReferenceWindows::Axes& input,
    const ReferenceWindows& windows) {
  const int64_t plane = input[0] * input[1] * input[2];
  const int64_t cells =
      windows.kernel[0] * windows.kernel[1] * windows.kernel[2];
  const auto& out = windows.output;
  std::vector<float> results;
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t o = 0; o < outputs; ++o) {
      for (int64_t i = 0; i < out[0] * out[1] * out[2]; ++i) {
        double sum = bias.empty() ? 0.0 : bias[o];
        const int64_t own = channels / group;
        for (int64_t c = 0; c < own; ++c) {
          const int64_t from = o / (outputs / group) * own + c;
          VisitWindow(windows, input,
                      {i / (out[1] * out[2]), i / out[2] % out[1], i % out[2]},
                      [&](int64_t place, int64_t cell) {
                        if (place < 0) return;
                        sum += static_cast<double>(
                                   x[(n * channels + from) * plane + place]) *
                               weights[(o * own + c) * cells + cell];
                      });
        }
        results.push_back(static_cast<float>(sum));
      }
    }
  }
  return results;
}

/// Small numbers that are exact in any order of summing, from a rule.
inline std::vector<float> SmallNumbers(int64_t count, int seed) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>((i * 7 + seed * 13) % 11 - 5));
  }
  return values;
}

}  // namespace tim::models::onnx

#endif  // TIM_TESTS_MODELS_WINDOWS_REFERENCE_H_
