#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "ops/builtin.h"
#include "tests/support/data/binary_reference.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using Dims = std::vector<int64_t>;

const ir::AttributeMap kWrap = {{ir::kOverflowPolicy, int64_t{0}}};
const ir::AttributeMap kToZero = {{ir::kRoundingPolicy, int64_t{0}}};

Result<TestNode> Add(const ir::TensorDesc& a, const ir::TensorDesc& b,
                     const ir::TensorDesc& y,
                     const ir::AttributeMap& policy = {}) {
  return MakeBinary("tim.Add", a, b, y, policy);
}

TEST(Add, BroadcastsBothWaysByHand) {
  const auto a = Desc(DataType::kFloat32, {2, 1});
  const auto b = Desc(DataType::kFloat32, {1, 3});
  const auto node = Add(a, b, Desc(DataType::kFloat32, {}));
  ASSERT_OK(node);
  EXPECT_EQ(node->output().shape, ir::Shape({2, 3}));
  const auto y = Eval(*node, {MakeTensor<float>(a, {1, 2}),
                              MakeTensor<float>(b, {10, 20, 30})});
  ASSERT_OK(y);
  EXPECT_EQ(Values<float>((*y)[0]),
            (std::vector<float>{11, 12, 21, 22, 31, 32}));
}

TEST(Add, QuantizedByHand) {
  const auto a = Desc(DataType::kUint8, {4}, 0.5f, 10);
  const auto b = Desc(DataType::kInt8, {1}, 0.25f, -4);
  const auto node = Add(a, b, Desc(DataType::kUint8, {}, 1.0f, 3));
  ASSERT_OK(node);
  const auto y = Eval(*node, {MakeTensor<uint8_t>(a, {10, 13, 15, 255}),
                              MakeTensor<int8_t>(b, {-2})});
  ASSERT_OK(y);
  // 0.5, 2, 3 and 123 after adding 0.5; ties go to even codes: 3.5 -> 4.
  EXPECT_EQ(Codes((*y)[0]), (std::vector<int64_t>{4, 5, 6, 126}));
}

TEST(Add, PlainIntegersSaturateOrWrap) {
  const auto i32 = Desc(DataType::kInt32, {4});
  const auto u8 = Desc(DataType::kUint8, {4});
  const std::vector<TensorData> wide = {
      MakeTensor<int32_t>(i32, {2147483647, -2147483648, 16777217, -5}),
      MakeTensor<int32_t>(i32, {1, -1, 1, 5})};
  const std::vector<TensorData> narrow = {
      MakeTensor<uint8_t>(u8, {250, 0, 255, 7}),
      MakeTensor<uint8_t>(u8, {10, 0, 255, 1})};
  struct Expected {
    ir::AttributeMap policy;
    std::vector<int64_t> wide;
    std::vector<int64_t> narrow;
  };
  for (const Expected& expected :
       {Expected{{}, {2147483647, -2147483648, 16777218, 0}, {255, 0, 255, 8}},
        Expected{
            kWrap, {-2147483648, 2147483647, 16777218, 0}, {4, 0, 254, 8}}}) {
    const auto node32 = Add(i32, i32, i32, expected.policy);
    ASSERT_OK(node32);
    const auto y32 = Eval(*node32, wide);
    ASSERT_OK(y32);
    EXPECT_EQ(Codes((*y32)[0]), expected.wide);
    EXPECT_OK(CheckKernels(*node32, wide));
    const auto node8 = Add(u8, u8, u8, expected.policy);
    ASSERT_OK(node8);
    const auto y8 = Eval(*node8, narrow);
    ASSERT_OK(y8);
    EXPECT_EQ(Codes((*y8)[0]), expected.narrow);
    EXPECT_OK(CheckKernels(*node8, narrow));
  }
}

TEST(Add, Int64OverflowsAsThePolicySays) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const auto i64 = Desc(DataType::kInt64, {3});
  const std::vector<TensorData> inputs = {
      MakeTensor<int64_t>(i64, {kMax, kMin, -7}),
      MakeTensor<int64_t>(i64, {1, -1, 8})};
  const auto saturate = Add(i64, i64, i64);
  ASSERT_OK(saturate);
  EXPECT_EQ(Codes((*Eval(*saturate, inputs))[0]),
            (std::vector<int64_t>{kMax, kMin, 1}));
  EXPECT_OK(CheckKernels(*saturate, inputs));
  const auto wrap = Add(i64, i64, i64, kWrap);
  ASSERT_OK(wrap);
  EXPECT_EQ(Codes((*Eval(*wrap, inputs))[0]),
            (std::vector<int64_t>{kMin, kMax, 1}));
  EXPECT_OK(CheckKernels(*wrap, inputs));
}

TEST(Add, PoliciesOfQuantizedResults) {
  const auto a = Desc(DataType::kInt8, {3}, 1.0f, 0);
  const auto y = Desc(DataType::kInt8, {}, 0.35f, 0);
  const std::vector<TensorData> inputs = {MakeTensor<int8_t>(a, {1, -1, 100}),
                                          MakeTensor<int8_t>(a, {0, 0, 0})};
  // 2.86, -2.86 and 285.7 in units of the result.
  const struct {
    ir::AttributeMap policy;
    std::vector<int64_t> codes;
  } cases[] = {
      {{}, {3, -3, 127}}, {kToZero, {2, -2, 127}}, {kWrap, {3, -3, 30}}};
  for (const auto& expected : cases) {
    const auto node = Add(a, a, y, expected.policy);
    ASSERT_OK(node);
    EXPECT_EQ(Codes((*Eval(*node, inputs))[0]), expected.codes);
    EXPECT_OK(CheckKernels(*node, inputs));
  }
}

TEST(Add, EvalFollowsTheFormula) {
  std::mt19937 rng = SeededRng(11);
  for (const std::string a : {"f32", "f16", "i32", "u8a", "i8a", "i16a", "i8d",
                              "i16d", "u4a", "i4a", "i8c", "bf16"}) {
    for (const std::string b : {"f32", "f16", "u8a", "i8d", "u4a", "i32"}) {
      for (const std::string y : {"f32", "f16", "u8a", "i16d", "i4a"}) {
        const Dims shape = RandomShape(1 + rng() % 5, rng, 500);
        const auto node =
            Add(DescOf(a, shape, rng), DescOf(b, Shrink(shape, rng), rng),
                DescOf(y, shape, rng));
        ASSERT_OK(node);
        const auto inputs = RandomInputs(*node, rng);
        const auto result = Eval(*node, inputs);
        ASSERT_OK(result);
        // A sum in float may cancel the leading digits of int32.
        const double absolute = a == "i32" || b == "i32" ? 256 : 1e-5;
        EXPECT_OK(CheckReal((*result)[0],
                            BinaryReference(*node, inputs, std::plus<double>()),
                            {.absolute = absolute, .relative = 1e-6}))
            << a << " + " << b << " to " << y;
      }
    }
  }
}

struct Types {
  const char* a;
  const char* b;
  const char* y;
};
const Types kTypes[] = {
    {"f32", "f32", "f32"}, {"f16", "f16", "f16"},    {"u8a", "u8a", "u8a"},
    {"i8a", "i8a", "i8a"}, {"i16a", "i16a", "i16a"}, {"u16a", "u16a", "u16a"},
    {"i8d", "i8d", "i8d"}, {"i16d", "i16d", "i16d"}, {"i32", "i32", "i32"},
    {"u8", "i8", "i16"},   {"i64", "i32", "i64"},    {"f32", "u8a", "i8a"},
    {"i8a", "f16", "u8a"}, {"i16a", "i32", "i16a"},  {"f16", "f32", "f16"},
    {"i8d", "f32", "f32"},
};

TEST(Add, KernelMatchesEval) {
  std::mt19937 rng = SeededRng(12);
  Sample sample(3);
  for (const Types& types : kTypes) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      if (!sample.Takes()) continue;
      const Dims shape = RandomShape(1 + rng() % 8, rng, 5000);
      const auto node = Add(DescOf(types.a, Shrink(shape, rng), rng),
                            DescOf(types.b, Shrink(shape, rng), rng),
                            DescOf(types.y, shape, rng));
      ASSERT_OK(node);
      ASSERT_OK(CheckKernels(*node, rng))
          << types.a << " + " << types.b << " to " << types.y;
    }
  }
}

TEST(Add, PoliciesInKernels) {
  std::mt19937 rng = SeededRng(13);
  for (const auto& policy : {kWrap, kToZero}) {
    for (const std::string type : {"u8a", "i16d", "i8", "i32", "f32"}) {
      const Dims shape = RandomShape(3, rng, 2000);
      auto y = DescOf(type, shape, rng);
      for (float& scale : y.quantization.scales) scale *= 0.25f;
      const auto node =
          Add(DescOf(type, shape, rng), DescOf(type, shape, rng), y, policy);
      ASSERT_OK(node);
      ASSERT_OK(CheckKernels(*node, rng)) << type;
    }
  }
}

TEST(Add, EverySizeAroundAVector) {
  std::mt19937 rng = SeededRng(14);
  for (const int64_t size : {1, 15, 16, 17, 31, 32, 33}) {
    for (const std::string type : {"f32", "f16", "u8a", "i32"}) {
      for (const Dims& other : {Dims{size}, Dims{1}, Dims{1, 3}}) {
        const auto node =
            Add(DescOf(type, {size}, rng), DescOf(type, other, rng),
                DescOf(type, {size}, rng));
        ASSERT_OK(node);
        ASSERT_OK(CheckKernels(*node, rng)) << type << " " << size;
      }
    }
  }
}

// No two neighbouring axes of these operands collapse.
TEST(Add, EightAlternatingAxes) {
  std::mt19937 rng = SeededRng(15);
  for (const std::string type : {"f32", "u8a"}) {
    const auto node = Add(DescOf(type, {3, 1, 2, 1, 3, 1, 2, 1}, rng),
                          DescOf(type, {1, 2, 1, 3, 1, 2, 1, 2}, rng),
                          DescOf(type, {1}, rng));
    ASSERT_OK(node);
    EXPECT_EQ(node->output().shape, ir::Shape({3, 2, 2, 3, 3, 2, 2, 2}));
    EXPECT_OK(CheckKernels(*node, rng));
  }
}

TEST(Add, BlockedLayouts) {
  std::mt19937 rng = SeededRng(16);
  for (const std::string type : {"f32", "f16", "u8a", "i8a", "i16d", "i32"}) {
    for (const int64_t channels : {1, 15, 16, 17, 33}) {
      for (const Dims& other :
           {Dims{3, 5, channels, 2}, Dims{1, 1, channels, 1}}) {
        const auto node = Add(DescOf(type, {3, 5, channels, 2}, rng),
                              DescOf(type, other, rng), DescOf(type, {1}, rng));
        ASSERT_OK(node);
        EXPECT_EQ(LayoutCount(*node, "add"), 2);
        ASSERT_OK(CheckKernels(*node, rng)) << type;
      }
    }
  }
}

// A channel that is broadcast would fill the tail lanes.
TEST(Add, NoBlocksForBroadcastChannels) {
  const auto f32 = [](Dims shape) { return Desc(DataType::kFloat32, shape); };
  for (const Dims& other : {Dims{1}, Dims{3, 5, 1, 2}, Dims{3, 5, 20}}) {
    const auto node = Add(f32({3, 5, 20, 2}), f32(other), f32({}));
    ASSERT_OK(node);
    EXPECT_EQ(LayoutCount(*node, "add"), 1);
  }
}

TEST(Add, FourBitAndPerChannelRunInEval) {
  std::mt19937 rng = SeededRng(18);
  for (const std::string type : {"u4a", "i4a", "i8c"}) {
    const auto desc = DescOf(type, {4, 3}, rng);
    const auto node = Add(desc, desc, desc);
    ASSERT_OK(node);
    EXPECT_TRUE(SupportedKernels(*node).empty());
  }
}

TEST(Add, UnknownShapes) {
  constexpr int64_t kAny = ir::kUnknownDim;
  const struct {
    ir::Shape a;
    ir::Shape b;
    ir::Shape y;
  } cases[] = {
      {ir::Shape(), ir::Shape({3}), ir::Shape()},
      {ir::Shape({kAny, 2}), ir::Shape({3, 1}), ir::Shape({3, 2})},
      {ir::Shape({kAny}), ir::Shape({1}), ir::Shape({kAny})},
      {ir::Shape({kAny}), ir::Shape({kAny, 4}), ir::Shape({kAny, 4})},
  };
  for (const auto& c : cases) {
    ir::TensorDesc a = Desc(DataType::kFloat32, {});
    ir::TensorDesc b = a;
    a.shape = c.a;
    b.shape = c.b;
    const auto node = MakeNode("tim.Add", {}, {a, b}, {ir::TensorDesc()});
    ASSERT_OK(node);
    EXPECT_EQ(node->output().shape, c.y) << c.y.ToString();
    EXPECT_EQ(node->output().type, DataType::kFloat32);
  }
}

TEST(Add, RejectedInputs) {
  const auto f32 = Desc(DataType::kFloat32, {4});
  const auto b8 = Desc(DataType::kBool8, {4});
  EXPECT_ERROR(Add(f32, Desc(DataType::kFloat32, {3}), f32),
               "shapes [4] and [3] do not broadcast: along axis 0 4 meets 3");
  EXPECT_ERROR(Add(b8, f32, f32), "input 0 is bool8");
  EXPECT_ERROR(Add(f32, b8, f32), "input 1 is bool8");
  EXPECT_ERROR(Add(f32, f32, b8), "output 0 is bool8");
  EXPECT_ERROR(MakeNode("tim.Add", {}, {f32}, {f32}), "input 1 is not bound");
  EXPECT_ERROR(MakeNode("tim.Add", {}, {f32, std::nullopt}, {f32}),
               "input 1 is not bound");
  EXPECT_ERROR(
      MakeNode("tim.Add", {}, {f32, f32}, {Desc(DataType::kFloat32, {2, 3})}),
      "declared as [2, 3]");
}

TEST(Add, OperandsOfLowerRankMoveWithTheOutput) {
  const auto image = Desc(DataType::kFloat32, {4, 3, 5, 2});
  const auto rows = Desc(DataType::kFloat32, {4, 3});
  const auto node = Add(image, rows, image);
  ASSERT_OK(node);
  const ir::TensorDesc* inputs[] = {&image, &rows};
  const ir::TensorDesc* outputs[] = {&image};
  const ir::NodeView view{node->graph.node(node->node), inputs, outputs};
  using ir::Permutation;
  const Permutation nhwc = {2, 0, 1, 3};
  const auto higher = ir::PermuteNode(view, 0, nhwc);
  ASSERT_OK(higher);
  // [4, 3, 1] becomes [1, 4, 3].
  EXPECT_EQ(higher->inputs, (std::vector<Permutation>{nhwc, {2, 0, 1}}));
  EXPECT_EQ(higher->outputs, std::vector<Permutation>{nhwc});
  const Permutation swapped = {1, 0};
  const Permutation whole = {1, 0, 2, 3};
  const auto lower = ir::PermuteNode(view, 1, swapped);
  ASSERT_OK(lower);
  EXPECT_EQ(lower->inputs, (std::vector<Permutation>{whole, swapped}));
  EXPECT_EQ(lower->outputs, std::vector<Permutation>{whole});
}

}  // namespace
}  // namespace tim::testing
