// Values, shapes and flops of texts against loops written by hand.
#include "expr/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "tests/expr/run_text.h"
#include "tests/expr/texts.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using Values = std::vector<double>;
using Index = std::vector<int64_t>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double At(const Array& array, const Index& index) {
  int64_t at = 0;
  for (size_t i = 0; i < index.size(); ++i) {
    at = at * array.dims[i] + index[i];
  }
  return array.values[at];
}

bool Inside(const Array& array, const Index& index) {
  for (size_t i = 0; i < index.size(); ++i) {
    if (index[i] < 0 || index[i] >= array.dims[i]) return false;
  }
  return true;
}

void ExpectNear(const Result<std::vector<Array>>& results, const Index& dims,
                const std::function<double(const Index&)>& expected) {
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  const Array& result = results->back();
  ASSERT_EQ(result.dims, dims);
  for (size_t i = 0; i < result.values.size(); ++i) {
    Index index(dims.size());
    int64_t rest = static_cast<int64_t>(i);
    for (size_t d = dims.size(); d-- > 0;) {
      index[d] = rest % dims[d];
      rest /= dims[d];
    }
    const double value = expected(index);
    if (std::isinf(value)) {
      EXPECT_EQ(result.values[i], value) << i;
    } else {
      EXPECT_NEAR(result.values[i], value, 1e-5 * (1 + std::fabs(value))) << i;
    }
  }
}

TEST(ExpressionEval, MatrixProduct) {
  const Array a = Filled({3, 5});
  const Array b = Filled({5, 4}, 2);
  ExpectNear(RunText(kMatmulText, {a, b}), {3, 4}, [&](const Index& at) {
    double sum = 0;
    for (int64_t k = 0; k < 5; ++k)
      sum += At(a, {at[0], k}) * At(b, {k, at[1]});
    return sum;
  });
}

TEST(ExpressionEval, BiasAndRelu) {
  const Array x = Filled({2, 3, 2, 4});
  const Array b = Filled({3}, 5);
  ExpectNear(RunText(kBiasReluText, {x, b}), x.dims, [&](const Index& at) {
    return std::max(0.0, At(x, at) + At(b, {at[1]}));
  });
}

TEST(ExpressionEval, ConvolutionsOfAllParameters) {
  const Array i = Filled({2, 3, 7, 6});
  const Array f = Filled({4, 3, 3, 2}, 3);
  const Array b = Filled({4}, 4);
  struct Parameters {
    int64_t sy, sx, py, px, dy, dx, height, width;
  };
  for (const Parameters& p :
       {Parameters{1, 1, 0, 0, 1, 1, 5, 5}, Parameters{2, 1, 1, 2, 1, 2, 4, 8},
        Parameters{3, 2, 2, 1, 2, 1, 3, 4}}) {
    const ir::AttributeMap attributes = {{"sy", p.sy}, {"sx", p.sx},
                                         {"py", p.py}, {"px", p.px},
                                         {"dy", p.dy}, {"dx", p.dx}};
    ExpectNear(RunText(kConv2dText, {i, f, b}, attributes),
               {2, 4, p.height, p.width}, [&](const Index& at) {
                 double sum = At(b, {at[1]});
                 for (int64_t c = 0; c < 3; ++c) {
                   for (int64_t y = 0; y < 3; ++y) {
                     for (int64_t x = 0; x < 2; ++x) {
                       const Index from = {at[0], c,
                                           p.sy * at[2] + p.dy * y - p.py,
                                           p.sx * at[3] + p.dx * x - p.px};
                       if (!Inside(i, from)) continue;
                       sum += At(i, from) * At(f, {at[1], c, y, x});
                     }
                   }
                 }
                 return sum;
               });
  }
}

TEST(ExpressionEval, MaxPoolWithPadding) {
  const Array i = Filled({1, 2, 5, 6});
  const ir::AttributeMap attributes = {
      {"k", int64_t{3}}, {"step", int64_t{2}}, {"p", int64_t{1}}};
  ExpectNear(RunText(kMaxPoolText, {i}, attributes), {1, 2, 3, 3},
             [&](const Index& at) {
               double most = -kInfinity;
               for (int64_t y = 0; y < 3; ++y) {
                 for (int64_t x = 0; x < 3; ++x) {
                   const Index from = {at[0], at[1], 2 * at[2] + y - 1,
                                       2 * at[3] + x - 1};
                   if (Inside(i, from)) most = std::max(most, At(i, from));
                 }
               }
               return most;
             });
}

TEST(ExpressionEval, SoftmaxOfThreeStatements) {
  const Array x = Filled({3, 7});
  ExpectNear(RunText(kSoftmaxText, {x}), x.dims, [&](const Index& at) {
    double sum = 0;
    for (int64_t c = 0; c < 7; ++c) sum += std::exp(At(x, {at[0], c}));
    return std::exp(At(x, at)) / sum;
  });
}

TEST(ExpressionEval, TransposedConvolutionByAnEquation) {
  const Array i = Filled({2, 3, 5});
  const Array f = Filled({3, 2, 4}, 2);
  for (const auto& [s, p] : {std::pair<int64_t, int64_t>{2, 1}, {3, 0}}) {
    ExpectNear(RunText(kDeconvText, {i, f}, {{"s", s}, {"p", p}}),
               {2, 2, s * 4 + 4 - 2 * p}, [&, s = s, p = p](const Index& at) {
                 double sum = 0;
                 for (int64_t c = 0; c < 3; ++c) {
                   for (int64_t w = 0; w < 5; ++w) {
                     for (int64_t k = 0; k < 4; ++k) {
                       if (s * w + k - p != at[2]) continue;
                       sum += At(i, {at[0], c, w}) * At(f, {c, at[1], k});
                     }
                   }
                 }
                 return sum;
               });
  }
}

TEST(ExpressionEval, IndicesThatOnlyTogetherAreBounded) {
  const Array a = Filled({6});
  const Array b = Filled({5}, 2);
  ExpectNear(RunText("O[x : 3] = +(A[i + j] * B[i - j + x])", {a, b}), {3},
             [&](const Index& at) {
               double sum = 0;
               for (int64_t i = -9; i < 9; ++i) {
                 for (int64_t j = -9; j < 9; ++j) {
                   const Index first = {i + j};
                   const Index second = {i - j + at[0]};
                   if (!Inside(a, first) || !Inside(b, second)) continue;
                   sum += At(a, first) * At(b, second);
                 }
               }
               return sum;
             });
}

TEST(ExpressionEval, IndicesThatRunBackwardsAndInSteps) {
  const Array a = Filled({7});
  ExpectNear(RunText("O[x : 5] = +(A[6 - x - 2*i]), i < 3", {a}), {5},
             [&](const Index& at) {
               double sum = 0;
               for (int64_t i = 0; i < 3; ++i) {
                 const Index from = {6 - at[0] - 2 * i};
                 if (Inside(a, from)) sum += At(a, from);
               }
               return sum;
             });
}

// The left side is larger than what contributes.
TEST(ExpressionEval, NothingContributes) {
  const Array a = Filled({2});
  const std::string access = "(A[i - 2])";
  for (const auto& [aggregate, none] : {std::pair<std::string, double>{"+", 0},
                                        {"*", 1},
                                        {">", -kInfinity},
                                        {"<", kInfinity},
                                        {"=", 0}}) {
    ExpectNear(RunText("O[i : 5] = " + aggregate + access, {a}), {5},
               [&, none = none](const Index& at) {
                 return Inside(a, {at[0] - 2}) ? At(a, {at[0] - 2}) : none;
               });
    ExpectNear(
        RunText("O[i : 2] = " + aggregate + "(A[i] * B[k - 9]), k < 4", {a, a}),
        {2}, [none = none](const Index&) { return none; });
  }
}

TEST(ExpressionEval, IntegersOfNothing) {
  Array a{{1}, {7}, ir::DataType::kInt32};
  const auto results = RunText(
      "op f(X[N]: s32) -> (G: s64, L: s64, S, P) { G[i : 2] = >(X[i]); "
      "L[i : 2] = <(X[i]); S[i : 2] = +(X[i]); P[i : 2] = *(X[i]); }",
      {a});
  ASSERT_OK(results);
  EXPECT_EQ((*results)[0].values[1], -0x1p63);
  EXPECT_EQ((*results)[1].values[1], 0x1p63);
  EXPECT_EQ((*results)[2].values, (Values{7, 0}));
  EXPECT_EQ((*results)[3].values, (Values{7, 1}));
}

TEST(ExpressionEval, TheLastAssignmentStays) {
  const Array a{{4}, {1, 2, 3, 4}};
  const auto results = RunText("O[i : 2] = =(A[i + 2*j])", {a});
  ASSERT_OK(results);
  EXPECT_EQ(results->at(0).values, (Values{3, 4}));
}

// An access in a branch that is not taken counts.
TEST(ExpressionEval, AccessesInBranchesCount) {
  const Array a{{3}, {1, 2, 4}};
  const auto results = RunText("O[i : 3] = +(i > 0 ? A[i - 1] : 8.0)", {a});
  ASSERT_OK(results);
  EXPECT_EQ(results->at(0).values, (Values{0, 1, 2}));
}

TEST(ExpressionEval, CausalMaskReadsIndexVariables) {
  const Array s{{2, 2}, {1, 2, 3, 4}};
  const auto results =
      RunText("O[q, k : like S] = =(k <= q ? S[q, k] : -inf)", {s});
  ASSERT_OK(results);
  EXPECT_EQ(results->at(0).values, (Values{1, -kInfinity, 3, 4}));
}

TEST(ExpressionEval, ElementwiseBroadcasts) {
  const Array a = Filled({2, 1, 3});
  const Array b = Filled({4, 1}, 2);
  const Array c{{}, {0.5}};
  ExpectNear(RunText("O = A * B - C", {a, b, c}), {2, 4, 3},
             [&](const Index& at) {
               return At(a, {at[0], 0, at[2]}) * At(b, {at[1], 0}) - 0.5;
             });
}

TEST(ExpressionEval, AttributesAndDimensionsAreValues) {
  const Array a{{4}, {1, 2, 3, 6}};
  const std::string text =
      "op f(X[N]) -> (O) attr (ints s = [3, 5], floats v = [0.5], bool b = "
      "true, float g) { O[] = +(b ? X[i] / N * s[1] + v[0] * g : 0.0) }";
  const auto results = RunText(text, {a}, {{"g", 2.0}});
  ASSERT_OK(results);
  EXPECT_EQ(results->at(0).values, (Values{19}));
  EXPECT_TRUE(FailsWith(RunText(text, {a}), "attribute 'g'"));
  EXPECT_TRUE(FailsWith(
      RunText(text, {a}, {{"g", 1.0}, {"s", std::vector<int64_t>{1}}}),
      "has 1 elements, the text reads element 1"));
}

TEST(ExpressionEval, FunctionsOfFloats) {
  const Array a{{4}, {-1.5, 0.25, 2.5, 4}};
  const auto check = [&](const std::string& call,
                         const std::function<double(double)>& expected) {
    SCOPED_TRACE(call);
    ExpectNear(RunText("O = " + call, {a}), {4},
               [&](const Index& at) { return expected(a.values[at[0]]); });
  };
  check("exp(A)", [](double x) { return std::exp(x); });
  check("log(abs(A))", [](double x) { return std::log(std::fabs(x)); });
  check("sqrt(abs(A))", [](double x) { return std::sqrt(std::fabs(x)); });
  check("rsqrt(abs(A))", [](double x) { return 1 / std::sqrt(std::fabs(x)); });
  check("tanh(A)", [](double x) { return std::tanh(x); });
  check("sigmoid(A)", [](double x) { return 1 / (1 + std::exp(-x)); });
  check("erf(A)", [](double x) { return std::erf(x); });
  check("floor(A)", [](double x) { return std::floor(x); });
  check("ceil(A)", [](double x) { return std::ceil(x); });
  check("round(A)", [](double x) { return std::nearbyint(x); });
  check("min(A, 1)", [](double x) { return std::min(x, 1.0); });
  check("max(1, A)", [](double x) { return std::max(x, 1.0); });
  check("pow(abs(A), 1.5)",
        [](double x) { return std::pow(std::fabs(x), 1.5); });
  check("select(A < 1, A, -A)", [](double x) { return x < 1 ? x : -x; });
  check("f32(s32(A))", [](double x) { return std::trunc(x); });
  check("A > 0 && A != 4 || A == -1.5 ? 1 : 0",
        [](double x) { return x != 4; });
}

TEST(ExpressionEval, IntegersWrapDivideDownAndSaturate) {
  const Array a{{4}, {-7, 7, 2147483647, 100}, ir::DataType::kInt32};
  const auto run = [&](const std::string& value, const std::string& type) {
    return RunText("op f(A: s32) -> (O: " + type + ") { O = " + value + " }",
                   {a});
  };
  EXPECT_EQ(run("div(A, 2)", "s64")->at(0).values,
            (Values{-4, 3, 1073741823, 50}));
  EXPECT_EQ(run("A % 4", "s64")->at(0).values, (Values{1, 3, 3, 0}));
  EXPECT_EQ(run("mod(A, -4)", "s32")->at(0).values, (Values{-3, -1, -1, 0}));
  EXPECT_EQ(run("A + 1", "s32")->at(0).values,
            (Values{-6, 8, 2147483647, 101}));
  EXPECT_EQ(run("A * 2", "s8")->at(0).values, (Values{-14, 14, 127, 127}));
  EXPECT_EQ(run("A", "u8")->at(0).values, (Values{0, 7, 255, 100}));
  EXPECT_EQ(run("A * 0.5", "s8")->at(0).values, (Values{-4, 4, 127, 50}));
  EXPECT_EQ(run("A < 8", "boolean")->at(0).values, (Values{1, 1, 0, 0}));
  EXPECT_EQ(run("s32(A * 3)", "s64")->at(0).values,
            (Values{-21, 21, 2147483647, 300}));
  EXPECT_EQ(run("A * 9223372036854775807 * 2", "s64")->at(0).values,
            (Values{14, -14, -4294967294, -200}));
}

TEST(ExpressionEval, ResultsAreRoundedOnceAndReadRounded) {
  const Array a{{1}, {1.0 + 0x1p-9}, ir::DataType::kFloat32};
  const auto results =
      RunText("op f(A: f32) -> (H: bf16, O) { H = A; O = H * 1.0 }", {a});
  ASSERT_OK(results);
  EXPECT_EQ((*results)[0].values, (Values{1}));
  EXPECT_EQ((*results)[1].values, (Values{1}));
  const Array half{{1}, {2048}, ir::DataType::kFloat16};
  // The intermediate tensor is not rounded to f16.
  EXPECT_EQ(RunText("T = A + 1; O = T - 2048", {half})->at(0).values,
            (Values{1}));
}

TEST(ExpressionEval, ShapesThatContradictAreRefused) {
  const auto fails = [](const std::string& text,
                        const std::vector<Array>& inputs,
                        const std::string& message) {
    EXPECT_TRUE(FailsWith(RunText(text, inputs), message)) << text;
  };
  fails(kBiasReluText, {Filled({1, 3, 2, 2}), Filled({4})},
        "axis 0 of input 1 ('B') is 4, but C is 3");
  fails(kBiasReluText, {Filled({3, 2, 2}), Filled({3})}, "expected 4 axes");
  fails("op f(X[3]) -> (O) { O = X }", {Filled({4})}, "is 4, expected 3");
  fails("O = A + B", {Filled({2}), Filled({3})}, "is not broadcast");
  fails("O[i : N - 5] = +(A[i] * N)", {Filled({2})}, "the index variable 'N'");
  fails("op f(X[N]) -> (O) { O[i : N - 5] = +(X[i]) }", {Filled({2})},
        "the size -3");
  fails("op f(X[N]) -> (O) { O[i : N/(N - 2)] = +(X[i]) }", {Filled({2})},
        "divided by 0");
  fails("op f(X[N]) -> (O) { O[i : N*4611686018427387904] = +(X[i]) }",
        {Filled({2})}, "overflows");
  fails("op f(X[N]) -> (O) { O[i, j : 1073741824, 1073741824] = +(X[i + j]) }",
        {Filled({2})}, "overflows");
  fails("op f(X[N]: s32) -> (O) { O = X }", {Filled({2})},
        "input 0 ('X') is float32, expected int32");
  Array half = Filled({2});
  half.type = ir::DataType::kFloat16;
  fails("O = A + B", {Filled({2}), half}, "make them equal");
}

TEST(ExpressionShapes, UnknownStaysUnknown) {
  const auto program = expr::ReadProgram(kConv2dText);
  ASSERT_OK(program);
  ir::AttributeMap attributes;
  for (const auto& def : (*program)->syntax.attributes) {
    attributes.Set(def.name.text, *def.default_value);
  }
  constexpr int64_t kAny = expr::kUnknownSize;
  using Given = std::vector<std::optional<expr::Dims>>;
  const auto shape = [&](const Given& inputs) {
    const auto shapes = expr::InferDims(**program, attributes, inputs);
    EXPECT_OK(shapes);
    return shapes->tensors[(*program)->outputs[0]];
  };
  EXPECT_EQ(shape({expr::Dims{2, 3, kAny, 8}, expr::Dims{4, kAny, 3, 3},
                   std::nullopt}),
            (expr::Dims{2, 4, kAny, 6}));
  EXPECT_EQ(shape({std::nullopt, std::nullopt, expr::Dims{4}}),
            (expr::Dims{kAny, 4, kAny, kAny}));
  const auto any = expr::ReadProgram("O = A + B");
  ASSERT_OK(any);
  const auto shapes = expr::InferDims(
      **any, {}, Given{expr::Dims{kAny, 3}, expr::Dims{kAny, kAny, 1}});
  ASSERT_OK(shapes);
  EXPECT_EQ(shapes->tensors[(*any)->outputs[0]], (expr::Dims{kAny, kAny, 3}));
  EXPECT_EQ(expr::InferDims(**any, {}, Given{std::nullopt, expr::Dims{2}})
                ->tensors[(*any)->outputs[0]],
            std::nullopt);
}

TEST(ExpressionFlops, CountOperatorsOverTheRanges) {
  const auto flops = [](const std::string& text,
                        const std::vector<Array>& inputs) {
    const auto binding = BindText(text, inputs);
    EXPECT_OK(binding);
    return binding->Flops();
  };
  EXPECT_EQ(flops(kMatmulText, {Filled({3, 5}), Filled({5, 4})}),
            2.0 * 3 * 4 * 5);
  EXPECT_EQ(flops(kBiasReluText, {Filled({1, 3, 2, 2}), Filled({3})}), 24);
  EXPECT_EQ(flops(kConv2dText,
                  {Filled({1, 2, 5, 5}), Filled({3, 2, 3, 3}), Filled({3})}),
            2.0 * 27 * 18 + 27);
  EXPECT_EQ(flops("O[i] = =(A[i])", {Filled({7})}), 0);
}

}  // namespace
}  // namespace tim::testing
