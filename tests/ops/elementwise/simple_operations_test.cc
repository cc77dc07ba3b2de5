// Functions of one input by hand: limits, ties, domains and plain integers.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Floats {
  const char* op;
  std::vector<float> x;
  std::vector<float> y;
  ir::AttributeMap attributes = {};
};

void ExpectFloats(const Floats& c) {
  SCOPED_TRACE(c.op);
  const auto desc =
      Desc(DataType::kFloat32, {static_cast<int64_t>(c.x.size())});
  const auto node = MakeNode(c.op, c.attributes, {desc}, {desc});
  ASSERT_OK(node);
  const auto x = MakeTensor<float>(desc, c.x);
  const auto y = Eval(*node, {x});
  ASSERT_OK(y);
  const std::vector<float> found = Values<float>((*y)[0]);
  for (size_t i = 0; i < c.y.size(); ++i) {
    if (std::isnan(c.y[i])) {
      EXPECT_TRUE(std::isnan(found[i])) << c.x[i];
    } else {
      EXPECT_EQ(found[i], c.y[i]) << c.x[i];
    }
  }
  EXPECT_OK(CheckKernels(*node, std::vector{x}));
}

TEST(SimpleOperations, RoundAsTheyAreNamed) {
  const std::vector<float> x = {-2.5f, -0.5f, 0.5f, 1.5f,       2.4f,
                                3e9f,  1e30f, NAN,  -kInfinity, kInfinity};
  ExpectFloats({"tim.Round",
                x,
                {-2, 0, 0, 2, 2, 3e9f, 1e30f, NAN, -kInfinity, kInfinity}});
  ExpectFloats({"tim.Floor",
                x,
                {-3, -1, 0, 1, 2, 3e9f, 1e30f, NAN, -kInfinity, kInfinity}});
  ExpectFloats({"tim.Ceil",
                x,
                {-2, 0, 1, 2, 3, 3e9f, 1e30f, NAN, -kInfinity, kInfinity}});
}

TEST(SimpleOperations, HaveTheirLimits) {
  const std::vector<float> x = {0, kInfinity, -kInfinity, NAN, -1, 1};
  ExpectFloats({"tim.Rcp", x, {kInfinity, 0, 0, NAN, -1, 1}});
  ExpectFloats({"tim.Sqrt", x, {0, kInfinity, NAN, NAN, NAN, 1}});
  ExpectFloats({"tim.Rsqrt", x, {kInfinity, 0, NAN, NAN, NAN, 1}});
  ExpectFloats({"tim.Log", x, {-kInfinity, kInfinity, NAN, NAN, NAN, 0}});
  ExpectFloats({"tim.Exp",
                {0, kInfinity, -kInfinity, NAN, 89, -110},
                {1, kInfinity, 0, NAN, kInfinity, 0}});
  ExpectFloats(
      {"tim.Sin", {0, kInfinity, -kInfinity, NAN}, {0, NAN, NAN, NAN}});
  ExpectFloats(
      {"tim.Cos", {0, kInfinity, -kInfinity, NAN}, {1, NAN, NAN, NAN}});
  ExpectFloats(
      {"tim.Tan", {0, kInfinity, -kInfinity, NAN}, {0, NAN, NAN, NAN}});
  ExpectFloats({"tim.ATan",
                {0, kInfinity, -kInfinity, NAN},
                {0, 0x1.921fb6p+0f, -0x1.921fb6p+0f, NAN}});
  ExpectFloats({"tim.ATanh",
                {0, 1, -1, 1.5f, NAN},
                {0, kInfinity, -kInfinity, NAN, NAN}});
  ExpectFloats({"tim.ACosh",
                {1, kInfinity, 0.5f, -kInfinity, NAN},
                {0, kInfinity, NAN, NAN, NAN}});
  ExpectFloats({"tim.Erf", x, {0, 1, -1, NAN, -0.842700793f, 0.842700793f}});
  ExpectFloats({"tim.Abs", x, {0, kInfinity, kInfinity, NAN, 1, 1}});
  ExpectFloats({"tim.Neg", x, {0, -kInfinity, kInfinity, NAN, 1, -1}});
}

TEST(SimpleOperations, ActivationsHaveTheirLimits) {
  const std::vector<float> x = {kInfinity, -kInfinity, NAN, 0, -200};
  for (const char* op : {"tim.Swish", "tim.Mish", "tim.SoftRelu", "tim.Gelu"}) {
    const float at_zero =
        std::string(op) == "tim.SoftRelu" ? 0x1.62e430p-1f : 0;
    ExpectFloats({op, x, {kInfinity, 0, NAN, at_zero, 0}});
  }
  ExpectFloats(
      {"tim.Gelu", x, {kInfinity, 0, NAN, 0, 0}, {{"approximate", false}}});
  ExpectFloats({"tim.SoftSign",
                {kInfinity, -kInfinity, NAN, 0, 1},
                {1, -1, NAN, 0, 0.5f}});
  ExpectFloats(
      {"tim.Sign", {kInfinity, -kInfinity, NAN, 0, -3}, {1, -1, NAN, 0, -1}});
  ExpectFloats({"tim.Elu",
                {kInfinity, -kInfinity, NAN, 0, -200},
                {kInfinity, -0.5f, NAN, 0, -0.5f},
                {{"alpha", 0.5}}});
  ExpectFloats({"tim.Linear",
                {kInfinity, -kInfinity, NAN, 0.5f, -4},
                {kInfinity, -kInfinity, NAN, 2, -7},
                {{"a", 2.0}, {"b", 1.0}}});
  ExpectFloats({"tim.LeakyRelu",
                {-2, 3, -kInfinity},
                {-0.5f, 3, -kInfinity},
                {{"alpha", 0.25}}});
  ExpectFloats({"tim.HardSigmoid",
                {-10, 0, 1, 10, NAN},
                {0, 0.5f, 0.75f, 1, NAN},
                {{"alpha", 0.25}, {"beta", 0.5}}});
  // Limits that cross: the upper one.
  ExpectFloats(
      {"tim.Clip", {-5, 0, 5}, {1, 1, 1}, {{"min", 3.0}, {"max", 1.0}}});
}

TEST(SimpleOperations, PlainIntegersAreExact) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();
  constexpr int64_t kOdd = (int64_t{1} << 53) + 1;
  const struct {
    const char* op;
    std::vector<int64_t> x;
    std::vector<int64_t> y;
    ir::AttributeMap attributes = {};
  } cases[] = {
      {"tim.Neg", {kOdd, -3, kLeast}, {-kOdd, 3, kGreatest}},
      {"tim.Abs", {-kOdd, 3, kLeast}, {kOdd, 3, kGreatest}},
      {"tim.Square",
       {3037000499, -3037000500, -3},
       {9223372030926249001, kGreatest, 9}},
      {"tim.Floor", {kOdd, kLeast, 7}, {kOdd, kLeast, 7}},
      {"tim.Ceil", {kOdd, kLeast, 7}, {kOdd, kLeast, 7}},
      {"tim.Round", {kOdd, kLeast, 7}, {kOdd, kLeast, 7}},
      {"tim.Sign", {kOdd, kLeast, 0}, {1, -1, 0}},
      {"tim.Clip",
       {kOdd, kLeast, 7},
       {kOdd, 2, 7},
       {{"min", 1.6}, {"max", double{kInfinity}}}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.op);
    const auto desc = Desc(DataType::kInt64, {3});
    const auto node = MakeNode(c.op, c.attributes, {desc}, {desc});
    ASSERT_OK(node);
    const auto x = MakeTensor<int64_t>(desc, c.x);
    const auto y = Eval(*node, {x});
    ASSERT_OK(y);
    EXPECT_EQ(Codes((*y)[0]), c.y);
    EXPECT_OK(CheckKernels(*node, std::vector{x}));
  }
}

TEST(SimpleOperations, LogicalNotByHand) {
  const auto int8 = Desc(DataType::kInt8, {4});
  const auto bool8 = Desc(DataType::kBool8, {4});
  for (const auto& out : {int8, bool8}) {
    const auto node = MakeNode("tim.LogicalNot", {}, {int8}, {out});
    ASSERT_OK(node);
    const auto x = MakeTensor<int8_t>(int8, {0, 1, -1, 100});
    const auto y = Eval(*node, {x});
    ASSERT_OK(y);
    EXPECT_EQ(Codes((*y)[0]), (std::vector<int64_t>{1, 0, 0, 0}));
    EXPECT_OK(CheckKernels(*node, std::vector{x}));
  }
}

// Sixteen-bit codes go through the formula, not a table: every one of them.
TEST(SimpleOperations, EveryCodeOf16BitsHasTheBitsOfEval) {
  const int64_t count = 65536;
  const auto in = Desc(DataType::kInt16, {count}, 0.0003f, 1000);
  const auto out = Desc(DataType::kInt16, {count}, 0.0004f, -200);
  std::vector<int16_t> codes(count);
  for (int64_t i = 0; i < count; ++i)
    codes[i] = static_cast<int16_t>(i - 32768);
  const auto x = MakeTensor<int16_t>(in, codes);
  for (const char* op :
       {"tim.Exp", "tim.Log", "tim.Sqrt", "tim.Rsqrt", "tim.Sin", "tim.Tan",
        "tim.ATan", "tim.ATanh", "tim.ACosh", "tim.Erf", "tim.Mish",
        "tim.Swish", "tim.Gelu", "tim.SoftRelu", "tim.Elu"}) {
    const auto node = MakeNode(op, {}, {in}, {out});
    ASSERT_OK(node);
    EXPECT_OK(CheckKernels(*node, std::vector{x})) << op;
  }
}

}  // namespace
}  // namespace tim::testing
