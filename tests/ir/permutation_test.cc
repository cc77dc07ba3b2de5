#include "ir/permutation.h"

#include <gtest/gtest.h>

#include "ir/op_schema.h"
#include "tests/support/status_macros.h"

namespace tim::ir {
namespace {

using Ints = std::vector<int64_t>;

TEST(Permutation, OfEveryAxisOnce) {
  EXPECT_TRUE(IsPermutation(Permutation{}));
  EXPECT_TRUE(IsPermutation(Permutation{1, 2, 0}));
  EXPECT_FALSE(IsPermutation(Permutation{1, 1, 0}));
  EXPECT_FALSE(IsPermutation(Permutation{1, 2}));
  EXPECT_FALSE(IsPermutation(Permutation{-1, 0}));
  EXPECT_FALSE(IsPermutation(Ints{0, int64_t{1} << 32}));
}

TEST(Permutation, InverseLeadsBack) {
  const Permutation p = {1, 2, 0, 3};
  EXPECT_EQ(Inverse(p), (Permutation{2, 0, 1, 3}));
  EXPECT_TRUE(IsIdentity(Compose(p, Inverse(p))));
  EXPECT_TRUE(IsIdentity(Compose(Inverse(p), p)));
  EXPECT_TRUE(IsIdentity(Permutation{}));
  EXPECT_TRUE(IsIdentity(IdentityPermutation(3)));
  EXPECT_FALSE(IsIdentity(p));
}

TEST(Permutation, ComposedAppliesTheFirstFirst) {
  const Permutation first = {1, 2, 0};
  const Permutation second = {1, 0};  // leaves axis 2
  const std::vector<char> values = {'w', 'h', 'c'};
  const auto once = Permuted(values, first);
  EXPECT_EQ(once, (std::vector{'h', 'c', 'w'}));
  EXPECT_EQ(Permuted(values, Compose(first, second)),
            (std::vector{'c', 'h', 'w'}));
  EXPECT_EQ(Compose(first, {}), first);
  EXPECT_EQ(Compose({}, first), first);
  for (int axis = 0; axis < 4; ++axis) {
    EXPECT_EQ(NewAxis(first, axis), axis == 3 ? 3 : Inverse(first)[axis]);
  }
}

TEST(Permutation, BroadcastOperandsGetTheExtentsThatTheyNeed) {
  const Permutation cwhn = {2, 0, 1, 3};
  EXPECT_EQ(BroadcastPermutation(cwhn, 4), cwhn);
  EXPECT_EQ(BroadcastPermutation(cwhn, 3), (Permutation{2, 0, 1}));
  EXPECT_EQ(BroadcastPermutation(cwhn, 1), (Permutation{1, 0}));
  EXPECT_EQ(BroadcastPermutation(cwhn, 0), Permutation{});
  EXPECT_EQ(BroadcastPermutation(Permutation{0, 1, 3, 2}, 2),
            (Permutation{0, 1}));
}

TensorDesc Weights(Shape shape) {
  TensorDesc desc;
  desc.type = DataType::kInt8;
  desc.shape = std::move(shape);
  desc.quantization = {
      .kind = QuantizationKind::kPerChannel, .axis = 1, .scales = {1.0f, 2.0f}};
  return desc;
}

TEST(Permutation, ChannelsMoveAlong) {
  const TensorDesc moved = Permuted(Weights({3, 2}), Permutation{1, 2, 0});
  EXPECT_EQ(moved.shape, Shape({2, 1, 3}));
  EXPECT_EQ(moved.quantization.axis, 0);
  Shape bounded = {3, kUnknownDim};
  bounded.SetBound(1, 8);
  EXPECT_EQ(Permuted(Weights(bounded), Permutation{1, 0}).shape.ToString(),
            "[?<=8, 3]");
  EXPECT_EQ(Permuted(Weights(Shape()), Permutation{1, 0}).shape,
            Shape::OfRank(2));
}

// ---- questions --------------------------------------------------------------

OpSchema Toy() {
  OpSchema schema;
  schema.name = "Toy";
  schema.inputs = {2, 2};
  return schema;
}

// A node of [4, 3] and an absent input.
Result<PermutedNode> Ask(const OpSchema& schema, int operand,
                         const Permutation& perm, Shape output = {4, 3}) {
  Node node;
  node.schema = &schema;
  TensorDesc x;
  x.shape = {4, 3};
  TensorDesc y;
  y.shape = std::move(output);
  const TensorDesc* inputs[] = {&x, nullptr};
  const TensorDesc* outputs[] = {&y};
  return PermuteNode({node, inputs, outputs}, operand, perm);
}

TEST(PermuteNode, TakesPermutationsOfAnInput) {
  const OpSchema toy = Toy();
  EXPECT_ERROR(Ask(toy, 2, {1, 0}), "tim.Toy@1 has no input 2");
  EXPECT_ERROR(Ask(toy, -1, {1, 0}), "has no input -1");
  EXPECT_ERROR(Ask(toy, 1, {1, 0}), "has no input 1");
  EXPECT_ERROR(Ask(toy, 0, {1, 0, 2}),
               "[1, 0, 2] is not a permutation of input 0, [4, 3]");
  EXPECT_ERROR(Ask(toy, 0, {1, 1}), "[1, 1] is not a permutation");
}

TEST(PermuteNode, WithoutARuleABarrier) {
  const OpSchema toy = Toy();
  EXPECT_ERROR(Ask(toy, 0, {1, 0}), "does not let permutations through");
  const auto same = Ask(toy, 0, {0, 1});
  ASSERT_OK(same);
  EXPECT_EQ(same->inputs, std::vector<Permutation>(2));
  EXPECT_EQ(same->outputs, std::vector<Permutation>(1));
}

TEST(PermuteNode, OutputsOfAnotherRankAreABarrier) {
  OpSchema toy = Toy();
  toy.permute_rule = [](const NodeView& view, int,
                        std::span<const int> perm) -> Result<PermutedNode> {
    PermutedNode out = UnpermutedNode(view);
    out.inputs[0].assign(perm.begin(), perm.end());
    out.outputs[0] = out.inputs[0];
    return out;
  };
  EXPECT_OK(Ask(toy, 0, {1, 0}));
  EXPECT_OK(Ask(toy, 0, {1, 0}, Shape()));
  EXPECT_ERROR(Ask(toy, 0, {1, 0}, {12}), "has another rank");
}

}  // namespace
}  // namespace tim::ir
