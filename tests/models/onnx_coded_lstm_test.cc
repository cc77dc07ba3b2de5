// DynamicQuantizeLSTM beside its formulas in double.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/models/node_runner.h"
#include "tests/support/status_macros.h"

namespace tim::models::onnx {
namespace {

using ::testing::HasSubstr;

constexpr int kSteps = 3, kInputs = 2, kUnits = 2, kColumns = 4 * kUnits;

using Doubles = std::vector<double>;

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// The real values of the codes that DynamicQuantizeLinear makes of `x`.
Doubles ByCodes(const Doubles& x) {
  const double low = std::min(0.0, *std::min_element(x.begin(), x.end()));
  const double high = std::max(0.0, *std::max_element(x.begin(), x.end()));
  const double scale = high > low ? (high - low) / 255 : 1;
  const double zero = std::nearbyint(-low / scale);
  Doubles real;
  for (const double value : x) {
    const double code =
        std::clamp(std::nearbyint(value / scale) + zero, 0.0, 255.0);
    real.push_back((code - zero) * scale);
  }
  return real;
}

/// Two directions; a scale and a zero point per column, or per direction.
struct Weights {
  std::vector<int8_t> codes;  // {2, rows, kColumns}
  std::vector<float> scale;
  std::vector<int8_t> zero;
  bool is_per_column = true;

  double At(int direction, int row, int rows, int column) const {
    const int own = is_per_column ? direction * kColumns + column : direction;
    return (codes[(direction * rows + row) * kColumns + column] - zero[own]) *
           static_cast<double>(scale[own]);
  }
  Dims dims() const {
    if (is_per_column) return {2, kColumns};
    return {static_cast<int64_t>(scale.size())};
  }
};

Weights SomeWeights(int rows, bool is_per_column, int seed) {
  Weights weights;
  weights.is_per_column = is_per_column;
  for (int i = 0; i < 2 * rows * kColumns; ++i) {
    weights.codes.push_back(static_cast<int8_t>((i * 37 + seed) % 200 - 100));
  }
  for (int i = 0; i < (is_per_column ? 2 * kColumns : 2); ++i) {
    weights.scale.push_back(0.01f + 0.001f * static_cast<float>(i));
    weights.zero.push_back(static_cast<int8_t>(i - 3));
  }
  return weights;
}

struct Case {
  std::vector<float> x = {0.5f, -1, 0.25f, 2, -0.75f, 1};
  Weights w;
  Weights r;
  std::vector<float> bias;  // {2, 2 * kColumns}
};

Case CaseOf(bool is_per_column) {
  Case made;
  made.w = SomeWeights(kInputs, is_per_column, 11);
  made.r = SomeWeights(kUnits, is_per_column, 5);
  for (int i = 0; i < 4 * kColumns; ++i) {
    made.bias.push_back(0.02f * static_cast<float>(i % 9) - 0.05f);
  }
  return made;
}

/// {T, D, H}.
Doubles Expected(const Case& one) {
  const Doubles x = ByCodes({one.x.begin(), one.x.end()});
  Doubles y(kSteps * 2 * kUnits);
  for (int d = 0; d < 2; ++d) {
    Doubles h(kUnits);
    Doubles c(kUnits);
    for (int step = 0; step < kSteps; ++step) {
      const int t = d == 0 ? step : kSteps - 1 - step;
      const Doubles state = ByCodes(h);
      const auto gate = [&](int which, int unit) {
        const int column = which * kUnits + unit;
        const float* bias = one.bias.data() + d * 2 * kColumns;
        double sum = bias[column] + bias[kColumns + column];
        for (int i = 0; i < kInputs; ++i) {
          sum += x[t * kInputs + i] * one.w.At(d, i, kInputs, column);
        }
        for (int i = 0; i < kUnits; ++i) {
          sum += state[i] * one.r.At(d, i, kUnits, column);
        }
        return sum;
      };
      for (int unit = 0; unit < kUnits; ++unit) {
        c[unit] = Sigmoid(gate(2, unit)) * c[unit] +
                  Sigmoid(gate(0, unit)) * std::tanh(gate(3, unit));
        h[unit] = Sigmoid(gate(1, unit)) * std::tanh(c[unit]);
        y[(t * 2 + d) * kUnits + unit] = h[unit];
      }
    }
  }
  return y;
}

NodeRunner RunnerOf(const Case& one,
                    const std::string& direction = "bidirectional") {
  NodeRunner runner(AddRecurrent, "DynamicQuantizeLSTM", 1, "com.microsoft");
  runner.With("hidden_size", kUnits)
      .With("direction", direction)
      .Input(one.x, {kSteps, 1, kInputs})
      .Constant(one.w.codes, {2, kInputs, kColumns})
      .Constant(one.r.codes, {2, kUnits, kColumns})
      .Constant(one.bias, {2, 2 * kColumns})
      .Absent()
      .Absent()
      .Absent()
      .Absent()
      .Constant(one.w.scale, one.w.dims())
      .Constant(one.w.zero, one.w.dims())
      .Constant(one.r.scale, one.r.dims())
      .Constant(one.r.zero, one.r.dims());
  return runner;
}

TEST(OnnxCodedLstm, QuantizesInputsAndStatesByTheirRanges) {
  for (const bool is_per_column : {false, true}) {
    const Case one = CaseOf(is_per_column);
    NodeRunner runner = RunnerOf(one);
    const auto results = runner.Run();
    ASSERT_OK(results);
    const auto y = Floats((*results)[0]);
    ASSERT_OK(y);
    const Doubles expected = Expected(one);
    ASSERT_EQ(y->size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR((*y)[i], expected[i], 1e-5) << i;
    }
  }
}

TEST(OnnxCodedLstm, RefusesOperandsThatDoNotFit) {
  const Case one = CaseOf(false);
  NodeRunner forward = RunnerOf(one, "forward");
  EXPECT_THAT(forward.Run().status().message(),
              HasSubstr("operand 1 is int8 [2,2,8], constant, expected "
                        "[1,2,8]"));
  Case wrong = one;
  wrong.r.scale.push_back(1);
  wrong.r.zero.push_back(0);
  NodeRunner three = RunnerOf(wrong);
  EXPECT_THAT(three.Run().status().message(),
              HasSubstr("operand 10 is float32 [3], constant, expected [2] or "
                        "[2,8]"));
  NodeRunner absent(AddRecurrent, "DynamicQuantizeLSTM", 1, "com.microsoft");
  absent.Input(one.x, {kSteps, 1, kInputs})
      .Constant(one.w.codes, {2, kInputs, kColumns})
      .Constant(one.r.codes, {2, kUnits, kColumns});
  EXPECT_THAT(absent.Run().status().message(),
              HasSubstr("operand 8 is absent"));
}

}  // namespace
}  // namespace tim::models::onnx
