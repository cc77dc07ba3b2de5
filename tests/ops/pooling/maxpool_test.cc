// Windows' greatest cells where the properties' random values do not lead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::TensorDesc;
using ::testing::ElementsAre;
using Ints = std::vector<int64_t>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLowest = std::numeric_limits<float>::lowest();

ir::AttributeMap Windows(Ints ksize, Ints stride) {
  return {{"ksize", std::move(ksize)}, {"stride", std::move(stride)}};
}

TensorDesc F32(Ints shape) { return Desc(DataType::kFloat32, shape); }

// The results of eval, which every kernel has, too.
std::vector<TensorData> Results(const Result<TestNode>& node,
                                const std::vector<TensorData>& inputs) {
  EXPECT_OK(node);
  if (!node.ok()) return {};
  const auto expected = Eval(*node, inputs);
  EXPECT_OK(expected);
  if (!expected.ok()) return {};
  const std::vector<std::string> kernels = SupportedKernels(*node);
  EXPECT_FALSE(kernels.empty()) << Refusals(*node);
  for (const std::string& kernel : kernels) {
    const auto found = RunKernel(*node, kernel, 0, inputs);
    EXPECT_OK(found);
    if (!found.ok()) continue;
    for (size_t i = 0; i < found->size(); ++i) {
      EXPECT_OK(CompareTensors((*expected)[i], (*found)[i])) << kernel;
    }
  }
  return *expected;
}

TEST(MaxpoolWithArgmax, DeclaredExtentsCutWindowsAtTheBorder) {
  const auto x = MakeTensor<float>(F32({3, 3, 1}), {1, 5, 3,  //
                                                    4, 2, 6,  //
                                                    7, 9, 8});
  const auto node =
      MakeNode("tim.MaxpoolWithArgmax", Windows({2, 2}, {2, 2}), {x.desc},
               {F32({2, 2, 1}), Desc(DataType::kUint8, {2, 2, 1})});
  const auto found = Results(node, {x});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(Values<float>(found[0]), ElementsAre(5, 6, 9, 8));
  EXPECT_THAT(Values<uint8_t>(found[1]), ElementsAre(1, 2, 1, 0));
}

TEST(MaxpoolWithArgmax2, OfEqualCellsAndOfNanTheFirst) {
  const auto x = MakeTensor<float>(
      F32({4, 2, 1, 2}), {2, 2, kNan, 1, 2, 0, kInfinity, kNan,  //
                          -kInfinity, -kInfinity, kLowest, -kInfinity,
                          -kInfinity, -kInfinity, -kInfinity, kLowest});
  const auto node =
      MakeNode("tim.MaxpoolWithArgmax2", Windows({2, 2}, {2, 2}), {x.desc},
               {F32({2, 1, 1, 2}), Desc(DataType::kInt32, {2, 1, 1, 2})});
  const auto found = Results(node, {x});
  ASSERT_EQ(found.size(), 2u);
  const auto values = Values<float>(found[0]);
  EXPECT_EQ(values[0], 2);
  EXPECT_TRUE(std::isnan(values[1]));
  EXPECT_EQ(values[2], -kInfinity);
  EXPECT_EQ(values[3], kLowest);
  EXPECT_THAT(Values<int32_t>(found[1]), ElementsAre(0, 2, 8, 10));
}

TEST(MaxpoolWithArgmax2, AWindowInThePaddingHasNoPlace) {
  const auto x = MakeTensor<float>(F32({2, 2, 1}), {1, 2, 3, 4});
  ir::AttributeMap attributes = Windows({2, 2}, {2, 2});
  attributes.Set("pad", Ints{2, 0, 0, 0});
  const auto node =
      MakeNode("tim.MaxpoolWithArgmax2", attributes, {x.desc},
               {F32({2, 1, 1}), Desc(DataType::kInt32, {2, 1, 1})});
  const auto found = Results(node, {x});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(Values<float>(found[0]), ElementsAre(kLowest, 4));
  EXPECT_THAT(Values<int32_t>(found[1]), ElementsAre(-1, 3));
}

TEST(MaxPool3d, LargeIntegersAreComparedExactly) {
  const TensorDesc desc = Desc(DataType::kInt32, {2, 1, 1, 1});
  const auto x = MakeTensor<int32_t>(desc, {16777216, 16777217});
  const auto node = MakeNode("tim.MaxPool3d", Windows({2, 1, 1}, {1, 1, 1}),
                             {desc}, {Desc(DataType::kInt32, {1, 1, 1, 1})});
  const auto found = Results(node, {x});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(Values<int32_t>(found[0]), ElementsAre(16777217));
}

TEST(MaxUnpool2d, PutsBackWhatMaxpoolWithArgmaxFound) {
  const TensorDesc half = F32({2, 2, 1});
  const auto values = MakeTensor<float>(half, {5, 6, 9, 8});
  const auto indices =
      MakeTensor<uint8_t>(Desc(DataType::kUint8, {2, 2, 1}), {1, 2, 1, 3});
  // The target of the last one is outside.
  const auto node = MakeNode("tim.MaxUnpool2d", Windows({2, 2}, {2, 2}),
                             {half, indices.desc}, {F32({3, 3, 1})});
  const auto found = Results(node, {values, indices});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(Values<float>(found[0]), ElementsAre(0, 5, 0,  //
                                                   0, 0, 6,  //
                                                   0, 9, 0));
}

TEST(MaxUnpool2d, OfWindowsThatMeetTheLastCounts) {
  const TensorDesc row = F32({2, 1, 1});
  const auto values = MakeTensor<float>(row, {5, 6});
  const auto indices =
      MakeTensor<uint8_t>(Desc(DataType::kUint8, {2, 1, 1}), {1, 0});
  const auto node = MakeNode("tim.MaxUnpool2d", Windows({2, 1}, {1, 1}),
                             {row, indices.desc}, {F32({3, 1, 1})});
  const auto found = Results(node, {values, indices});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(Values<float>(found[0]), ElementsAre(0, 6, 0));
}

TEST(MaxpoolGrad, WindowsThatMeetAddUp) {
  const auto x = MakeTensor<float>(F32({3, 2, 1, 1}), {1, 9, 2,  //
                                                       9, 3, 4});
  const auto gradient = MakeTensor<float>(F32({2, 1, 1, 1}), {0.5f, 0.25f});
  const auto node = MakeNode("tim.MaxpoolGrad", Windows({2, 2}, {1, 1}),
                             {x.desc, gradient.desc}, {x.desc});
  const auto found = Results(node, {x, gradient});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(Values<float>(found[0]), ElementsAre(0, 0.75f, 0, 0, 0, 0));
}

// The expansion that TIM-VX has: places, and a scatter that adds up.
TEST(MaxpoolGrad, IsTheGradientScatteredToThePlaces) {
  std::mt19937 rng = SeededRng(1);
  const TensorDesc image = F32({7, 6, 2, 2});
  const TensorDesc pooled = F32({3, 5, 2, 2});
  const ir::AttributeMap windows = Windows({3, 2}, {2, 1});
  const TensorData x = RandomTensor(image, rng);
  std::vector<float> whole(60);  // Their sums are exact in any order.
  for (float& value : whole) value = static_cast<float>(rng() % 64) - 32.0f;
  const auto argmax = MakeNode("tim.MaxpoolWithArgmax2", windows, {image},
                               {pooled, Desc(DataType::kInt32, {3, 5, 2, 2})});
  const auto found = Results(argmax, {x});
  ASSERT_EQ(found.size(), 2u);
  const auto places =
      MakeTensor(Desc(DataType::kInt32, {60}), Values<int32_t>(found[1]));
  const auto scatter = MakeNode("tim.ScatterND", {{"shape", Ints{168}}},
                                {places.desc, F32({60})}, {F32({168})});
  const auto scattered =
      Results(scatter, {places, MakeTensor(F32({60}), whole)});
  const auto gradient =
      MakeNode("tim.MaxpoolGrad", windows, {image, pooled}, {image});
  const auto result = Results(gradient, {x, MakeTensor(pooled, whole)});
  ASSERT_EQ(scattered.size(), 1u);
  ASSERT_EQ(result.size(), 1u);
  EXPECT_EQ(Values<float>(result[0]), Values<float>(scattered[0]));
}

TEST(MaxpoolGrad, NanInOneWindowLeavesTheOthersAlone) {
  const auto x = MakeTensor<float>(F32({4, 1, 1}), {kNan, 1, kInfinity, 2});
  const auto gradient = MakeTensor<float>(F32({2, 1, 1}), {3, 4});
  const auto node = MakeNode("tim.MaxpoolGrad", Windows({2, 1}, {2, 1}),
                             {x.desc, gradient.desc}, {x.desc});
  const auto found = Results(node, {x, gradient});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(Values<float>(found[0]), ElementsAre(3, 0, 4, 0));
}

}  // namespace
}  // namespace tim::testing
