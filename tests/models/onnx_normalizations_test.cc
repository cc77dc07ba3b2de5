// Normalisations of ONNX, a node at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/models/node_runner.h"
#include "tests/support/status_macros.h"

namespace tim::models::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;
using Ints = std::vector<int64_t>;

NodeRunner Normalization(const std::string& op, int opset = 17) {
  return NodeRunner(AddNormalizations, op, opset);
}

constexpr float kNear = 1e-5f;

// (x - mean) / sqrt(variance + epsilon) of runs of `count` elements.
std::vector<float> Normalized(const std::vector<float>& x, size_t count,
                              double epsilon = 1e-5) {
  std::vector<float> results;
  for (size_t begin = 0; begin < x.size(); begin += count) {
    double mean = 0, variance = 0;
    for (size_t i = 0; i < count; ++i) mean += x[begin + i];
    mean /= static_cast<double>(count);
    for (size_t i = 0; i < count; ++i) {
      variance += (x[begin + i] - mean) * (x[begin + i] - mean);
    }
    variance /= static_cast<double>(count);
    for (size_t i = 0; i < count; ++i) {
      results.push_back(static_cast<float>((x[begin + i] - mean) /
                                           std::sqrt(variance + epsilon)));
    }
  }
  return results;
}

TEST(OnnxNormalizations, BatchByGivenStatistics) {
  for (const Dims& dims :
       {Dims{1, 2, 2}, Dims{1, 2, 1, 2}, Dims{1, 2, 2, 1, 1}, Dims{2, 2}}) {
    NodeRunner runner = Normalization("BatchNormalization", 15);
    const bool matrix = dims.size() == 2;
    const auto x = matrix ? std::vector<float>{1, 4, 2, 5}
                          : std::vector<float>{1, 2, 4, 5};
    const auto made = FloatsOf(runner.With("epsilon", 0.0f)
                                   .Input(x, dims)
                                   .Constant<float>({2, 3}, {2})
                                   .Constant<float>({10, 20}, {2})
                                   .Constant<float>({1, 4}, {2})
                                   .Constant<float>({4, 1}, {2}));
    if (matrix) {
      EXPECT_THAT(made, ElementsAre(10, 20, 11, 23));
    } else {
      EXPECT_THAT(made, ElementsAre(10, 11, 20, 23));
    }
  }
  NodeRunner training = Normalization("BatchNormalization", 15);
  const auto results = training.Wants({true, true, true})
                           .With("training_mode", int64_t{1})
                           .With("momentum", 0.75f)
                           .Input<float>({1, 3, 5, 9}, {2, 1, 2})
                           .Constant<float>({1}, {1})
                           .Constant<float>({0}, {1})
                           .Constant<float>({8}, {1})
                           .Constant<float>({4}, {1})
                           .Run();
  ASSERT_OK(results);
  EXPECT_THAT(Floats(results.value()[0]).value(),
              Pointwise(FloatNear(kNear), Normalized({1, 3, 5, 9}, 4)));
  // Mean 4.5, variance 8.75.
  EXPECT_THAT(Floats(results.value()[1]).value(), ElementsAre(7.125f));
  EXPECT_THAT(Floats(results.value()[2]).value(), ElementsAre(5.1875f));
}

TEST(OnnxNormalizations, InstanceAndGroups) {
  const std::vector<float> x = {1, 2, 4, 8, 3, -3, 0, 5};
  const auto normal = Normalized(x, 2);
  NodeRunner instance = Normalization("InstanceNormalization", 6);
  const auto made = FloatsOf(instance.Input(x, {1, 4, 2})
                                 .Constant<float>({1, 2, 3, 4}, {4})
                                 .Constant<float>({0, 1, 2, 3}, {4}));
  ASSERT_EQ(made.size(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(made[i], normal[i] * static_cast<float>(i / 2 + 1) + i / 2,
                kNear);
  }
  const auto grouped = Normalized(x, 4);
  for (const int opset : {18, 21}) {
    NodeRunner runner = Normalization("GroupNormalization", opset);
    runner.With("num_groups", int64_t{2}).Input(x, {1, 4, 2});
    const auto scale =
        opset < 21 ? std::vector<float>{2, 3} : std::vector<float>{2, 2, 3, 4};
    const auto count = static_cast<int64_t>(scale.size());
    const auto values =
        FloatsOf(runner.Constant(scale, {count}).Constant(scale, {count}));
    ASSERT_EQ(values.size(), x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const float own = scale[opset < 21 ? i / 4 : i / 2];
      EXPECT_NEAR(values[i], grouped[i] * own + own, kNear) << opset;
    }
  }
}

TEST(OnnxNormalizations, LayersOfAnyNumberOfAxes) {
  const std::vector<float> x = {1, 2, 4, 8, 3, -3, 0, 5};
  for (const int64_t axis : {0, 1, 2, -1, -2}) {
    SCOPED_TRACE(axis);
    const int64_t first = axis < 0 ? axis + 3 : axis;
    const Dims dims(3, 2), shape(dims.begin() + first, dims.end());
    const auto count = static_cast<size_t>(8 >> first);
    NodeRunner runner = Normalization("LayerNormalization");
    const auto results = runner.Wants({true, true, true})
                             .With("axis", axis)
                             .Input(x, dims)
                             .Constant(std::vector<float>(count, 2), shape)
                             .Constant(std::vector<float>(count, 1), shape)
                             .Run();
    ASSERT_OK(results);
    auto expected = Normalized(x, count);
    for (float& value : expected) value = value * 2 + 1;
    EXPECT_THAT(Floats(results.value()[0]).value(),
                Pointwise(FloatNear(kNear), expected));
    const auto means = Floats(results.value()[1]).value();
    const auto inverses = Floats(results.value()[2]).value();
    ASSERT_EQ(means.size(), x.size() / count);
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_NEAR((x[i] - means[i / count]) * inverses[i / count] * 2 + 1,
                  expected[i], kNear);
    }
    Dims kept = dims;
    for (int64_t i = first; i < 3; ++i) kept[i] = 1;
    EXPECT_EQ(results.value()[1].dims, kept);
  }
  // A scale that broadcasts, and no bias.
  NodeRunner scalar = Normalization("LayerNormalization");
  auto expected = Normalized(x, 4);
  for (float& value : expected) value *= 3;
  EXPECT_THAT(FloatsOf(scalar.With("axis", int64_t{1})
                           .Input(x, {2, 4})
                           .Constant<float>({3}, {1})),
              Pointwise(FloatNear(kNear), expected));
  NodeRunner simple = Normalization("SimplifiedLayerNormalization");
  EXPECT_THAT(
      FloatsOf(simple.With("epsilon", 0.0f)
                   .Input<float>({3, 4, 0, 0}, {1, 4})
                   .Constant<float>({1, 2, 1, 1}, {4})),
      ElementsAre(FloatNear(1.2f, kNear), FloatNear(3.2f, kNear), 0, 0));
  // Rows of two axes, and a scale that broadcasts.
  NodeRunner plane = Normalization("SimplifiedLayerNormalization");
  EXPECT_THAT(FloatsOf(plane.With("epsilon", 0.0f)
                           .With("axis", int64_t{1})
                           .Input<float>({3, 4, 0, 0}, {1, 2, 2})
                           .Constant<float>({5, 10}, {2})),
              ElementsAre(FloatNear(6, kNear), FloatNear(16, kNear), 0, 0));
}

TEST(OnnxNormalizations, NormsNeighboursAndMeans) {
  NodeRunner second = Normalization("LpNormalization", 1);
  EXPECT_THAT(
      FloatsOf(
          second.With("axis", int64_t{0}).Input<float>({3, 0, 4, 0}, {2, 2})),
      ElementsAre(FloatNear(0.6f, kNear), 0, FloatNear(0.8f, kNear), 0));
  NodeRunner first = Normalization("LpNormalization", 1);
  EXPECT_THAT(
      FloatsOf(first.With("p", int64_t{1}).Input<float>({3, -1}, {1, 2})),
      ElementsAre(0.75f, -0.25f));
  // Neighbours of an even number: one more behind.
  for (const int64_t size : {2, 3}) {
    NodeRunner lrn = Normalization("LRN", 13);
    const std::vector<float> x = {1, 2, 3, 4};
    const auto made = FloatsOf(lrn.With("size", size)
                                   .With("alpha", 0.5f)
                                   .With("beta", 0.75f)
                                   .With("bias", 2.0f)
                                   .Input(x, {1, 4, 1, 1}));
    ASSERT_EQ(made.size(), 4u);
    for (int64_t c = 0; c < 4; ++c) {
      double sum = 0;
      for (int64_t i = c - (size - 1) / 2; i <= c + size / 2; ++i) {
        if (i >= 0 && i < 4) sum += x[i] * x[i];
      }
      EXPECT_NEAR(made[c], x[c] / std::pow(2 + 0.5 / size * sum, 0.75), kNear);
    }
  }
  NodeRunner means = Normalization("MeanVarianceNormalization", 13);
  EXPECT_THAT(
      FloatsOf(means.Input<float>({1, 2, 4, 8, 3, -3, 0, 5}, {1, 2, 2, 2})),
      Pointwise(FloatNear(kNear), Normalized({1, 2, 4, 8, 3, -3, 0, 5}, 4, 0)));
}

std::vector<float> Softmaxed(const std::vector<float>& x, size_t count) {
  std::vector<float> results;
  for (size_t begin = 0; begin < x.size(); begin += count) {
    double sum = 0;
    for (size_t i = 0; i < count; ++i) sum += std::exp(x[begin + i]);
    for (size_t i = 0; i < count; ++i) {
      results.push_back(static_cast<float>(std::exp(x[begin + i]) / sum));
    }
  }
  return results;
}

TEST(OnnxNormalizations, SoftmaxBeforeAndFromOpset13) {
  const std::vector<float> x = {0, 1, 2, 3, -1, 0.5f, 0, 2};
  NodeRunner flat = Normalization("Softmax", 11);
  EXPECT_THAT(FloatsOf(flat.Input(x, {2, 2, 2})),
              Pointwise(FloatNear(kNear), Softmaxed(x, 4)));
  NodeRunner all = Normalization("Softmax", 11);
  EXPECT_THAT(FloatsOf(all.With("axis", int64_t{0}).Input(x, {2, 2, 2})),
              Pointwise(FloatNear(kNear), Softmaxed(x, 8)));
  NodeRunner last = Normalization("Softmax", 13);
  EXPECT_THAT(FloatsOf(last.Input(x, {2, 2, 2})),
              Pointwise(FloatNear(kNear), Softmaxed(x, 2)));
  NodeRunner first = Normalization("Softmax", 13);
  EXPECT_THAT(
      FloatsOf(
          first.With("axis", int64_t{0}).Input<float>({0, 1, 0, 1}, {2, 2})),
      ElementsAre(0.5f, 0.5f, 0.5f, 0.5f));
  NodeRunner logarithm = Normalization("LogSoftmax", 11);
  auto expected = Softmaxed(x, 4);
  for (float& value : expected) value = std::log(value);
  EXPECT_THAT(FloatsOf(logarithm.Input(x, {2, 2, 2})),
              Pointwise(FloatNear(kNear), expected));
  NodeRunner outside = Normalization("Softmax", 13);
  EXPECT_THAT(outside.With("axis", int64_t{3})
                  .Input(x, {2, 2, 2})
                  .Run()
                  .status()
                  .message(),
              HasSubstr("axis"));
}

TEST(OnnxNormalizations, HardmaxTakesTheFirstOfTheGreatest) {
  NodeRunner last = Normalization("Hardmax", 13);
  EXPECT_THAT(FloatsOf(last.Input<float>({3, 0, 3, 2, 5, 1}, {2, 3})),
              ElementsAre(1, 0, 0, 0, 1, 0));
  NodeRunner first = Normalization("Hardmax", 13);
  EXPECT_THAT(FloatsOf(first.With("axis", int64_t{0})
                           .Input<float>({3, 0, 3, 2, 5, 1}, {2, 3})),
              ElementsAre(1, 0, 1, 0, 1, 0));
  NodeRunner flat = Normalization("Hardmax", 11);
  EXPECT_THAT(FloatsOf(flat.Input<float>({3, 0, 1, 2}, {1, 2, 2})),
              ElementsAre(1, 0, 0, 0));
  NodeRunner vector = Normalization("Hardmax", 13);
  EXPECT_THAT(FloatsOf(vector.Input<float>({3, 7}, {2})), ElementsAre(0, 1));
}

}  // namespace
}  // namespace tim::models::onnx
