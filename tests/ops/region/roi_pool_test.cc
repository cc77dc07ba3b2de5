// Corners, by hand and where they are no numbers.
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::TensorDesc;
using Ints = std::vector<int64_t>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TensorDesc F32(Ints shape) { return Desc(DataType::kFloat32, shape); }

// Of one region of the image 1, 2, 3, ... of 4 * 4, size bins.
std::vector<float> Pooled(const Ints& size, const std::vector<float>& region) {
  const TensorDesc result = F32({size[0], size[1], 1, 1});
  const auto node = MakeNode("tim.RoiPool", {{"scale", 0.5}, {"size", size}},
                             {F32({4, 4, 1, 1}), F32({5, 1})}, {result});
  EXPECT_OK(node);
  if (!node.ok()) return {};
  std::vector<float> image(16);
  for (int i = 0; i < 16; ++i) image[i] = static_cast<float>(i + 1);
  const std::vector<TensorData> inputs = {MakeTensor(F32({4, 4, 1, 1}), image),
                                          MakeTensor(F32({5, 1}), region)};
  const auto expected = Eval(*node, inputs);
  EXPECT_OK(expected);
  const auto found = RunKernel(*node, "roipool", 0, inputs);
  EXPECT_OK(found);
  if (!expected.ok() || !found.ok()) return {};
  EXPECT_OK(CompareTensors((*expected)[0], (*found)[0]));
  return Values<float>((*expected)[0]);
}

using Floats = std::vector<float>;

TEST(RoiPool, HandChecked) {
  // Columns 0 to 2 in two bins: [0, 2) and [1, 3); rows 1 to 3: [1, 3), [2, 4).
  EXPECT_EQ(Pooled({2, 2}, {0, 0, 2, 4, 6}), (Floats{10, 11, 14, 15}));
  // The size is {width, height}.
  EXPECT_EQ(Pooled({2, 1}, {0, 0, 2, 4, 6}), (Floats{14, 15}));
}

TEST(RoiPool, HalvesAreRoundedAwayFromZero) {
  // 0.5 * {1, 3} = {0.5, 1.5}: column 1 to 2.
  EXPECT_EQ(Pooled({1, 1}, {0, 1, 1, 3, 3}), (Floats{11}));
  // -0.5 becomes -1: columns -1 and 0.
  EXPECT_EQ(Pooled({2, 1}, {0, -1, 0, 0, 0}), (Floats{0, 1}));
}

TEST(RoiPool, CornersThatAreNoNumbers) {
  EXPECT_EQ(Pooled({1, 1}, {0, kNan, kNan, kNan, kNan}), (Floats{1}));
  EXPECT_EQ(Pooled({1, 1}, {0, -kInfinity, 0, kInfinity, 6}), (Floats{16}));
  EXPECT_EQ(Pooled({1, 1}, {kNan, 0, 0, 6, 6}), (Floats{0}));
  EXPECT_EQ(Pooled({1, 1}, {1, 0, 0, 6, 6}), (Floats{0}));
  EXPECT_EQ(Pooled({1, 1}, {-0.5f, 0, 0, 6, 6}), (Floats{16}));
}

}  // namespace
}  // namespace tim::testing
