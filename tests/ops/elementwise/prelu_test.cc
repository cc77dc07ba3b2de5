// Prelu, and small operands of binary operators beside tensors in blocks.
#include <gtest/gtest.h>

#include "tests/support/data/binary_reference.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using Dims = std::vector<int64_t>;

TEST(Prelu, ByHand) {
  const auto x = MakeTensor<float>(Desc(DataType::kFloat32, {2, 2, 3}),
                                   {-1, 2, -3, 4, -1, 2, -3, 4, -1, 2, -3, 4});
  const auto run = [&](const TensorData& slope, int64_t axis) {
    const auto node =
        MakeBinary("tim.Prelu", x.desc, slope.desc, x.desc, {{"axis", axis}});
    EXPECT_OK(node);
    const auto result = Eval(*node, {x, slope});
    EXPECT_OK(result);
    EXPECT_OK(CheckKernels(*node, {x, slope}));
    return Values<float>((*result)[0]);
  };
  const std::vector<float> channels = {0.5f, 2, -1};
  const std::vector<float> expected = {-0.5f, 2, -1.5f, 4, -2, 2,
                                       -6,    4, 1,     2, 3,  4};
  EXPECT_EQ(
      run(MakeTensor<float>(Desc(DataType::kFloat32, {1, 1, 3}), channels), 0),
      expected);
  // Rank 1, along an axis that it fits, counted from either end.
  const auto row = MakeTensor<float>(Desc(DataType::kFloat32, {3}), channels);
  EXPECT_EQ(run(row, 2), expected);
  EXPECT_EQ(run(row, -1), expected);
  // As long as dimension 0, it lies there.
  EXPECT_EQ(run(MakeTensor<float>(Desc(DataType::kFloat32, {2}), {0.5f, 9}), 1),
            (std::vector<float>{-0.5f, 2, -1.5f, 4, -0.5f, 2, -1.5f, 4, -0.5f,
                                2, -1.5f, 4}));
}

// One value for each channel, or for all, need not come in blocks where the
// channels fill them.
TEST(Binary, SmallOperandsAreDenseBesideBlocks) {
  std::mt19937 rng = SeededRng(47);
  struct Case {
    Dims shape;
    Dims small;
    int layouts;
  };
  const Case cases[] = {
      {{3, 5, 32, 2}, {1, 1, 32}, 2},   {{3, 5, 32, 2}, {1}, 2},
      {{3, 5, 32, 2}, {1, 1, 1, 1}, 2}, {{3, 5, 32, 2}, {1, 1, 32, 1}, 2},
      {{3, 5, 17, 2}, {1, 1, 17}, 1},   {{3, 5, 17, 2}, {1}, 1},
      {{3, 5, 32, 2}, {3}, 1},          {{3, 5, 32, 2}, {1, 5, 1}, 1}};
  for (const std::string type : {"f32", "u8a"}) {
    for (const Case& c : cases) {
      for (const std::string op : {"tim.Add", "tim.Sub"}) {
        const bool first = op == "tim.Sub";
        const auto large = DescOf(type, c.shape, rng);
        const auto small = DescOf(type, c.small, rng);
        const auto node =
            MakeBinary(op, first ? small : large, first ? large : small, large);
        ASSERT_OK(node);
        EXPECT_EQ(LayoutCount(*node, first ? "sub" : "add"), c.layouts);
        ASSERT_OK(CheckKernels(*node, rng));
      }
    }
  }
}

TEST(Prelu, ASlopeOfRank1MayBeDenseBesideBlocks) {
  std::mt19937 rng = SeededRng(48);
  const auto x = Desc(DataType::kFloat32, {3, 5, 32, 2});
  for (const Dims& slope : {Dims{32}, Dims{1, 1, 32}, Dims{1}}) {
    const auto node = MakeBinary(
        "tim.Prelu", x, Desc(DataType::kFloat32, slope), x, {{"axis", 2}});
    ASSERT_OK(node);
    EXPECT_EQ(LayoutCount(*node, "prelu"), 2);
    ASSERT_OK(CheckKernels(*node, rng));
  }
}

}  // namespace
}  // namespace tim::testing
