// Gradients of element-wise operations against differences of the forward
// formulas in double.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/graph_api/evaluated_op.h"

namespace tim::graph {
namespace {

using Function = std::function<double(double)>;
using Attributes = std::vector<std::pair<tim_graph_op_attr_t, AttributeValue>>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

double SoftPlusOf(double x) { return std::log1p(std::exp(x)); }
double SigmoidOf(double x) { return 1 / (1 + std::exp(-x)); }
double ClampOf(double x, double low, double high) {
  return std::min(std::max(x, low), high);
}

struct Case {
  std::string name;
  tim_graph_op_kind_t kind;
  Function forward;
  Attributes attributes = {};
  bool by_result = false;  // It has the attribute use_dst.
  bool positive = false;   // Of sources above 0 only.
};

std::vector<Case> Cases() {
  return {
      {"abs", tim_graph_op_abs_backward, [](double x) { return std::fabs(x); }},
      {"relu",
       tim_graph_op_relu_backward,
       [](double x) { return std::max(x, 0.0); },
       {},
       true},
      {"clamp",
       tim_graph_op_clamp_backward,
       [](double x) { return ClampOf(x, -1.5, 2.25); },
       {{tim_graph_op_attr_min, -1.5f}, {tim_graph_op_attr_max, 2.25f}},
       true},
      {"hard_sigmoid",
       tim_graph_op_hard_sigmoid_backward,
       [](double x) { return ClampOf(0.25 * x + 0.5, 0, 1); },
       {{tim_graph_op_attr_alpha, 0.25f}, {tim_graph_op_attr_beta, 0.5f}}},
      {"hard_swish", tim_graph_op_hard_swish_backward,
       [](double x) { return x * ClampOf(x + 3, 0, 6) / 6; }},
      {"sigmoid", tim_graph_op_sigmoid_backward, SigmoidOf, {}, true},
      {"tanh",
       tim_graph_op_tanh_backward,
       [](double x) { return std::tanh(x); },
       {},
       true},
      {"sqrt",
       tim_graph_op_sqrt_backward,
       [](double x) { return std::sqrt(x); },
       {},
       true,
       true},
      {"elu",
       tim_graph_op_elu_backward,
       [](double x) { return x >= 0 ? x : 0.75 * std::expm1(x); },
       {{tim_graph_op_attr_alpha, 0.75f}},
       true},
      {"gelu_erf", tim_graph_op_gelu_backward,
       [](double x) { return x * (1 + std::erf(x / std::sqrt(2.0))) / 2; }},
      {"gelu_tanh",
       tim_graph_op_gelu_backward,
       [](double x) {
         const double u =
             std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x);
         return x * (1 + std::tanh(u)) / 2;
       },
       {{tim_graph_op_attr_mode, std::string("gelu_tanh")}}},
      {"mish", tim_graph_op_mish_backward,
       [](double x) { return x * std::tanh(SoftPlusOf(x)); }},
      {"softplus", tim_graph_op_softplus_backward, SoftPlusOf},
      {"softplus_2",
       tim_graph_op_softplus_backward,
       [](double x) { return SoftPlusOf(2 * x) / 2; },
       {{tim_graph_op_attr_beta, 2.0f}}},
  };
}

EvaluatedOp OpOf(const Case& one, const Array& x, const Array& dd,
                 tim_graph_data_type_t type = tim_graph_f32) {
  EvaluatedOp op(one.kind);
  op.Input(x).Input(dd).Output(type);
  for (const auto& [attribute, value] : one.attributes) {
    op.Set(attribute, value);
  }
  return op;
}

// From -6 to 6, off the points where slopes change.
Array Sources(bool positive) {
  Array x = Random({5, 31}, 1);
  for (double& value : x.values) {
    value = 6 * value + 0.0039;
    if (positive) value = std::fabs(value) + 0.01;
    value = static_cast<float>(value);
  }
  return x;
}

TEST(BackwardElementwise, EqualsDifferencesOfTheForwardFormula) {
  for (const Case& one : Cases()) {
    SCOPED_TRACE(one.name);
    const Array x = Sources(one.positive);
    const Array dd = Random(x.dims, 2);
    Numbers expected;
    Array result = x;
    for (size_t i = 0; i < x.values.size(); ++i) {
      const double at = x.values[i];
      const double slope =
          (one.forward(at + 1e-5) - one.forward(at - 1e-5)) / 2e-5;
      expected.push_back(slope * dd.values[i]);
      result.values[i] = static_cast<float>(one.forward(at));
    }
    if (one.by_result) {
      ExpectNear(OpOf(one, result, dd).First().values, expected, 2e-6);
    }
    EvaluatedOp by_source = OpOf(one, x, dd);
    if (one.by_result) by_source.Set(tim_graph_op_attr_use_dst, false);
    ExpectNear(by_source.First().values, expected, 2e-6);
  }
}

TEST(BackwardElementwise, HandCheckedValues) {
  const auto run = [](tim_graph_op_kind_t kind, Numbers x, Numbers dd,
                      const Attributes& attributes = {}) {
    const auto count = static_cast<int64_t>(x.size());
    const Case one = {"", kind, nullptr, attributes};
    return OpOf(one, {{count}, std::move(x)}, {{count}, std::move(dd)})
        .First()
        .values;
  };
  EXPECT_EQ(run(tim_graph_op_abs_backward, {-2, 0, 3}, {5, 6, 7}),
            (Numbers{-5, 0, 7}));
  EXPECT_EQ(run(tim_graph_op_relu_backward, {-2, 0, 3}, {5, 6, 7}),
            (Numbers{0, 0, 7}));
  EXPECT_EQ(
      run(tim_graph_op_clamp_backward, {-1, 0, 1}, {5, 6, 7},
          {{tim_graph_op_attr_min, -1.0f}, {tim_graph_op_attr_max, 1.0f}}),
      (Numbers{0, 6, 0}));
  EXPECT_EQ(run(tim_graph_op_hard_swish_backward, {-3, 0, 3}, {5, 6, 7}),
            (Numbers{0, 3, 7}));
  EXPECT_EQ(run(tim_graph_op_sigmoid_backward, {0.5, 0.25}, {4, 16}),
            (Numbers{1, 3}));
  EXPECT_EQ(run(tim_graph_op_tanh_backward, {0.5, 1}, {4, 16}),
            (Numbers{3, 0}));
  EXPECT_EQ(run(tim_graph_op_sqrt_backward, {2, 0.5}, {4, 3}), (Numbers{1, 3}));
  EXPECT_EQ(run(tim_graph_op_elu_backward, {2, -0.5}, {4, 3},
                {{tim_graph_op_attr_alpha, 1.0f}}),
            (Numbers{4, 1.5}));
  EXPECT_EQ(run(tim_graph_op_gelu_backward, {0}, {4}), (Numbers{2}));
  EXPECT_EQ(run(tim_graph_op_softplus_backward, {0}, {4}), (Numbers{2}));
}

// Slopes at the ends: 0 and 1, no NaN.
TEST(BackwardElementwise, InfinityHasTheLimitOfTheSlope) {
  const Array ends = {{2}, {-kInfinity, kInfinity}};
  const Array ones = {{2}, {1, 1}};
  for (const Case& one : Cases()) {
    if (one.by_result || one.name == "abs" || one.name == "hard_sigmoid") {
      continue;
    }
    SCOPED_TRACE(one.name);
    ExpectNear(OpOf(one, ends, ones).First().values, {0, 1}, 1e-6);
  }
}

TEST(BackwardElementwise, NarrowTypesAreRoundedOnce) {
  for (const auto type : {tim_graph_bf16, tim_graph_f16}) {
    for (const Case& one : Cases()) {
      SCOPED_TRACE(one.name);
      const Array x = Rounded(Sources(true), type);
      const Array dd = Rounded(Random(x.dims, 2), type);
      Array wide_x = x;
      Array wide_dd = dd;
      wide_x.type = wide_dd.type = tim_graph_f32;
      const Array wide = OpOf(one, wide_x, wide_dd).First();
      EXPECT_EQ(OpOf(one, x, dd, type).First().values,
                Rounded(wide, type).values);
    }
  }
}

TEST(BackwardElementwise, RefusesOtherDims) {
  EvaluatedOp op(tim_graph_op_abs_backward);
  op.Input(Random({2, 3}, 1)).Input(Random({3}, 1)).Output();
  ExpectRefused(op.Run().status(), "expected equal ones");
}

TEST(BackwardElementwise, RefusesMissingAttributes) {
  const Array x = Random({3}, 1);
  for (const auto kind :
       {tim_graph_op_elu_backward, tim_graph_op_clamp_backward,
        tim_graph_op_hard_sigmoid_backward}) {
    EvaluatedOp op(kind);
    op.Input(x).Input(x).Output();
    EXPECT_EQ(op.Check().code(), StatusCode::kInvalidArgument);
  }
}

// ---- BiasAddBackward and PReLUBackward ----

TEST(BackwardParameters, BiasIsTheSumOverAllButChannels) {
  const Array ncx = {{1, 2, 1, 2}, {1, 2, 30, 40}};
  EvaluatedOp first(tim_graph_op_bias_add_backward);
  first.Input(ncx).Output().Set(tim_graph_op_attr_data_format,
                                std::string("NCX"));
  EXPECT_EQ(first.First().dims, (Dims{2}));
  EXPECT_EQ(first.First().values, (Numbers{3, 70}));
  EvaluatedOp last(tim_graph_op_bias_add_backward);
  last.Input(ncx).Output();
  EXPECT_EQ(last.First().values, (Numbers{31, 42}));
  EvaluatedOp flat(tim_graph_op_bias_add_backward);
  flat.Input(Random({2, 3, 4}, 1)).Output();
  ExpectRefused(flat.Run().status(), "expected 4 or more");
}

struct PreluCase {
  Dims slope;
  std::string format;
  std::function<size_t(size_t n, size_t c, size_t x)> at;
};

TEST(BackwardParameters, PreluEqualsDifferences) {
  constexpr size_t kN = 2;
  constexpr size_t kC = 3;
  constexpr size_t kX = 5;
  const std::vector<PreluCase> cases = {
      {{3}, "NCX", [](size_t, size_t c, size_t) { return c; }},
      {{5}, "NXC", [](size_t, size_t, size_t x) { return x; }},
      {{1}, "NCX", [](size_t, size_t, size_t) { return size_t{0}; }},
      {{3, 5}, "NCX", [](size_t, size_t c, size_t x) { return c * kX + x; }},
      {{2, 1, 5}, "NXC", [](size_t n, size_t, size_t x) { return n * kX + x; }},
  };
  const Array src = Random({kN, kC, kX}, 3);
  const Array dd = Random(src.dims, 4);
  for (const PreluCase& one : cases) {
    const Array slope = Random(one.slope, 5);
    const auto loss = [&](const Numbers& x, const Numbers& s) {
      double sum = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const double factor = s[one.at(i / kX / kC, i / kX % kC, i % kX)];
        sum += dd.values[i] * (x[i] >= 0 ? x[i] : factor * x[i]);
      }
      return sum;
    };
    EvaluatedOp op(tim_graph_op_prelu_backward);
    op.Input(src).Input(slope).Input(dd).Output().Output().Set(
        tim_graph_op_attr_data_format, one.format);
    const auto made = op.Run();
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    EXPECT_EQ((*made)[1].dims, one.slope);
    ExpectNear(
        (*made)[0].values,
        NumericGradient([&](const Numbers& x) { return loss(x, slope.values); },
                        src.values),
        1e-5);
    ExpectNear(
        (*made)[1].values,
        NumericGradient([&](const Numbers& s) { return loss(src.values, s); },
                        slope.values),
        1e-5);
  }
}

TEST(BackwardParameters, PreluRefusesSlopesThatDoNotFit) {
  EvaluatedOp op(tim_graph_op_prelu_backward);
  op.Input(Random({2, 3}, 1)).Input(Random({2}, 1)).Input(Random({2, 3}, 1));
  op.Output().Output();
  ExpectRefused(op.Run().status(), "cannot be broadcast");
}

}  // namespace
}  // namespace tim::graph
