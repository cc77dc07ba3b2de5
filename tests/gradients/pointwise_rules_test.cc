// Rules of operators that work element by element against central differences.
#include <gtest/gtest.h>

#include "tests/gradients/gradient_check.h"

namespace tim::testing {
namespace {

using ir::AttributeMap;

struct UnaryCase {
  const char* op;
  AttributeMap attributes = {};
  double low = -4;
  double high = 4;
};

TEST(UnaryRules, AgreeWithDifferences) {
  const UnaryCase cases[] = {
      {"Relu"},
      {"Relu1"},
      {"Relu6", {}, -2, 8},
      {"Clip", {{"min", -0.5}, {"max", 1.5}}},
      {"LeakyRelu", {{"alpha", 0.25}}},
      {"Linear", {{"a", -1.5}, {"b", 2.0}}},
      {"Dropout", {{"ratio", 0.5}}},
      {"HardSigmoid", {{"alpha", 0.25}, {"beta", 0.5}}},
      {"HardSwish"},
      {"Tanh"},
      {"Sigmoid"},
      {"Swish"},
      {"Mish"},
      {"SoftRelu"},
      {"Elu", {{"alpha", 0.75}}},
      {"Selu"},
      {"Celu", {{"alpha", 0.5}}},
      {"Gelu", {{"approximate", true}}},
      {"Gelu", {{"approximate", false}}},
      {"Erf"},
      {"Exp"},
      {"Log", {}, 0.5, 4},
      {"Sqrt", {}, 0.5, 4},
      {"Rsqrt", {}, 0.5, 4},
      {"Square"},
      {"Neg"},
      {"Abs"},
      {"Rcp", {}, 0.5, 3},
      {"SoftSign"},
      {"Sin"},
      {"Cos"},
      {"Tan", {}, -1, 1},
      {"ATan"},
  };
  for (const UnaryCase& c : cases) {
    EXPECT_TRUE(GradientsAgree(
        {.op = c.op,
         .inputs = {{.shape = ir::Shape({5, 3}), .low = c.low, .high = c.high}},
         .attributes = c.attributes}));
  }
}

TEST(UnaryRules, StepsHaveNoSlope) {
  for (const char* op : {"Sign", "Floor", "Ceil", "Round"}) {
    EXPECT_TRUE(GradientsAgree(
        {.op = op, .inputs = {{.shape = ir::Shape({7})}}, .order = 1}));
  }
}

TEST(BinaryRules, AgreeWithDifferencesOfBroadcastOperands) {
  const std::pair<ir::Shape, ir::Shape> shapes[] = {
      {{4, 3}, {4, 3}},       {{4, 3}, {1, 3}}, {{5}, {5, 3}},
      {{1, 3, 1}, {5, 1, 2}}, {{3, 2}, {1}},    {{1}, {3, 1, 2}},
  };
  struct BinaryCase {
    const char* op;
    AttributeMap attributes = {};
    double low = -3;
  };
  const BinaryCase cases[] = {
      {"Add"},          {"Sub"},
      {"Multiply"},     {"Multiply", {{"scale", 0.5}}},
      {"Div", {}, 1},   {"Div", {{"scale", 3.0}}, 1},
      {"Maximum"},      {"Minimum"},
      {"Pow", {}, 0.5},
  };
  for (const BinaryCase& c : cases) {
    for (const auto& [a, b] : shapes) {
      EXPECT_TRUE(
          GradientsAgree({.op = c.op,
                          .inputs = {{.shape = a, .low = c.low, .high = 3},
                                     {.shape = b, .low = c.low, .high = 3}},
                          .attributes = c.attributes}));
    }
  }
}

TEST(BinaryRules, ScalarsHaveScalarGradients) {
  EXPECT_TRUE(GradientsAgree(
      {.op = "Multiply",
       .inputs = {{.shape = ir::Shape({3, 2})},
                  {.shape = ir::Shape({1}), .is_scalar = true}}}));
}

TEST(AddNRule, GivesEachOperandItsSum) {
  EXPECT_TRUE(GradientsAgree({.op = "AddN",
                              .inputs = {{.shape = ir::Shape({3, 2})},
                                         {.shape = ir::Shape({1, 2})},
                                         {.shape = ir::Shape({3, 2})}},
                              .attributes = {{"num_inputs", int64_t{3}}}}));
}

TEST(SelectRule, SendsCotangentsWhereTheElementsCameFrom) {
  EXPECT_TRUE(GradientsAgree({.op = "Select",
                              .inputs = {{.shape = ir::Shape({3, 2}),
                                          .values = {1, 0, 0, 1, 1, 0},
                                          .wanted = false,
                                          .type = ir::DataType::kBool8},
                                         {.shape = ir::Shape({3, 2})},
                                         {.shape = ir::Shape({1, 2})}}}));
}

TEST(ConvertRules, KeepCotangents) {
  for (const char* op : {"Cast", "DataConvert"}) {
    EXPECT_TRUE(
        GradientsAgree({.op = op, .inputs = {{.shape = ir::Shape({4})}}}));
  }
}

}  // namespace
}  // namespace tim::testing
