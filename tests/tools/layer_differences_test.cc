// Pairing and measures of the layers of two recorded runs.
#include "tools/timcl/layer_differences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tools/timcl/recorded_run.h"

namespace tim::tool {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

template <typename T>
RecordedValue Value(const std::string& name, const std::string& producer,
                    ir::DataType type, const std::vector<T>& elements) {
  RecordedValue value = {
      .name = name,
      .producer = producer,
      .desc = {.type = type,
               .shape = ir::Shape({static_cast<int64_t>(elements.size())}),
               .quantization = {},
               .layout = {}},
      .bytes = std::vector<std::byte>(elements.size() * sizeof(T))};
  std::memcpy(value.bytes.data(), elements.data(), value.bytes.size());
  return value;
}

RecordedValue Floats(const std::string& name, const std::string& producer,
                     const std::vector<float>& elements) {
  return Value(name, producer, ir::DataType::kFloat32, elements);
}

RecordedRun Made(std::vector<RecordedValue> values) {
  return {.graph = "g", .device = "d", .values = std::move(values)};
}

TEST(LayerDifferences, AreOfTheGreatestMagnitude) {
  const RecordedRun first = Made(
      {Floats("x", "Conv#1", {1, 2, 104}), Floats("y", "Relu#2", {0, 0, 0})});
  const RecordedRun second = Made(
      {Floats("x", "Conv#1", {1, 2, 100}), Floats("y", "Relu#2", {0, 0, 0})});
  const Comparison all = Compare(first, second, {});
  ASSERT_THAT(all.layers, SizeIs(2));
  EXPECT_DOUBLE_EQ(all.layers[0].absolute, 4);
  EXPECT_DOUBLE_EQ(all.layers[0].relative, 0.04);
  EXPECT_NEAR(all.layers[0].equal, 2.0 / 3, 1e-12);
  EXPECT_FALSE(all.layers[0].codes.has_value());
  EXPECT_TRUE(all.layers[0].differs);
  EXPECT_EQ(all.layers[1].relative, 0);
  EXPECT_FALSE(all.layers[1].differs);
  EXPECT_EQ(all.FirstDifferent(), &all.layers[0]);
  const Comparison wide = Compare(first, second, {.relative = 0.05});
  EXPECT_EQ(wide.FirstDifferent(), nullptr);
}

TEST(LayerDifferences, OfCodesAreCounted) {
  const RecordedRun first = Made(
      {Value<uint8_t>("x", "Conv#1", ir::DataType::kUint8, {7, 8, 9, 255})});
  const RecordedRun second = Made(
      {Value<uint8_t>("x", "Conv#1", ir::DataType::kUint8, {7, 8, 9, 253})});
  const Comparison exact = Compare(first, second, {});
  ASSERT_THAT(exact.layers, SizeIs(1));
  EXPECT_EQ(exact.layers[0].codes, 2);
  EXPECT_DOUBLE_EQ(exact.layers[0].equal, 0.75);
  EXPECT_TRUE(exact.layers[0].differs);
  EXPECT_FALSE(Compare(first, second, {.codes = 2}).layers[0].differs);
}

TEST(LayerDifferences, AreInNanAndInfinity) {
  const float nan = std::nanf("");
  const float infinity = std::numeric_limits<float>::infinity();
  const RecordedRun clean = Made({Floats("x", "Log#1", {1, 2, infinity})});
  const RecordedRun one = Made({Floats("x", "Log#1", {1, nan, infinity})});
  const RecordedRun none = Made({Floats("x", "Log#1", {1, 2, 3})});
  const Comparison planted = Compare(one, clean, {});
  EXPECT_EQ(planted.layers[0].first_nans, 1);
  EXPECT_EQ(planted.layers[0].second_nans, 0);
  EXPECT_TRUE(planted.layers[0].differs);
  EXPECT_FALSE(Compare(one, one, {}).layers[0].differs);
  EXPECT_EQ(Compare(one, one, {}).layers[0].equal, 1);
  EXPECT_FALSE(Compare(clean, clean, {}).layers[0].differs);
  EXPECT_TRUE(Compare(clean, none, {}).layers[0].differs);
}

TEST(LayerDifferences, PairFusedLayersWithTheirLastPart) {
  const RecordedRun fused = Made(
      {Floats("y", "Conv#1+Relu#2", {1, 2}), Floats("z", "Add#3", {3, 4})});
  const RecordedRun single =
      Made({Floats("x", "Conv#1", {-1, 2}), Floats("y", "Relu#2", {1, 2}),
            Floats("z", "Add#3", {3, 4})});
  const Comparison found = Compare(fused, single, {});
  ASSERT_THAT(found.layers, SizeIs(2));
  EXPECT_EQ(found.layers[0].second, &single.values[1]);
  EXPECT_THAT(found.only_first, SizeIs(0));
  EXPECT_THAT(found.only_second, ElementsAre(&single.values[0]));
}

TEST(LayerDifferences, PairByNodeWhereNamesAreOthers) {
  const RecordedRun first =
      Made({Floats("t1", "Conv#1", {1}), Floats("", "Pool#2", {2}),
            Floats("t3", "Split#3", {3}), Floats("t4", "Split#3", {4})});
  const RecordedRun second =
      Made({Floats("t7", "Conv#1", {1}), Floats("", "Pool#2", {2}),
            Floats("t4", "Split#3", {4}), Floats("t3", "Split#3", {3})});
  const Comparison found = Compare(first, second, {});
  ASSERT_THAT(found.layers, SizeIs(4));
  EXPECT_EQ(found.FirstDifferent(), nullptr);
  EXPECT_EQ(found.layers[2].second, &second.values[3]);
}

TEST(LayerDifferences, OfOtherSizesAreNoNumbers) {
  const RecordedRun first = Made({Floats("x", "Conv#1", {1, 2})});
  const RecordedRun second = Made({Floats("x", "Conv#1", {1, 2, 3})});
  const Comparison found = Compare(first, second, {});
  ASSERT_THAT(found.layers, SizeIs(1));
  EXPECT_FALSE(found.layers[0].same_size);
  EXPECT_TRUE(found.layers[0].differs);
}

}  // namespace
}  // namespace tim::tool
