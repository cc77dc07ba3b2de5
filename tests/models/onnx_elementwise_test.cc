// Arithmetic, logic, bits and casts of ONNX, a node at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

// ---- Two and more numbers ---------------------------------------------------

TEST(OnnxElementwise, OperandsBroadcastAtTheLastAxis) {
  NodeRunner runner = Elementwise("Sub");
  const auto results =
      runner.Input<float>({10, 20}, {2, 1}).Input<float>({1, 2, 3}, {3}).Run();
  ASSERT_OK(results);
  EXPECT_EQ(results.value()[0].dims, (Dims{2, 3}));
  EXPECT_THAT(Floats(results.value()[0]).value(),
              ElementsAre(9, 8, 7, 19, 18, 17));
  NodeRunner refused = Elementwise("Sub");
  EXPECT_FALSE(refused.Input<float>({1, 2}, {2})
                   .Input<float>({1, 2, 3}, {3})
                   .Run()
                   .ok());
}

TEST(OnnxElementwise, ShortIntegersWrap) {
  NodeRunner difference = Elementwise("Sub");
  EXPECT_THAT(IntsOf(difference.Input<uint8_t>({1, 200}, {2})
                         .Input<uint8_t>({3, 100}, {2})),
              ElementsAre(254, 100));
  NodeRunner product = Elementwise("Mul");
  EXPECT_THAT(IntsOf(product.Input<int8_t>({100, -100}, {2})
                         .Constant<int8_t>({2, 2}, {2})),
              ElementsAre(-56, 56));
  NodeRunner sum = Elementwise("Add");
  EXPECT_THAT(
      IntsOf(sum.Input<uint16_t>({65535}, {1}).Input<uint16_t>({2}, {1})),
      ElementsAre(1));
}

TEST(OnnxElementwise, IntegersAreDividedTowardsZero) {
  NodeRunner runner = Elementwise("Div");
  EXPECT_THAT(IntsOf(runner.Input<int32_t>({-7, 7, 16777217}, {3})
                         .Input<int32_t>({2, -2, 1}, {3})),
              ElementsAre(-3, -3, 16777217));
  NodeRunner refused = Elementwise("Div");
  EXPECT_ERROR(refused.Input<int32_t>({1}, {1}).Input<float>({1}, {1}).Run(),
               "operands of types int32 and float32");
}

TEST(OnnxElementwise, ModHasTheSignOfTheDivisorOrOfC) {
  NodeRunner python = Elementwise("Mod");
  EXPECT_THAT(IntsOf(python.Input<int32_t>({-7, 7, 7}, {3})
                         .Input<int32_t>({3, -3, 3}, {3})),
              ElementsAre(2, -2, 1));
  NodeRunner c = Elementwise("Mod");
  EXPECT_THAT(IntsOf(c.With("fmod", 1)
                         .Input<int64_t>({-7, 7, 7}, {3})
                         .Input<int64_t>({3, -3, 3}, {3})),
              ElementsAre(-1, 1, 1));
  NodeRunner floats = Elementwise("Mod");
  EXPECT_THAT(FloatsOf(floats.With("fmod", 1)
                           .Input<float>({-7.5f}, {1})
                           .Input<float>({2}, {1})),
              ElementsAre(-1.5f));
  NodeRunner refused = Elementwise("Mod");
  EXPECT_ERROR(refused.Input<float>({1}, {1}).Input<float>({1}, {1}).Run(),
               "need 1");
}

TEST(OnnxElementwise, PowersHaveTheTypeOfTheBase) {
  NodeRunner whole = Elementwise("Pow");
  EXPECT_THAT(
      IntsOf(
          whole.Input<int32_t>({3, 7, 5}, {3}).Input<float>({6, 3, 0.5f}, {3})),
      ElementsAre(729, 343, 2));
  NodeRunner real = Elementwise("Pow");
  EXPECT_THAT(
      FloatsOf(real.Input<float>({2, 9}, {2}).Input<int64_t>({-1, 2}, {2})),
      ElementsAre(0.5f, 81));
  NodeRunner exact = Elementwise("Pow");
  EXPECT_THAT(IntsOf(exact.Input<int64_t>({3}, {1}).Input<int64_t>({19}, {1})),
              ElementsAre(1162261467));
  NodeRunner square = Elementwise("Pow");
  EXPECT_THAT(
      FloatsOf(
          square.Input<float>({-3, 0.5f}, {2}).Constant<int64_t>({2}, {1})),
      ElementsAre(9, 0.25f));
  NodeRunner ranks = Elementwise("Pow");
  EXPECT_EQ(ranks.Input<float>({3}, {1})
                .Constant<float>({2}, {1, 1})
                .Run()
                .value()[0]
                .dims,
            (Dims{1, 1}));
  NodeRunner old = Elementwise("Pow", 7);
  EXPECT_ERROR(old.Input<float>({2}, {1}).Input<int64_t>({2}, {1}).Run(),
               "operands of types");
}

TEST(OnnxElementwise, ExtremesAndSumsTakeAnyNumberOfOperands) {
  NodeRunner max = Elementwise("Max");
  EXPECT_THAT(FloatsOf(max.Input<float>({1, 5, kNaN}, {3})
                           .Input<float>({4}, {})
                           .Input<float>({2, 9, 1}, {3})),
              ElementsAre(4, 9, ::testing::IsNan()));
  NodeRunner min = Elementwise("Min");
  EXPECT_THAT(IntsOf(min.Input<uint8_t>({200}, {1}).Input<uint8_t>({7}, {1})),
              ElementsAre(7));
  NodeRunner sum = Elementwise("Sum");
  EXPECT_THAT(FloatsOf(sum.Input<float>({1, 2}, {2})
                           .Input<float>({10, 20}, {2, 1})
                           .Input<float>({100}, {1})),
              ElementsAre(111, 112, 121, 122));
  NodeRunner mean = Elementwise("Mean");
  EXPECT_THAT(FloatsOf(mean.Input<float>({1, 2}, {2})
                           .Input<float>({2, 3}, {2})
                           .Input<float>({6, 7}, {2})),
              ElementsAre(3, 4));
  NodeRunner one = Elementwise("Mean");
  EXPECT_THAT(FloatsOf(one.Input<float>({1, 2}, {2})), ElementsAre(1, 2));
}

// ---- Logic ------------------------------------------------------------------

TEST(OnnxElementwise, TruthTables) {
  const struct {
    const char* op;
    std::vector<int64_t> expected;
  } cases[] = {{"And", {0, 0, 0, 1}},
               {"Or", {0, 1, 1, 1}},
               {"Xor", {0, 1, 1, 0}},
               {"Equal", {1, 0, 0, 1}}};
  for (const auto& one : cases) {
    NodeRunner runner = Elementwise(one.op);
    EXPECT_EQ(IntsOf(runner.Input(BoolArray({0, 1}, {2, 1}))
                         .Input(BoolArray({0, 1}, {2}))),
              one.expected)
        << one.op;
  }
  NodeRunner runner = Elementwise("Not");
  EXPECT_THAT(IntsOf(runner.Input(BoolArray({0, 1}, {2}))), ElementsAre(1, 0));
  NodeRunner refused = Elementwise("And");
  EXPECT_ERROR(refused.Input<float>({1}, {1}).Input(BoolArray({0}, {1})).Run(),
               "operand 0 is float32");
}

TEST(OnnxElementwise, Comparisons) {
  const struct {
    const char* op;
    std::vector<int64_t> expected;
  } cases[] = {{"Less", {1, 0, 0, 0}},
               {"LessOrEqual", {1, 1, 0, 0}},
               {"Greater", {0, 0, 1, 0}},
               {"GreaterOrEqual", {0, 1, 1, 0}},
               {"Equal", {0, 1, 0, 0}}};
  for (const auto& one : cases) {
    NodeRunner runner = Elementwise(one.op);
    EXPECT_EQ(
        IntsOf(runner.Input<float>({1, 2, 3, kNaN}, {4}).Input<float>({2}, {})),
        one.expected)
        << one.op;
  }
  NodeRunner exact = Elementwise("Less");
  EXPECT_THAT(IntsOf(exact.Input<int64_t>({16777216}, {1})
                         .Input<int64_t>({16777217}, {1})),
              ElementsAre(1));
}

TEST(OnnxElementwise, WhereBroadcastsThreeOperands) {
  NodeRunner runner = Elementwise("Where");
  const auto results = runner.Input(BoolArray({1, 0}, {2, 1}))
                           .Input<int64_t>({1, 2, 3}, {3})
                           .Input<int64_t>({-1}, {})
                           .Run();
  ASSERT_OK(results);
  EXPECT_EQ(results.value()[0].type, DataType::INT64);
  EXPECT_EQ(results.value()[0].dims, (Dims{2, 3}));
  EXPECT_THAT(Integers(results.value()[0]).value(),
              ElementsAre(1, 2, 3, -1, -1, -1));
}

TEST(OnnxElementwise, NotANumberAndInfinity) {
  const std::vector<float> values = {kNaN, -kInfinity, 1, kInfinity};
  NodeRunner nan = Elementwise("IsNaN");
  EXPECT_THAT(IntsOf(nan.Input(values, {4})), ElementsAre(1, 0, 0, 0));
  NodeRunner both = Elementwise("IsInf");
  EXPECT_THAT(IntsOf(both.Input(values, {4})), ElementsAre(0, 1, 0, 1));
  NodeRunner above = Elementwise("IsInf");
  EXPECT_THAT(IntsOf(above.With("detect_negative", 0).Input(values, {4})),
              ElementsAre(0, 0, 0, 1));
  NodeRunner below = Elementwise("IsInf");
  EXPECT_THAT(IntsOf(below.With("detect_positive", 0).Input(values, {4})),
              ElementsAre(0, 1, 0, 0));
  NodeRunner none = Elementwise("IsInf");
  EXPECT_THAT(IntsOf(none.With("detect_positive", 0)
                         .With("detect_negative", 0)
                         .Input(values, {4})),
              ElementsAre(0, 0, 0, 0));
}

// ---- Bits -------------------------------------------------------------------

template <typename T>
void CheckShifts() {
  const int bits = 8 * sizeof(T);
  std::vector<T> values;
  std::vector<T> shifts;
  std::vector<int64_t> left;
  std::vector<int64_t> right;
  for (const uint32_t pattern : {0u, 1u, 0xA5A5A5A5u, 0xFFFFFFFFu}) {
    for (int shift = 0; shift < bits; ++shift) {
      const T value = static_cast<T>(pattern);
      values.push_back(value);
      shifts.push_back(static_cast<T>(shift));
      left.push_back(static_cast<T>(value << shift));
      right.push_back(static_cast<T>(value >> shift));
    }
  }
  const auto count = static_cast<int64_t>(values.size());
  NodeRunner to_left = Elementwise("BitShift");
  EXPECT_EQ(IntsOf(to_left.With("direction", "LEFT")
                       .Input(values, {count})
                       .Input(shifts, {count})),
            left);
  NodeRunner to_right = Elementwise("BitShift");
  EXPECT_EQ(IntsOf(to_right.With("direction", "RIGHT")
                       .Input(values, {count})
                       .Input(shifts, {count})),
            right);
}

TEST(OnnxElementwise, BitShiftsOfAllTypes) {
  CheckShifts<uint8_t>();
  CheckShifts<uint16_t>();
  CheckShifts<uint32_t>();
  NodeRunner refused = Elementwise("BitShift");
  EXPECT_ERROR(refused.Input<uint8_t>({1}, {1}).Input<uint8_t>({1}, {1}).Run(),
               "attribute 'direction' is ''");
}

TEST(OnnxElementwise, BitwiseNot) {
  NodeRunner whole = Elementwise("BitwiseNot");
  EXPECT_THAT(IntsOf(whole.Input<int32_t>({0, -1, 2147483647}, {3})),
              ElementsAre(-1, 0, -2147483648));
  NodeRunner bytes = Elementwise("BitwiseNot");
  EXPECT_THAT(IntsOf(bytes.Input<uint8_t>({0, 255, 5}, {3})),
              ElementsAre(255, 0, 250));
  NodeRunner words = Elementwise("BitwiseNot");
  EXPECT_THAT(IntsOf(words.Input<uint32_t>({0, 5}, {2})),
              ElementsAre(4294967295, 4294967290));
}

TEST(OnnxElementwise, LogicOfBits) {
  const std::vector<int32_t> a = {-1, 0x12345678, -2147483647 - 1, 6};
  const std::vector<int32_t> b = {0x0F0F0F0F, -256, -1, 3};
  const struct {
    const char* op;
    int32_t (*expected)(int32_t, int32_t);
  } cases[] = {
      {"BitwiseAnd", [](int32_t x, int32_t y) { return x & y; }},
      {"BitwiseOr", [](int32_t x, int32_t y) { return x | y; }},
      {"BitwiseXor", [](int32_t x, int32_t y) { return x ^ y; }},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.op);
    std::vector<int64_t> expected;
    std::vector<int64_t> wide_a(a.begin(), a.end());
    std::vector<int64_t> wide_b(b.begin(), b.end());
    for (size_t i = 0; i < a.size(); ++i) {
      expected.push_back(one.expected(a[i], b[i]));
    }
    NodeRunner runner = Elementwise(one.op);
    EXPECT_EQ(IntsOf(runner.Input(a, {2, 2}).Input(b, {2, 2})), expected);
    NodeRunner wide = Elementwise(one.op);
    EXPECT_EQ(IntsOf(wide.Input(wide_a, {4}).Input(wide_b, {4})), expected);
  }
  NodeRunner bytes = Elementwise("BitwiseXor");
  EXPECT_THAT(
      IntsOf(
          bytes.Input<int8_t>({-128, 127}, {2, 1}).Input<int8_t>({-1, 1}, {2})),
      ElementsAre(127, -127, -128, 126));
  NodeRunner scalars = Elementwise("BitwiseOr");
  const auto results =
      scalars.Input<uint8_t>({0xA0}, {}).Input<uint8_t>({5}, {}).Run();
  ASSERT_OK(results);
  EXPECT_EQ(results.value()[0].dims, Dims());
  EXPECT_THAT(Integers(results.value()[0]).value(), ElementsAre(0xA5));
}

// ---- Types ------------------------------------------------------------------

constexpr int kFloat = 1, kUint8 = 2, kInt8 = 3, kInt32 = 6, kInt64 = 7,
              kString = 8, kBool = 9, kFloat16 = 10, kUint32 = 12;

TEST(OnnxElementwise, CastsOfFloatsTruncate) {
  NodeRunner runner = Elementwise("Cast");
  EXPECT_THAT(
      IntsOf(runner.With("to", kInt32).Input<float>({-2.7f, 2.7f, 0.5f}, {3})),
      ElementsAre(-2, 2, 0));
  NodeRunner truths = Elementwise("Cast");
  EXPECT_THAT(
      IntsOf(
          truths.With("to", kBool).Input<float>({0, -0.0f, 0.1f, kNaN}, {4})),
      ElementsAre(0, 0, 1, 1));
  NodeRunner half = Elementwise("Cast");
  EXPECT_THAT(
      FloatsOf(half.With("to", kFloat16).Input<float>({1.0004f, 1e6f}, {2})),
      ElementsAre(1, kInfinity));
}

TEST(OnnxElementwise, CastsOfIntegersKeepLowBits) {
  NodeRunner bytes = Elementwise("Cast");
  EXPECT_THAT(
      IntsOf(bytes.With("to", kUint8).Input<int32_t>({-1, 300, 5}, {3})),
      ElementsAre(255, 44, 5));
  NodeRunner narrow = Elementwise("Cast");
  EXPECT_THAT(
      IntsOf(
          narrow.With("to", kInt8).Input<int16_t>({200, -129, -128, 127}, {4})),
      ElementsAre(-56, 127, -128, 127));
  NodeRunner words = Elementwise("Cast");
  EXPECT_THAT(IntsOf(words.With("to", kUint32)
                         .Input<int32_t>({-1, -2147483647 - 1, 7}, {3})),
              ElementsAre(4294967295, 2147483648, 7));
  NodeRunner back = Elementwise("Cast");
  EXPECT_THAT(IntsOf(back.With("to", kInt32)
                         .Input<uint32_t>({4294967295, 2147483648, 7}, {3})),
              ElementsAre(-1, -2147483648, 7));
  NodeRunner wide = Elementwise("Cast");
  EXPECT_THAT(IntsOf(wide.With("to", kInt64).Input<uint8_t>({200}, {1})),
              ElementsAre(200));
}

TEST(OnnxElementwise, CastsOfTruthValues) {
  NodeRunner runner = Elementwise("Cast");
  EXPECT_THAT(FloatsOf(runner.With("to", kFloat).Input(BoolArray({0, 1}, {2}))),
              ElementsAre(0, 1));
  NodeRunner like = Elementwise("CastLike");
  EXPECT_THAT(
      IntsOf(like.Input<float>({3.5f}, {1}).Constant<int16_t>({1}, {1})),
      ElementsAre(3));
}

TEST(OnnxElementwise, CastsThatGraphsCannotHave) {
  NodeRunner text = Elementwise("Cast");
  EXPECT_ERROR(text.With("to", kString).Input<float>({1}, {1}).Run(),
               "attribute 'to'");
  NodeRunner number = Elementwise("Cast");
  EXPECT_ERROR(number.With("to", 99).Input<float>({1}, {1}).Run(),
               "attribute 'to'");
  NodeRunner missing = Elementwise("Cast");
  EXPECT_ERROR(missing.Input<float>({1}, {1}).Run(),
               "attribute 'to' is missing");
}

TEST(OnnxElementwise, DropoutOfInference) {
  NodeRunner runner = Elementwise("Dropout", 13);
  const auto results = runner.Input<float>({1, 2}, {2})
                           .Constant<float>({0.9f}, {})
                           .Constant(BoolArray({0}, {}))
                           .Wants({true, true})
                           .Run();
  ASSERT_OK(results);
  EXPECT_THAT(Floats(results.value()[0]).value(), ElementsAre(1, 2));
  EXPECT_EQ(results.value()[1].type, DataType::BOOL8);
  EXPECT_THAT(Integers(results.value()[1]).value(), ElementsAre(1, 1));
  NodeRunner training = Elementwise("Dropout", 13);
  EXPECT_ERROR(training.Input<float>({1}, {1})
                   .Absent()
                   .Constant(BoolArray({1}, {}))
                   .Run(),
               "training_mode");
}

TEST(OnnxElementwise, QuantizedOperandsAreTheirCodes) {
  NodeRunner runner = Elementwise("Add");
  const vx::Quantization quantization(vx::QuantType::ASYMMETRIC, 0.5f, 3);
  EXPECT_THAT(
      IntsOf(
          runner.Input(ArrayOf(std::vector<uint8_t>{7, 9}, {2}), quantization)
              .Input<uint8_t>({1}, {1})),
      ElementsAre(8, 10));
}

}  // namespace
}  // namespace tim::models::onnx
