#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "ops/builtin.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using Dims = std::vector<int64_t>;

Result<TestNode> Transpose(const ir::TensorDesc& from, const Dims& perm,
                           ir::TensorDesc to) {
  to.shape = ir::Shape();
  return MakeNode("tim.Transpose", {{"perm", perm}}, {from}, {to});
}

Dims RandomPerm(size_t rank, std::mt19937& rng) {
  Dims perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  std::shuffle(perm.begin(), perm.end(), rng);
  return perm;
}

// out[o] = in[p] with p[perm[i]] = o[i].
std::vector<double> Reference(const TensorData& x, const Dims& perm) {
  const std::vector<double> in = RealValues(x);
  std::vector<double> out(in.size());
  const ir::Shape& shape = x.desc.shape;
  for (int64_t i = 0; i < static_cast<int64_t>(out.size()); ++i) {
    Dims p(perm.size());
    int64_t rest = i;
    for (size_t axis = 0; axis < perm.size(); ++axis) {
      const int64_t extent = shape[static_cast<int>(perm[axis])];
      p[perm[axis]] = rest % extent;
      rest /= extent;
    }
    int64_t source = 0;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      source = source * shape[axis] + p[axis];
    }
    out[i] = in[source];
  }
  return out;
}

TEST(Transpose, MatrixByHand) {
  const auto x = Desc(DataType::kFloat32, {3, 2});
  const auto node = Transpose(x, {1, 0}, x);
  ASSERT_OK(node);
  EXPECT_EQ(node->output().shape, ir::Shape({2, 3}));
  const auto y = Eval(*node, {MakeTensor<float>(x, {1, 2, 3, 4, 5, 6})});
  ASSERT_OK(y);
  EXPECT_EQ(Values<float>((*y)[0]), (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

// Three axes tell a permutation from its inverse.
TEST(Transpose, ThreeAxesByHand) {
  const auto x = Desc(DataType::kInt32, {1, 2, 3});
  const auto node = Transpose(x, {1, 2, 0}, x);
  ASSERT_OK(node);
  EXPECT_EQ(node->output().shape, ir::Shape({2, 3, 1}));
  const auto y = Transpose(Desc(DataType::kInt32, {2, 3, 2}), {2, 0, 1}, x);
  ASSERT_OK(y);
  EXPECT_EQ(y->output().shape, ir::Shape({2, 2, 3}));
  const auto data =
      MakeTensor<int32_t>(y->input(0), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  EXPECT_EQ(Codes((*Eval(*y, {data}))[0]),
            (std::vector<int64_t>{0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11}));
}

TEST(Transpose, EvalMatchesTheReference) {
  std::mt19937 rng = SeededRng(41);
  for (const std::string from :
       {"f32", "f16", "u8a", "i16d", "u4a", "i32", "b8", "i64", "i8c", "f64"}) {
    for (const std::string to : {"f32", "f16", "u8a", "i8d", "i4a", "i32"}) {
      const Dims shape = RandomShape(1 + rng() % 5, rng, 500);
      const Dims perm = RandomPerm(shape.size(), rng);
      const auto node =
          Transpose(DescOf(from, shape, rng), perm, DescOf(to, {1}, rng));
      ASSERT_OK(node);
      const auto inputs = RandomInputs(*node, rng);
      const auto y = Eval(*node, inputs);
      ASSERT_OK(y);
      EXPECT_OK(CheckReal((*y)[0], Reference(inputs[0], perm),
                          {.absolute = 1e-30, .relative = 2e-7}))
          << from << " to " << to;
    }
  }
}

TEST(Transpose, KernelMatchesEval) {
  std::mt19937 rng = SeededRng(42);
  Sample sample(3);
  const std::pair<const char*, const char*> pairs[] = {
      {"f32", "f32"}, {"f16", "f16"},  {"i64", "i64"}, {"b8", "b8"},
      {"u8", "u8"},   {"f32", "u8a"},  {"u8a", "f32"}, {"u8a", "u8a"},
      {"i8d", "i8a"}, {"f16", "i16a"}, {"i32", "u8"},  {"i16d", "i16d"},
      {"f16", "f32"}, {"i32", "i32"}};
  for (const auto& [from, to] : pairs) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      if (!sample.Takes()) continue;
      const Dims shape = RandomShape(1 + rng() % 8, rng);
      const Dims perm = RandomPerm(shape.size(), rng);
      const auto node =
          Transpose(DescOf(from, shape, rng), perm, DescOf(to, {1}, rng));
      ASSERT_OK(node);
      ASSERT_OK(CheckKernels(*node, rng)) << from << " to " << to;
    }
  }
}

TEST(Transpose, SizesAroundATile) {
  std::mt19937 rng = SeededRng(43);
  Sample sample(3);
  for (const int64_t width : {1, 15, 16, 17, 32, 33}) {
    for (const int64_t height : {1, 15, 16, 17, 33}) {
      for (const Dims& perm :
           {Dims{1, 0, 2}, Dims{0, 2, 1}, Dims{2, 1, 0}, Dims{1, 2, 0}}) {
        if (!sample.Takes()) continue;
        const auto x = Desc(DataType::kFloat32, {width, height, 3});
        const auto node = Transpose(x, perm, x);
        ASSERT_OK(node);
        ASSERT_OK(CheckKernels(*node, rng));
      }
    }
  }
}

TEST(Transpose, EightAxesReversed) {
  std::mt19937 rng = SeededRng(44);
  for (const std::string type : {"f32", "u8a"}) {
    const auto x = DescOf(type, {2, 3, 2, 3, 2, 3, 2, 3}, rng);
    const auto node = Transpose(x, {7, 6, 5, 4, 3, 2, 1, 0}, x);
    ASSERT_OK(node);
    EXPECT_OK(CheckKernels(*node, rng));
  }
}

TEST(Transpose, ChannelsMoveAlong) {
  std::mt19937 rng = SeededRng(45);
  const auto x = DescOf("i8c", {2, 3, 4}, rng, 1);
  const auto node = Transpose(x, {1, 2, 0}, ir::TensorDesc());
  ASSERT_OK(node);
  EXPECT_EQ(node->output().quantization.axis, 0);
  EXPECT_EQ(node->output().quantization.scales, x.quantization.scales);
  const auto data = RandomTensor(x, rng);
  EXPECT_EQ(RealValues((*Eval(*node, {data}))[0]), Reference(data, {1, 2, 0}));
  EXPECT_OK(CheckKernels(*node, rng));
}

// The declared channels stay at axis 0 while the input's move to axis 1: the
// quantizations look equal, but the elements are not.
TEST(Transpose, ChannelsThatDoNotMoveAlongAreConverted) {
  std::mt19937 rng = SeededRng(46);
  const auto x = DescOf("i8c", {3, 3}, rng, 0);
  const auto node = Transpose(x, {1, 0}, x);
  ASSERT_OK(node);
  const auto data = RandomTensor(x, rng);
  EXPECT_OK(CheckReal((*Eval(*node, {data}))[0], Reference(data, {1, 0})));
  EXPECT_ERROR(Supports(*node, "transpose"),
               "converting per-channel quantization has no kernel");
}

TEST(Transpose, Identity) {
  const auto is_identity = [](const TestNode& node) {
    const ir::TensorDesc* inputs[] = {&node.input(0)};
    const ir::TensorDesc* outputs[] = {&node.output()};
    const ir::Node& op = node.graph.node(node.node);
    return op.schema->is_identity({op, inputs, outputs});
  };
  const auto f32 = Desc(DataType::kFloat32, {2, 3});
  EXPECT_TRUE(is_identity(*Transpose(f32, {0, 1}, f32)));
  EXPECT_FALSE(is_identity(*Transpose(f32, {1, 0}, f32)));
  EXPECT_FALSE(
      is_identity(*Transpose(f32, {0, 1}, Desc(DataType::kFloat16, {}))));
}

TEST(Transpose, UnknownShapes) {
  constexpr int64_t kAny = ir::kUnknownDim;
  ir::TensorDesc x = Desc(DataType::kFloat32, {});
  x.shape = ir::Shape();
  const auto unranked = Transpose(x, {1, 0}, ir::TensorDesc());
  ASSERT_OK(unranked);
  EXPECT_EQ(unranked->output().shape, ir::Shape({kAny, kAny}));
  x.shape = ir::Shape({kAny, 3});
  const auto partial = Transpose(x, {1, 0}, ir::TensorDesc());
  ASSERT_OK(partial);
  EXPECT_EQ(partial->output().shape, ir::Shape({3, kAny}));
  EXPECT_EQ(partial->output().type, DataType::kFloat32);
}

TEST(Transpose, RejectedInputs) {
  const auto x = Desc(DataType::kFloat32, {2, 3});
  const auto error = [&](const Dims& perm) {
    return Transpose(x, perm, x).status();
  };
  EXPECT_ERROR(error({0, 1, 2}), "has 3 axes, the input [2, 3] has 2");
  EXPECT_ERROR(error({0, 0}), "[0, 0] is not a permutation of 0 to 1");
  EXPECT_ERROR(error({1, 2}), "[1, 2] is not a permutation of 0 to 1");
  EXPECT_ERROR(error({-1, 0}), "[-1, 0] is not a permutation of 0 to 1");
  EXPECT_ERROR(error({0, 1, 2, 3, 4, 5, 6, 7, 8}), "at most 8 are legal");
  EXPECT_ERROR(MakeNode("tim.Transpose", {}, {x}, {x}),
               "attribute 'perm' (ints) is missing");
  EXPECT_ERROR(MakeNode("tim.Transpose", {{"perm", Dims{1, 0}}}, {x},
                        {Desc(DataType::kFloat32, {7})}),
               "declared as [7]");
  EXPECT_ERROR(Transpose(ir::TensorDesc(), {0}, x), "input 0 has no data type");
}

}  // namespace
}  // namespace tim::testing
