// Regions that no image has: they end soon, and eval and kernel agree.
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
constexpr float kMax = std::numeric_limits<float>::max();

TensorDesc F32(Ints shape) { return Desc(DataType::kFloat32, shape); }

// Of one region of an image of ones, 2 * 2 bins.
std::vector<float> Aligned(const std::vector<float>& region) {
  const auto node =
      MakeNode("tim.RoiAlign",
               {{"output_height", int64_t{2}},
                {"output_width", int64_t{2}},
                {"height_ratio", 1.0},
                {"width_ratio", 1.0}},
               {F32({8, 8, 1, 1}), F32({4, 1}), Desc(DataType::kInt32, {1})},
               {F32({2, 2, 1, 1})});
  EXPECT_OK(node);
  if (!node.ok()) return {};
  const std::vector<TensorData> inputs = {
      MakeTensor(F32({8, 8, 1, 1}), std::vector<float>(64, 1.0f)),
      MakeTensor(F32({4, 1}), region),
      MakeTensor<int32_t>(Desc(DataType::kInt32, {1}), {0})};
  const auto expected = Eval(*node, inputs);
  EXPECT_OK(expected);
  const auto found = RunKernel(*node, "roialign", 0, inputs);
  EXPECT_OK(found);
  if (!expected.ok() || !found.ok()) return {};
  EXPECT_OK(CompareTensors((*expected)[0], (*found)[0]));
  return Values<float>((*expected)[0]);
}

TEST(RoiAlign, TheMeanOfOnesIsOne) {
  EXPECT_EQ(Aligned({1, 1, 7, 7}), std::vector<float>(4, 1.0f));
}

// One sample at a position of the row 10 20 30 40; the numbers are those of
// roi_align.h.
TEST(RoiAlign, OutsideOfTheImageIsAsTheHeaderSays) {
  const auto at = [](float position) {
    const TensorDesc image = F32({4, 4, 1, 1}), region = F32({4, 1});
    const TensorDesc batch = Desc(DataType::kInt32, {1});
    const auto node = MakeNode("tim.RoiAlign",
                               {{"output_height", int64_t{1}},
                                {"output_width", int64_t{1}},
                                {"height_ratio", 1.0},
                                {"width_ratio", 1.0},
                                {"height_sample_num", int64_t{1}},
                                {"width_sample_num", int64_t{1}}},
                               {image, region, batch}, {F32({1, 1, 1, 1})});
    EXPECT_OK(node);
    std::vector<float> rows;
    for (int i = 0; i < 16; ++i) {
      rows.push_back(10.0f * static_cast<float>(i % 4 + 1));
    }
    const std::vector<TensorData> inputs = {
        MakeTensor(image, rows),
        MakeTensor(region,
                   std::vector<float>{position - 0.5f, 1, position + 0.5f, 2}),
        MakeTensor<int32_t>(batch, {0})};
    const auto results = Eval(*node, inputs);
    const auto found = RunKernel(*node, "roialign", 0, inputs);
    EXPECT_OK(results);
    EXPECT_OK(found);
    EXPECT_OK(CompareTensors((*results)[0], (*found)[0]));
    return Values<float>((*results)[0])[0];
  };
  const std::pair<float, float> kExpected[] = {
      {-2.0f, 0},     {-1.5f, 10}, {-1.0f, 10}, {-0.5f, 15}, {0.0f, 10},
      {0.25f, 12.5f}, {3.0f, 40},  {4.0f, 40},  {4.5f, 40},  {5.0f, 0}};
  for (const auto& [position, value] : kExpected) {
    EXPECT_EQ(at(position), value) << position;
  }
}

TEST(RoiAlign, RegionsThatAreNoNumbersGiveZeros) {
  const std::vector<float> zeros(4, 0.0f);
  EXPECT_EQ(Aligned({kNan, kNan, kNan, kNan}), zeros);
  EXPECT_EQ(Aligned({kInfinity, 0, kInfinity, 8}), zeros);
  EXPECT_EQ(Aligned({-kInfinity, 0, kInfinity, 8}), zeros);
  EXPECT_EQ(Aligned({-kMax, -kMax, kMax, kMax}), zeros);
}

TEST(RoiAlign, EndlessRegionsEnd) {
  // Two samples of four million lie in the image, of those in its rows two,
  // too.
  for (const float value : Aligned({-1e9f, -1e9f, 1e9f, 1e9f})) {
    EXPECT_GE(value, 0.0f);
    EXPECT_LT(value, 1e-6f);
  }
  EXPECT_EQ(Aligned({1e9f, 1e9f, 2e9f, 2e9f}), std::vector<float>(4, 0.0f));
}

}  // namespace
}  // namespace tim::testing
