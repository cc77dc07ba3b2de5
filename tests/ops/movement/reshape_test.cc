#include <gtest/gtest.h>

#include "ops/builtin.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using Dims = std::vector<int64_t>;

constexpr int64_t kInfer = 4294967295;

Result<TestNode> Reshape(const ir::TensorDesc& from, const Dims& target,
                         ir::TensorDesc to) {
  to.shape = ir::Shape();
  return MakeNode("tim.Reshape", {{"shape", target}}, {from}, {to});
}

ir::TensorDesc F32(const Dims& shape) {
  return Desc(DataType::kFloat32, shape);
}

bool IsView(const TestNode& node) {
  const ir::TensorDesc* inputs[] = {&node.input(0)};
  const ir::TensorDesc* outputs[] = {&node.output()};
  const ir::Node& op = node.graph.node(node.node);
  return op.schema->is_view({op, inputs, outputs});
}

TEST(Reshape, KeepsTheFlatOrder) {
  const auto x = F32({2, 3});
  const auto node = Reshape(x, {3, 2}, x);
  ASSERT_OK(node);
  const auto data = MakeTensor<float>(x, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ((*Eval(*node, {data}))[0].bytes, data.bytes);
  EXPECT_TRUE(IsView(*node));
}

TEST(Reshape, ConvertsOtherElementsByHand) {
  const auto x = Desc(DataType::kUint8, {2, 2}, 0.5f, 10);
  const auto node = Reshape(x, {4}, F32({}));
  ASSERT_OK(node);
  EXPECT_FALSE(IsView(*node));
  const auto y = Eval(*node, {MakeTensor<uint8_t>(x, {10, 12, 0, 255})});
  ASSERT_OK(y);
  EXPECT_EQ(Values<float>((*y)[0]), (std::vector<float>{0, 1, -5, 122.5f}));
}

TEST(Reshape, Extents) {
  const struct {
    Dims input;
    Dims target;
    Dims output;
  } cases[] = {
      {{2, 3, 4}, {24}, {24}},
      {{2, 3, 4}, {6, kInfer}, {6, 4}},
      {{2, 3, 4}, {-1, 12}, {2, 12}},
      {{2, 3, 4}, {0, kInfer}, {2, 12}},
      {{2, 3, 4}, {0, 0, 0}, {2, 3, 4}},
      {{1, 1}, {}, {1}},
      {{2, 3, 4}, {24, kInfer, 1}, {24, 1, 1}},
  };
  for (const auto& c : cases) {
    const auto node = Reshape(F32(c.input), c.target, F32({}));
    ASSERT_OK(node);
    EXPECT_EQ(node->output().shape, ir::Shape(c.output));
  }
}

TEST(Reshape, UnknownExtents) {
  constexpr int64_t kAny = ir::kUnknownDim;
  const struct {
    ir::Shape input;
    Dims target;
    ir::Shape output;
  } cases[] = {
      {ir::Shape(), {4, kInfer}, ir::Shape({4, kAny})},
      {ir::Shape(), {0, 4}, ir::Shape({kAny, 4})},
      {ir::Shape({kAny, 3}), {0, 0}, ir::Shape({kAny, 3})},
      {ir::Shape({kAny, 3}), {3, kInfer}, ir::Shape({3, kAny})},
      {ir::Shape(), {}, ir::Shape({1})},
  };
  for (const auto& c : cases) {
    ir::TensorDesc x = F32({});
    x.shape = c.input;
    const auto node = Reshape(x, c.target, ir::TensorDesc());
    ASSERT_OK(node);
    EXPECT_EQ(node->output().shape, c.output) << c.output.ToString();
    EXPECT_EQ(node->output().type, DataType::kFloat32);
  }
}

TEST(Reshape, InferredChannelsMoveAlong) {
  std::mt19937 rng = SeededRng(31);
  const auto x = DescOf("i8c", {2, 3, 4}, rng, 2);
  const auto node = Reshape(x, {6, 4}, ir::TensorDesc());
  ASSERT_OK(node);
  EXPECT_EQ(node->output().quantization.axis, 1);
  const auto data = RandomTensor(x, rng);
  EXPECT_EQ(RealValues((*Eval(*node, {data}))[0]), RealValues(data));
  EXPECT_ERROR(Reshape(x, {24}, ir::TensorDesc()),
               "no axis of [24] has the channels of [2, 3, 4] along axis 2");
}

TEST(Reshape, ViewsOfPackedRows) {
  std::mt19937 rng = SeededRng(32);
  const auto view = [&](const Dims& from, const Dims& to) {
    const auto x = DescOf("u4a", from, rng);
    return IsView(*Reshape(x, to, x));
  };
  EXPECT_TRUE(view({4, 3}, {6, 2}));
  EXPECT_TRUE(view({3, 4}, {3, 2, 2}));
  EXPECT_FALSE(view({3, 4}, {12}));
  EXPECT_FALSE(view({4, 3}, {3, 4}));
}

TEST(Reshape, EvalMatchesTheReference) {
  std::mt19937 rng = SeededRng(33);
  for (const std::string from :
       {"f32", "f16", "u8a", "i16d", "u4a", "i32", "b8", "i64", "i8c", "f64"}) {
    for (const std::string to : {"f32", "f16", "u8a", "i8d", "i4a", "i32"}) {
      const Dims shape = RandomShape(3, rng, 500);
      const Dims target = {shape[2], kInfer};
      const auto node =
          Reshape(DescOf(from, shape, rng), target, DescOf(to, {1}, rng));
      ASSERT_OK(node);
      const auto inputs = RandomInputs(*node, rng);
      const auto y = Eval(*node, inputs);
      ASSERT_OK(y);
      EXPECT_OK(CheckReal((*y)[0], RealValues(inputs[0]),
                          {.absolute = 1e-30, .relative = 2e-7}))
          << from << " to " << to;
    }
  }
}

TEST(Reshape, KernelMatchesEval) {
  std::mt19937 rng = SeededRng(34);
  Sample sample(3);
  const std::pair<const char*, const char*> pairs[] = {
      {"f32", "f32"},   {"f16", "f16"}, {"i64", "i64"},  {"f64", "f64"},
      {"b8", "b8"},     {"u8", "u8"},   {"f32", "u8a"},  {"u8a", "f32"},
      {"u8a", "u8a"},   {"i8d", "i8a"}, {"i16a", "f16"}, {"i32", "u8"},
      {"i16d", "i16d"}, {"f16", "f32"}, {"b8", "i32"}};
  for (const auto& [from, to] : pairs) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      if (!sample.Takes()) continue;
      const Dims shape = RandomShape(1 + rng() % 5, rng);
      const auto node = Reshape(DescOf(from, shape, rng), {1, kInfer, 1},
                                DescOf(to, {1}, rng));
      ASSERT_OK(node);
      ASSERT_OK(CheckKernels(*node, rng)) << from << " to " << to;
    }
  }
}

TEST(Reshape, KernelCopiesPerChannelCodes) {
  std::mt19937 rng = SeededRng(35);
  const auto x = DescOf("i8c", {3, 4, 2}, rng, 0);
  const auto node = Reshape(x, {3, 8}, x);
  ASSERT_OK(node);
  EXPECT_OK(CheckKernels(*node, rng));
  EXPECT_ERROR(Supports(*Reshape(x, {3, 8}, F32({})), "reshape"),
               "converting per-channel quantization has no kernel");
}

TEST(Reshape, RejectedInputs) {
  const auto x = F32({2, 3, 4});
  const auto error = [&](const Dims& target) {
    return Reshape(x, target, x).status();
  };
  EXPECT_ERROR(error({5, 5}),
               "[2, 3, 4] has 24 elements, which do not fill "
               "[5, 5]");
  EXPECT_ERROR(error({5, kInfer}), "do not fill [5, ?]");
  EXPECT_ERROR(error({}), "do not fill [1]");
  EXPECT_ERROR(error({kInfer, kInfer}), "more than one extent to infer");
  EXPECT_ERROR(error({-2, 12}), "attribute 'shape' has an extent of -2");
  EXPECT_ERROR(error({1, 1, 24, 0}), "copies extent 3 of the input");
  EXPECT_ERROR(error({1, 1, 1, 1, 1, 1, 1, 1, 24}), "at most 8 are legal");
  EXPECT_ERROR(error({int64_t{1} << 40, int64_t{1} << 40, kInfer}),
               "do not fill");
  EXPECT_ERROR(MakeNode("tim.Reshape", {}, {x}, {x}),
               "attribute 'shape' (ints) is missing");
  EXPECT_ERROR(MakeNode("tim.Reshape", {{"shape", Dims{24}}}, {x}, {F32({25})}),
               "declared as [25]");
  EXPECT_ERROR(Reshape(ir::TensorDesc(), {1}, x), "input 0 has no data type");
}

}  // namespace
}  // namespace tim::testing
