// Functions of one number, activations and Clip of ONNX, a node at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/models/elementwise_runner.h"
#include "tests/support/status_macros.h"

namespace tim::models::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using vx::DataType;

// ---- Functions of one number ----------------------------------------------

struct Function {
  const char* op;
  double (*expected)(double);
  std::vector<float> at;
};

const Function kFunctions[] = {
    {"Abs", std::fabs, {-2.5f, 0, 3}},
    {"Ceil", std::ceil, {-2.5f, 0.1f, 3}},
    {"Floor", std::floor, {-2.5f, 0.1f, 3}},
    {"Round", std::nearbyint, {-2.5f, -1.5f, 0.5f, 1.5f, 2.4f}},
    {"Exp", std::exp, {-2, 0, 1}},
    {"Log", std::log, {0.5f, 1, 7}},
    {"Sqrt", std::sqrt, {0, 2, 9}},
    {"Erf", std::erf, {-1, 0.25f, 2}},
    {"Sin", std::sin, {-1, 0.25f, 2}},
    {"Cos", std::cos, {-1, 0.25f, 2}},
    {"Tan", std::tan, {-1, 0.25f, 2}},
    {"Asin", std::asin, {-1, -0.999f, -1e-6f, 0, 0.3f, 1}},
    {"Acos", std::acos, {-1, -0.999f, 0, 0.3f, 0.9999f, 1}},
    {"Atan", std::atan, {-4, 0.25f, 2}},
    {"Sinh", std::sinh, {-89, -1, -1e-6f, 0, 0.5f, 1.5f, 89}},
    {"Cosh", std::cosh, {-89, -1, 0, 1e-3f, 1.5f, 89}},
    {"Tanh", std::tanh, {-1, 1e-6f, 2}},
    {"Asinh", std::asinh, {-3e38f, -2, -1e-6f, 0, 0.75f, 1, 1e20f}},
    {"Acosh", std::acosh, {1, 1.5f, 20}},
    {"Atanh", std::atanh, {-0.9f, 0, 0.5f}},
};

TEST(OnnxElementwise, FunctionsOfOneNumber) {
  for (const Function& function : kFunctions) {
    SCOPED_TRACE(function.op);
    const auto count = static_cast<int64_t>(function.at.size());
    NodeRunner runner = Elementwise(function.op);
    const std::vector<float> results =
        FloatsOf(runner.Input(function.at, {count}));
    ASSERT_EQ(results.size(), function.at.size());
    for (size_t i = 0; i < results.size(); ++i) {
      const double expected = function.expected(function.at[i]);
      EXPECT_NEAR(results[i], expected, std::fabs(expected) * 1e-6)
          << "of " << function.at[i];
    }
  }
}

TEST(OnnxElementwise, FunctionsAtTheirLimits) {
  const struct {
    const char* op;
    float at;
    float expected;
  } cases[] = {{"Asin", 1.5f, kNaN},
               {"Acos", -1.5f, kNaN},
               {"Sinh", -kInfinity, -kInfinity},
               {"Cosh", -kInfinity, kInfinity},
               {"Asinh", kInfinity, kInfinity},
               {"Asinh", -kInfinity, -kInfinity},
               {"Sinh", kNaN, kNaN},
               {"Asinh", kNaN, kNaN}};
  for (const auto& one : cases) {
    NodeRunner runner = Elementwise(one.op);
    const auto results = FloatsOf(runner.Input<float>({one.at}, {1}));
    ASSERT_EQ(results.size(), 1u);
    EXPECT_TRUE(results[0] == one.expected ||
                (std::isnan(results[0]) && std::isnan(one.expected)))
        << one.op << " of " << one.at << ": " << results[0];
  }
}

TEST(OnnxElementwise, ScalarsStayScalars) {
  NodeRunner runner = Elementwise("Sinh");
  const auto results = runner.Input<float>({1}, {}).Run();
  ASSERT_OK(results);
  EXPECT_EQ(results.value()[0].dims, Dims());
}

TEST(OnnxElementwise, IntegersAreExact) {
  NodeRunner abs = Elementwise("Abs");
  EXPECT_THAT(IntsOf(abs.Input<int64_t>({-16777217, 3}, {2})),
              ElementsAre(16777217, 3));
  NodeRunner neg = Elementwise("Neg");
  EXPECT_THAT(IntsOf(neg.Input<int32_t>({-16777217, 3}, {2})),
              ElementsAre(16777217, -3));
  NodeRunner sign = Elementwise("Sign");
  EXPECT_THAT(IntsOf(sign.Input<int8_t>({-100, 0, 3}, {3})),
              ElementsAre(-1, 0, 1));
}

TEST(OnnxElementwise, FunctionsRefuseOtherTypes) {
  NodeRunner exp = Elementwise("Exp");
  EXPECT_ERROR(exp.Input<int32_t>({1}, {1}).Run(), "operand 0 is int32");
  NodeRunner neg = Elementwise("Neg");
  EXPECT_ERROR(neg.Input<uint8_t>({1}, {1}).Run(), "has no sign");
  NodeRunner abs = Elementwise("Abs");
  EXPECT_ERROR(abs.Input(BoolArray({1}, {1})).Run(), "operand 0 is bool");
  NodeRunner none = Elementwise("Abs");
  EXPECT_ERROR(none.Run(), "operand 0 is absent");
}

TEST(OnnxElementwise, SurplusOperandsAndAttributesAreRefused) {
  NodeRunner operand = Elementwise("Exp");
  EXPECT_ERROR(operand.Input<float>({1}, {1}).Input<float>({1}, {1}).Run(),
               "operand 1 is there; Exp is taken with 1 at most");
  NodeRunner attribute = Elementwise("Exp");
  EXPECT_ERROR(attribute.With("base", 2.0f).Input<float>({1}, {1}).Run(),
               "attribute 'base'");
}

// ---- Activations ------------------------------------------------------------

TEST(OnnxElementwise, ActivationsHaveOnnxDefaults) {
  const struct {
    const char* op;
    double (*expected)(double);
  } cases[] = {
      {"Relu", [](double x) { return std::max(x, 0.0); }},
      {"LeakyRelu", [](double x) { return x < 0 ? 0.01 * x : x; }},
      {"Elu", [](double x) { return x < 0 ? std::expm1(x) : x; }},
      {"Celu", [](double x) { return x < 0 ? std::expm1(x) : x; }},
      {"Selu",
       [](double x) {
         return 1.0507009873554805 *
                (x < 0 ? 1.6732632423543772 * std::expm1(x) : x);
       }},
      {"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"HardSigmoid",
       [](double x) { return std::min(std::max(0.2 * x + 0.5, 0.0), 1.0); }},
      {"HardSwish",
       [](double x) { return x * std::min(std::max(x / 6 + 0.5, 0.0), 1.0); }},
      {"Softplus", [](double x) { return std::log1p(std::exp(x)); }},
      {"Softsign", [](double x) { return x / (1 + std::fabs(x)); }},
      {"Mish", [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
      {"Gelu",
       [](double x) { return x * (1 + std::erf(x / std::sqrt(2.0))) / 2; }},
      {"ThresholdedRelu", [](double x) { return x > 1 ? x : 0; }},
      {"Shrink", [](double x) { return std::fabs(x) > 0.5 ? x : 0; }},
  };
  const std::vector<float> at = {-4, -1, -0.3f, 0, 0.4f, 1, 2.5f};
  for (const auto& one : cases) {
    SCOPED_TRACE(one.op);
    NodeRunner runner = Elementwise(one.op);
    const std::vector<float> results = FloatsOf(runner.Input(at, {7}));
    ASSERT_EQ(results.size(), at.size());
    for (size_t i = 0; i < at.size(); ++i) {
      EXPECT_NEAR(results[i], one.expected(at[i]), 2e-6) << "of " << at[i];
    }
  }
}

TEST(OnnxElementwise, ActivationsTakeTheirParameters) {
  NodeRunner elu = Elementwise("Elu");
  EXPECT_THAT(FloatsOf(elu.With("alpha", 2.0f).Input<float>({-1, 1}, {2})),
              ElementsAre(FloatEq(2 * std::expm1(-1.0f)), 1));
  NodeRunner shrink = Elementwise("Shrink");
  EXPECT_THAT(FloatsOf(shrink.With("bias", 0.5f)
                           .With("lambd", 1.0f)
                           .Input<float>({-2, -1, 0.5f, 3}, {4})),
              ElementsAre(-1.5f, 0, 0, 2.5f));
  NodeRunner threshold = Elementwise("ThresholdedRelu");
  EXPECT_THAT(
      FloatsOf(
          threshold.With("alpha", 2.0f).Input<float>({1.5f, 2, 2.5f}, {3})),
      ElementsAre(0, 0, 2.5f));
  NodeRunner gelu = Elementwise("Gelu");
  const float x = -0.75f;
  EXPECT_THAT(FloatsOf(gelu.With("approximate", "tanh").Input<float>({x}, {1})),
              ElementsAre(::testing::FloatNear(
                  x *
                      (1 + std::tanh(std::sqrt(2 / M_PI) *
                                     (x + 0.044715 * x * x * x))) /
                      2,
                  1e-6f)));
  NodeRunner swish = Elementwise("Swish", 24);
  EXPECT_THAT(FloatsOf(swish.With("alpha", 2.0f).Input<float>({1}, {1})),
              ElementsAre(FloatEq(1 / (1 + std::exp(-2.0f)))));
}

TEST(OnnxElementwise, ActivationsRefuseWrongParameters) {
  NodeRunner gelu = Elementwise("Gelu");
  EXPECT_ERROR(gelu.With("approximate", "sigmoid").Input<float>({1}, {1}).Run(),
               "attribute 'approximate' is 'sigmoid'");
  NodeRunner celu = Elementwise("Celu");
  EXPECT_ERROR(celu.With("alpha", 0.0f).Input<float>({1}, {1}).Run(),
               "attribute 'alpha' is 0");
  NodeRunner elu = Elementwise("Elu");
  EXPECT_ERROR(elu.With("alpha", kNaN).Input<float>({1}, {1}).Run(),
               "attribute 'alpha' is NaN");
  NodeRunner prelu = Elementwise("PRelu");
  EXPECT_ERROR(prelu.Input<float>({1}, {1}).Input<float>({1, 2}, {2}).Run(),
               "does not broadcast to operand 0");
}

TEST(OnnxElementwise, SlopesOfPReluBroadcast) {
  NodeRunner runner = Elementwise("PRelu");
  // A slope per channel of {1, 3, 2}.
  EXPECT_THAT(FloatsOf(runner.Input<float>({-1, 1, -1, -2, -1, 2}, {1, 3, 2})
                           .Constant<float>({1, 2, 3}, {3, 1})),
              ElementsAre(-1, 1, -2, -4, -3, 2));
  NodeRunner square = Elementwise("PRelu");
  // A slope of rank 1 lies along the last axis.
  EXPECT_THAT(FloatsOf(square.Input<float>({-1, -1, -1, -1}, {2, 2})
                           .Constant<float>({1, 2}, {2})),
              ElementsAre(-1, -2, -1, -2));
}

// ---- Clip -------------------------------------------------------------------

TEST(OnnxElementwise, ClipHasAttributesBeforeOpset11) {
  NodeRunner runner = Elementwise("Clip", 7);
  EXPECT_THAT(FloatsOf(runner.With("min", -1.0f)
                           .With("max", 1.0f)
                           .Input<float>({-2, 0.5f, 2}, {3})),
              ElementsAre(-1, 0.5f, 1));
  NodeRunner refused = Elementwise("Clip", 13);
  EXPECT_ERROR(refused.With("min", -1.0f).Input<float>({1}, {1}).Run(),
               "is an operand since opset 11");
}

TEST(OnnxElementwise, LimitsOfClipMayBeAbsentOrComputed) {
  NodeRunner upper = Elementwise("Clip");
  EXPECT_THAT(
      FloatsOf(
          upper.Input<float>({-2, 2}, {2}).Absent().Constant<float>({1}, {})),
      ElementsAre(-2, 1));
  NodeRunner computed = Elementwise("Clip");
  EXPECT_THAT(FloatsOf(computed.Input<float>({-2, 0, 2}, {3})
                           .Input<float>({-1}, {})
                           .Input<float>({1}, {})),
              ElementsAre(-1, 0, 1));
  NodeRunner none = Elementwise("Clip");
  EXPECT_THAT(FloatsOf(none.Input<float>({-2, 2}, {2})), ElementsAre(-2, 2));
  // Crossed limits: all become the upper one.
  NodeRunner crossed = Elementwise("Clip");
  EXPECT_THAT(FloatsOf(crossed.Input<float>({-2, 2}, {2})
                           .Constant<float>({3}, {})
                           .Constant<float>({1}, {})),
              ElementsAre(1, 1));
}

TEST(OnnxElementwise, ClipOfIntegersIsExact) {
  NodeRunner runner = Elementwise("Clip");
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_THAT(IntsOf(runner.Input<int64_t>({-5, 16777219}, {2})
                         .Constant<int64_t>({16777217}, {})
                         .Constant<int64_t>({most}, {})),
              ElementsAre(16777217, 16777219));
  NodeRunner refused = Elementwise("Clip");
  EXPECT_ERROR(
      refused.Input<float>({1}, {1}).Constant<float>({1, 2}, {2}).Run(),
      "a limit is one element");
}

}  // namespace
}  // namespace tim::models::onnx
