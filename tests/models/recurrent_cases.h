// Recurrent nodes of ONNX and their formulas in double.
#ifndef TIM_TESTS_MODELS_RECURRENT_CASES_H_
#define TIM_TESTS_MODELS_RECURRENT_CASES_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/models/node_runner.h"
#include "tests/support/status_macros.h"

namespace tim::models::onnx {

inline constexpr int kSteps = 3, kBatch = 2, kInputs = 4, kUnits = 5;

using Function = std::function<double(double)>;
using Numbers = std::vector<float>;

inline double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
inline double Tanh(double x) { return std::tanh(x); }

/// A node and what its formulas need.
struct Case {
  std::string op = "LSTM";
  int gates = 4;
  std::string direction = "forward";
  int64_t layout = 0;
  bool has_bias = true;
  bool has_states = false;
  bool has_peepholes = false;
  bool is_after = false;  ///< linear_before_reset
  bool couples = false;   ///< input_forget
  std::vector<int32_t> lengths = {kSteps, kSteps};
  bool has_constant_lengths = true;
  float clip = 0;
  bool has_constant_weights = true;
  std::vector<std::string> names;
  std::vector<float> alphas;
  /// Activations of one direction.
  std::vector<Function> functions = {Sigmoid, Tanh, Tanh};

  int directions() const { return direction == "bidirectional" ? 2 : 1; }
};

/// Numbers within -1 and 1, the same in every run.
inline Numbers SomeNumbers(size_t count, uint32_t seed) {
  Numbers numbers(count);
  uint32_t state = seed * 2654435761u + 1;
  for (float& number : numbers) {
    state = state * 1664525u + 1013904223u;
    number = static_cast<float>(state >> 8) / (1 << 23) - 1;
  }
  return numbers;
}

struct Operands {
  Numbers x, w, r, b, h, c, p;
};

inline Operands OperandsOf(const Case& one) {
  const size_t d = one.directions();
  const size_t g = one.gates;
  Operands operands;
  operands.x = SomeNumbers(kSteps * kBatch * kInputs, 1);
  operands.w = SomeNumbers(d * g * kUnits * kInputs, 2);
  operands.r = SomeNumbers(d * g * kUnits * kUnits, 3);
  operands.b = SomeNumbers(d * 2 * g * kUnits, 4);
  operands.h = SomeNumbers(d * kBatch * kUnits, 5);
  operands.c = SomeNumbers(d * kBatch * kUnits, 6);
  operands.p = SomeNumbers(d * 3 * kUnits, 7);
  if (!one.has_bias) operands.b.assign(operands.b.size(), 0);
  if (!one.has_states) {
    operands.h.assign(operands.h.size(), 0);
    operands.c.assign(operands.c.size(), 0);
  }
  if (!one.has_peepholes) operands.p.assign(operands.p.size(), 0);
  return operands;
}

struct Expected {
  std::vector<double> y, h, c;
};

/// The formulas of ONNX, an element at a time.
class Formulas {
 public:
  Formulas(const Case& one, const Operands& operands)
      : one_(one), in_(operands), d_(one.directions()) {
    out_.y.resize(kSteps * d_ * kBatch * kUnits);
    out_.h.resize(d_ * kBatch * kUnits);
    out_.c.resize(out_.h.size());
    for (int d = 0; d < d_; ++d) {
      for (int b = 0; b < kBatch; ++b) Sequence(d, b);
    }
  }
  const Expected& expected() const { return out_; }

 private:
  size_t StateAt(int d, int b, int u) const {
    const int row = one_.layout == 0 ? d * kBatch + b : b * d_ + d;
    return row * kUnits + u;
  }
  double Input(int g, int u, const float* x) const {
    double sum = Bias(0, g, u);
    const size_t row = (direction_ * one_.gates + g) * kUnits + u;
    for (int i = 0; i < kInputs; ++i) sum += in_.w[row * kInputs + i] * x[i];
    return sum;
  }
  double Recurrent(int g, int u, const std::vector<double>& h) const {
    double sum = 0;
    const size_t row = (direction_ * one_.gates + g) * kUnits + u;
    for (int i = 0; i < kUnits; ++i) sum += in_.r[row * kUnits + i] * h[i];
    return sum;
  }
  /// Bias of w (`which` 0) or r (1).
  double Bias(int which, int g, int u) const {
    return in_.b[((direction_ * 2 + which) * one_.gates + g) * kUnits + u];
  }
  double Peephole(int which, int u) const {
    return in_.p[(direction_ * 3 + which) * kUnits + u];
  }
  double Act(int which, double x) const {
    if (one_.clip > 0) {
      x = std::min<double>(std::max<double>(x, -one_.clip), one_.clip);
    }
    return one_.functions[which](x);
  }
  /// The sum of gate `g` without peepholes.
  double Gate(int g, int u, const float* x,
              const std::vector<double>& h) const {
    return Input(g, u, x) + Recurrent(g, u, h) + Bias(1, g, u);
  }

  void Sequence(int d, int b) {
    direction_ = d;
    std::vector<double> h(kUnits);
    std::vector<double> c(kUnits);
    for (int u = 0; u < kUnits; ++u) {
      h[u] = in_.h[StateAt(d, b, u)];
      c[u] = in_.c[StateAt(d, b, u)];
    }
    const bool is_reverse = one_.direction == "reverse" || d == 1;
    for (int step = 0; step < kSteps; ++step) {
      const int t = is_reverse ? kSteps - 1 - step : step;
      if (t >= one_.lengths[b]) continue;
      const int row = one_.layout == 0 ? t * kBatch + b : b * kSteps + t;
      Step(in_.x.data() + row * kInputs, &h, &c);
      const int at = one_.layout == 0 ? (t * d_ + d) * kBatch + b
                                      : (b * kSteps + t) * d_ + d;
      std::copy(h.begin(), h.end(), out_.y.begin() + at * kUnits);
    }
    for (int u = 0; u < kUnits; ++u) {
      out_.h[StateAt(d, b, u)] = h[u];
      out_.c[StateAt(d, b, u)] = c[u];
    }
  }

  void Step(const float* x, std::vector<double>* h, std::vector<double>* c) {
    const std::vector<double> before = *h;
    std::vector<double> reset(kUnits);
    for (int u = 0; u < kUnits && one_.gates == 3; ++u) {
      reset[u] = Act(0, Gate(1, u, x, before));
    }
    for (int u = 0; u < kUnits; ++u) {
      if (one_.gates == 1) (*h)[u] = Act(0, Gate(0, u, x, before));
      if (one_.gates == 3) (*h)[u] = GruUnit(u, x, before, reset);
      if (one_.gates != 4) continue;
      double& cell = (*c)[u];
      const double i = Act(0, Gate(0, u, x, before) + Peephole(0, u) * cell);
      const double f =
          one_.couples ? 1 - i
                       : Act(0, Gate(2, u, x, before) + Peephole(2, u) * cell);
      cell = f * cell + i * Act(1, Gate(3, u, x, before));
      const double o = Act(0, Gate(1, u, x, before) + Peephole(1, u) * cell);
      (*h)[u] = o * Act(2, cell);
    }
  }

  double GruUnit(int u, const float* x, const std::vector<double>& h,
                 const std::vector<double>& reset) const {
    const double z = Act(0, Gate(0, u, x, h));
    double rest = 0;
    if (one_.is_after) {
      rest = reset[u] * (Recurrent(2, u, h) + Bias(1, 2, u));
    } else {
      std::vector<double> kept(kUnits);
      for (int i = 0; i < kUnits; ++i) kept[i] = reset[i] * h[i];
      rest = Recurrent(2, u, kept) + Bias(1, 2, u);
    }
    return (1 - z) * Act(1, Input(2, u, x) + rest) + z * h[u];
  }

  const Case& one_;
  const Operands& in_;
  const int d_;
  int direction_ = 0;
  Expected out_;
};

inline NodeRunner RunnerOf(const Case& one, const Operands& in) {
  const int64_t d = one.directions();
  const int64_t g = one.gates;
  const bool major = one.layout == 0;
  NodeRunner runner(AddRecurrent, one.op, 14);
  runner.With("hidden_size", kUnits).With("direction", one.direction);
  if (one.layout != 0) runner.With("layout", one.layout);
  if (one.clip > 0) runner.With("clip", one.clip);
  if (one.is_after) runner.With("linear_before_reset", 1);
  if (one.couples) runner.With("input_forget", 1);
  if (!one.names.empty()) runner.With("activations", one.names);
  if (!one.alphas.empty()) runner.With("activation_alpha", one.alphas);
  const auto weights = [&](const Numbers& values, const Dims& dims) {
    if (one.has_constant_weights) {
      runner.Constant(values, dims);
    } else {
      runner.Input(values, dims);
    }
  };
  const Dims states = major ? Dims{d, kBatch, kUnits} : Dims{kBatch, d, kUnits};
  runner.Input(in.x, major ? Dims{kSteps, kBatch, kInputs}
                           : Dims{kBatch, kSteps, kInputs});
  weights(in.w, {d, g * kUnits, kInputs});
  weights(in.r, {d, g * kUnits, kUnits});
  if (one.has_bias) {
    weights(in.b, {d, 2 * g * kUnits});
  } else {
    runner.Absent();
  }
  if (one.has_constant_lengths) {
    runner.Constant(one.lengths, {kBatch});
  } else {
    runner.Input(one.lengths, {kBatch});
  }
  if (one.has_states) {
    runner.Input(in.h, states);
  } else {
    runner.Absent();
  }
  if (g == 4 && one.has_states) {
    runner.Input(in.c, states);
  } else if (g == 4) {
    runner.Absent();
  }
  if (one.has_peepholes) weights(in.p, {d, 3 * kUnits});
  runner.Wants(g == 4 ? std::vector<bool>{true, true, true}
                      : std::vector<bool>{true, true});
  return runner;
}

inline void CheckNear(const HostArray& array,
                      const std::vector<double>& expected, const char* what) {
  const auto values = Floats(array);
  ASSERT_OK(values);
  ASSERT_EQ(values.value().size(), expected.size()) << what;
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(values.value()[i], expected[i], 1e-5) << what << " " << i;
  }
}

inline void Check(const Case& one) {
  SCOPED_TRACE(one.op + " " + one.direction + ", layout " + StrCat(one.layout));
  const Operands operands = OperandsOf(one);
  const Formulas formulas(one, operands);
  const Expected& expected = formulas.expected();
  NodeRunner runner = RunnerOf(one, operands);
  const auto results = runner.Run();
  ASSERT_OK(results);
  const int64_t d = one.directions();
  const bool major = one.layout == 0;
  EXPECT_EQ(results.value()[0].dims, major ? Dims({kSteps, d, kBatch, kUnits})
                                           : Dims({kBatch, kSteps, d, kUnits}));
  EXPECT_EQ(results.value()[1].dims,
            major ? Dims({d, kBatch, kUnits}) : Dims({kBatch, d, kUnits}));
  CheckNear(results.value()[0], expected.y, "Y");
  CheckNear(results.value()[1], expected.h, "Y_h");
  if (one.gates == 4) CheckNear(results.value()[2], expected.c, "Y_c");
}

inline Case Gru() {
  Case one;
  one.op = "GRU";
  one.gates = 3;
  return one;
}

inline Case Rnn() {
  Case one;
  one.op = "RNN";
  one.gates = 1;
  one.functions = {Tanh};
  return one;
}

}  // namespace tim::models::onnx

#endif  // TIM_TESTS_MODELS_RECURRENT_CASES_H_
