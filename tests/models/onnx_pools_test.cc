// Pools of ONNX, a node at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/models/node_runner.h"
#include "tests/models/windows_reference.h"
#include "tests/support/status_macros.h"

namespace tim::models::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::FloatEq;
using ::testing::Pointwise;
using Ints = std::vector<int64_t>;

NodeRunner Pool(const std::string& op, int opset = 19) {
  return NodeRunner(AddPools, op, opset);
}

// Reduces every window of each of `planes` by a function of its elements.
std::vector<float> PoolReference(
    const std::vector<float>& x, const ReferenceWindows::Axes& input,
    const ReferenceWindows& windows,
    const std::function<float(const std::vector<float>&)>& reduce) {
  const auto& out = windows.output;
  const int64_t plane = input[0] * input[1] * input[2];
  std::vector<float> results;
  for (size_t begin = 0; begin < x.size(); begin += plane) {
    for (int64_t i = 0; i < out[0] * out[1] * out[2]; ++i) {
      std::vector<float> inside;
      VisitWindow(windows, input,
                  {i / (out[1] * out[2]), i / out[2] % out[1], i % out[2]},
                  [&](int64_t place, int64_t) {
                    if (place >= 0) inside.push_back(x[begin + place]);
                  });
      results.push_back(reduce(inside));
    }
  }
  return results;
}

float Greatest(const std::vector<float>& values) {
  return *std::max_element(values.begin(), values.end());
}
float Mean(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += value;
  return static_cast<float>(sum / static_cast<double>(values.size()));
}

TEST(OnnxPools, GreatestOfDilatedAndPaddedWindows) {
  const auto x = SmallNumbers(2 * 7 * 6, 1);
  ReferenceWindows windows;
  windows.kernel = {1, 3, 2};
  windows.strides = {1, 2, 1};
  windows.dilations = {1, 2, 3};
  windows.before = {0, 1, 2};
  windows.output = {1, 3, 5};  // (7 + 1 + 1 - 5) / 2 + 1, 6 + 2 - 4 + 1
  NodeRunner runner = Pool("MaxPool", 12);
  EXPECT_THAT(FloatsOf(runner.With("kernel_shape", Ints{3, 2})
                           .With("strides", Ints{2, 1})
                           .With("dilations", Ints{2, 3})
                           .With("pads", Ints{1, 2, 1, 0})
                           .Input(x, {1, 2, 7, 6})),
              ElementsAreArray(PoolReference(x, {1, 7, 6}, windows, Greatest)));
}

TEST(OnnxPools, RoundsExtentsUpButForWindowsInThePadding) {
  // Windows of 2, 3 apart, over 5 cells and one behind: the third would begin
  // in the padding.
  for (const char* op : {"MaxPool", "AveragePool"}) {
    NodeRunner runner = Pool(op);
    EXPECT_EQ(FloatsOf(runner.With("kernel_shape", Ints{2})
                           .With("strides", Ints{3})
                           .With("pads", Ints{0, 1})
                           .With("ceil_mode", int64_t{1})
                           .Input<float>({1, 2, 3, 4, 5}, {1, 1, 5}))
                  .size(),
              2u);
  }
  NodeRunner greatest = Pool("MaxPool");
  EXPECT_THAT(FloatsOf(greatest.With("kernel_shape", Ints{3})
                           .With("strides", Ints{2})
                           .With("ceil_mode", int64_t{1})
                           .Input<float>({1, 2, 3, 4}, {1, 1, 4})),
              ElementsAre(3, 4));
}

TEST(OnnxPools, AveragesCountWhatTheyShould) {
  // Windows of 3, 2 apart, over a pad and 1 2 3 4.
  const auto made = [](int64_t padded) {
    NodeRunner runner = Pool("AveragePool");
    return FloatsOf(runner.With("kernel_shape", Ints{3})
                        .With("strides", Ints{2})
                        .With("pads", Ints{1, 0})
                        .With("ceil_mode", int64_t{1})
                        .With("count_include_pad", padded)
                        .Input<float>({1, 2, 3, 4}, {1, 1, 4}));
  };
  EXPECT_THAT(made(0), ElementsAre(1.5f, 3.0f));
  EXPECT_THAT(made(1), ElementsAre(1.0f, 3.0f));
  // 1 2 3 4 5 and two pads behind: windows of 4, 4 apart, of which the second
  // has 5 and the two pads within the padded input.
  NodeRunner beyond = Pool("AveragePool");
  EXPECT_THAT(FloatsOf(beyond.With("kernel_shape", Ints{4})
                           .With("strides", Ints{4})
                           .With("pads", Ints{0, 2})
                           .With("ceil_mode", int64_t{1})
                           .With("count_include_pad", int64_t{1})
                           .Input<float>({1, 2, 3, 4, 5}, {1, 1, 5})),
              ElementsAre(FloatEq(2.5f), FloatEq(5.0f / 3)));
}

TEST(OnnxPools, AveragesOfDilatedWindows) {
  const auto x = SmallNumbers(2 * 6 * 5, 2);
  ReferenceWindows windows;
  windows.kernel = {1, 2, 2};
  windows.dilations = {1, 3, 2};
  windows.before = {0, 1, 1};
  windows.output = {1, 5, 5};
  NodeRunner runner = Pool("AveragePool");
  EXPECT_THAT(FloatsOf(runner.With("kernel_shape", Ints{2, 2})
                           .With("dilations", Ints{3, 2})
                           .With("pads", Ints{1, 1, 1, 1})
                           .Input(x, {1, 2, 6, 5})),
              Pointwise(FloatEq(), PoolReference(x, {1, 6, 5}, windows, Mean)));
}

TEST(OnnxPools, ThreeAxes) {
  const auto x = SmallNumbers(2 * 4 * 3 * 5, 3);
  ReferenceWindows windows;
  windows.kernel = {2, 2, 3};
  windows.strides = {2, 1, 2};
  windows.before = {1, 0, 1};
  windows.output = {3, 2, 3};
  const struct {
    const char* op;
    float (*reduce)(const std::vector<float>&);
  } cases[] = {{"MaxPool", Greatest}, {"AveragePool", Mean}};
  for (const auto& one : cases) {
    SCOPED_TRACE(one.op);
    NodeRunner runner = Pool(one.op);
    const auto made = FloatsOf(runner.With("kernel_shape", Ints{2, 2, 3})
                                   .With("strides", Ints{2, 1, 2})
                                   .With("pads", Ints{1, 0, 1, 1, 0, 1})
                                   .Input(x, {1, 2, 4, 3, 5}));
    const auto expected = PoolReference(x, {4, 3, 5}, windows, one.reduce);
    ASSERT_EQ(made.size(), expected.size());
    for (size_t i = 0; i < made.size(); ++i) {
      EXPECT_NEAR(made[i], expected[i], 1e-6) << i;
    }
  }
}

TEST(OnnxPools, IndicesCountInTheInput) {
  const auto found = [](int64_t order) {
    NodeRunner runner = Pool("MaxPool", 12);
    const auto results = runner.Wants({true, true})
                             .With("kernel_shape", Ints{2, 2})
                             .With("strides", Ints{2, 2})
                             .With("pads", Ints{1, 0, 0, 1})
                             .With("storage_order", order)
                             .Input<float>({1, 2, 9,  //
                                            4, 8, 6,  //
                                            7, 5, 3},
                                           {1, 1, 3, 3})
                             .Run();
    EXPECT_OK(results);
    EXPECT_EQ(results.value()[1].type, vx::DataType::INT64);
    EXPECT_THAT(Floats(results.value()[0]).value(), ElementsAre(2, 9, 8, 6));
    return Integers(results.value()[1]).value();
  };
  EXPECT_THAT(found(0), ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(found(1), ElementsAre(3, 6, 4, 7));
}

TEST(OnnxPools, PlainIntegers) {
  NodeRunner runner = Pool("MaxPool", 12);
  EXPECT_THAT(IntsOf(runner.With("kernel_shape", Ints{2})
                         .Input<int8_t>({-3, -5, 100, 7}, {1, 1, 4})),
              ElementsAre(-3, 100, 100));
}

TEST(OnnxPools, NormsAndGlobalForms) {
  NodeRunner norm = Pool("LpPool", 18);
  EXPECT_THAT(FloatsOf(norm.With("kernel_shape", Ints{2})
                           .Input<float>({3, -4, 0}, {1, 1, 3})),
              ElementsAre(FloatEq(5), FloatEq(4)));
  NodeRunner sums = Pool("LpPool", 18);
  EXPECT_THAT(FloatsOf(sums.With("kernel_shape", Ints{2})
                           .With("dilations", Ints{2})
                           .With("p", int64_t{1})
                           .Input<float>({3, -4, -1}, {1, 1, 3})),
              ElementsAre(FloatEq(4)));
  const auto global = [](const char* op, const Dims& dims) {
    NodeRunner runner = Pool(op, 2);
    return FloatsOf(runner.Input<float>({3, -4, 0, 0, 1, 1, 1, 5}, dims));
  };
  EXPECT_THAT(global("GlobalAveragePool", {1, 2, 4}), ElementsAre(-0.25f, 2));
  EXPECT_THAT(global("GlobalAveragePool", {2, 1, 2, 2}),
              ElementsAre(-0.25f, 2));
  EXPECT_THAT(global("GlobalAveragePool", {1, 1, 2, 2, 2}),
              ElementsAre(0.875f));
  EXPECT_THAT(global("GlobalMaxPool", {1, 2, 2, 2}), ElementsAre(3, 5));
  EXPECT_THAT(global("GlobalLpPool", {1, 2, 2, 2}),
              ElementsAre(FloatEq(5), FloatEq(std::sqrt(28.0f))));
}

TEST(OnnxPools, UnpoolsToWhereValuesWere) {
  NodeRunner runner = Pool("MaxUnpool", 11);
  EXPECT_THAT(FloatsOf(runner.With("kernel_shape", Ints{2, 2})
                           .With("strides", Ints{2, 2})
                           .Input<float>({1, 2}, {1, 1, 1, 2})
                           .Input<int64_t>({5, 2}, {1, 1, 1, 2})
                           .Constant<int64_t>({1, 1, 3, 4}, {4})),
              ElementsAre(0, 0, 2, 0, 0, 1, 0, 0, 0, 0, 0, 0));
}

TEST(OnnxPools, Refusals) {
  const auto message = [](const char* name, Attribute value) {
    NodeRunner runner = Pool("MaxPool", 12);
    const auto results = runner.Wants({true, true})
                             .With("kernel_shape", Ints{2})
                             .With(name, std::move(value))
                             .Input<float>({1, 2, 3}, {1, 1, 3})
                             .Run();
    return results.ok() ? std::string() : results.status().message();
  };
  EXPECT_THAT(message("dilations", Ints{2}), ::testing::HasSubstr("dilations"));
  EXPECT_THAT(message("storage_order", int64_t{2}),
              ::testing::HasSubstr("'storage_order'"));
  EXPECT_THAT(message("kernel_shape", Ints{4}),
              ::testing::HasSubstr("does not fit"));
  EXPECT_THAT(message("kernel_shape", Ints{int64_t{1} << 40}),
              ::testing::HasSubstr("kernel"));
  EXPECT_THAT(message("kernel_shape", Ints{}), ::testing::HasSubstr("axes"));
  NodeRunner none = Pool("AveragePool");
  EXPECT_FALSE(none.Input<float>({1}, {1, 1, 1}).Run().ok());
}

}  // namespace
}  // namespace tim::models::onnx
