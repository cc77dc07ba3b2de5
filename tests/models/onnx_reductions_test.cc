// Reductions of ONNX, a node at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/models/node_runner.h"
#include "tests/support/status_macros.h"

namespace tim::models::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using vx::DataType;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

NodeRunner Reduction(const std::string& op, int opset = 18) {
  return NodeRunner(AddReductions, op, opset);
}

using Ints = std::vector<int64_t>;

TEST(OnnxReductions, FormulasAlongTheLastAxis) {
  const struct {
    const char* op;
    std::vector<float> expected;
  } cases[] = {
      {"ReduceSum", {6, 4}},
      {"ReduceMean", {2, 4.0f / 3}},
      {"ReduceProd", {6, -16}},
      {"ReduceMax", {3, 4}},
      {"ReduceMin", {1, -2}},
      {"ReduceL1", {6, 8}},
      {"ReduceL2", {std::sqrt(14.0f), std::sqrt(24.0f)}},
      {"ReduceSumSquare", {14, 24}},
      {"ReduceLogSum", {std::log(6.0f), std::log(4.0f)}},
      {"ReduceLogSumExp",
       {std::log(std::exp(1.0f) + std::exp(2.0f) + std::exp(3.0f)),
        std::log(std::exp(2.0f) + std::exp(-2.0f) + std::exp(4.0f))}},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.op);
    for (const int64_t keep : {0, 1}) {
      NodeRunner runner = Reduction(one.op);
      const auto results = runner.With("keepdims", keep)
                               .Input<float>({1, 2, 3, 2, -2, 4}, {2, 3})
                               .Constant<int64_t>({-1}, {1})
                               .Run();
      ASSERT_OK(results);
      EXPECT_EQ(results.value()[0].dims, keep != 0 ? Dims({2, 1}) : Dims({2}));
      EXPECT_THAT(
          Floats(results.value()[0]).value(),
          ElementsAre(FloatEq(one.expected[0]), FloatEq(one.expected[1])));
    }
  }
}

TEST(OnnxReductions, NoAxesLeaveWhatIsDoneBesidesReducing) {
  const struct {
    const char* op;
    std::vector<float> expected;
  } cases[] = {{"ReduceSum", {-2, 4}},        {"ReduceProd", {-2, 4}},
               {"ReduceMean", {-2, 4}},       {"ReduceMax", {-2, 4}},
               {"ReduceL1", {2, 4}},          {"ReduceL2", {2, 4}},
               {"ReduceSumSquare", {4, 16}},  {"ReduceLogSumExp", {-2, 4}},
               {"ReduceLogSum", {0.0f, 0.0f}}};
  for (const auto& one : cases) {
    SCOPED_TRACE(one.op);
    const bool is_log = one.op == std::string("ReduceLogSum");
    NodeRunner runner = Reduction(one.op);
    runner.With("noop_with_empty_axes", 1);
    runner.Input<float>({is_log ? 1.0f : -2.0f, is_log ? 1.0f : 4.0f}, {1, 2});
    EXPECT_THAT(FloatsOf(runner), ElementsAre(FloatEq(one.expected[0]),
                                              FloatEq(one.expected[1])));
  }
}

TEST(OnnxReductions, AxesAreAttributesOrOperandsByOpset) {
  NodeRunner attribute = Reduction("ReduceSum", 11);
  EXPECT_THAT(
      FloatsOf(
          attribute.With("axes", Ints{0}).Input<float>({1, 2, 3, 4}, {2, 2})),
      ElementsAre(4, 6));
  NodeRunner operand = Reduction("ReduceSum", 13);
  EXPECT_THAT(FloatsOf(operand.Input<float>({1, 2, 3, 4}, {2, 2})
                           .Constant<int64_t>({0}, {1})),
              ElementsAre(4, 6));
  NodeRunner later = Reduction("ReduceMax", 13);
  EXPECT_THAT(
      FloatsOf(later.With("axes", Ints{1}).Input<float>({1, 2, 3, 4}, {2, 2})),
      ElementsAre(2, 4));
  NodeRunner refused = Reduction("ReduceSum", 13);
  EXPECT_FALSE(refused.With("axes", Ints{0}).Input<float>({1}, {1}).Run().ok());
  NodeRunner unknown = Reduction("ReduceSum", 13);
  EXPECT_FALSE(
      unknown.Input<float>({1}, {1}).Input<int64_t>({0}, {1}).Run().ok());
  NodeRunner outside = Reduction("ReduceSum", 13);
  EXPECT_FALSE(
      outside.Input<float>({1}, {1}).Constant<int64_t>({1}, {1}).Run().ok());
}

TEST(OnnxReductions, NoAxesAreAllOrNone) {
  NodeRunner all = Reduction("ReduceSum");
  const auto sum =
      all.With("keepdims", 0).Input<float>({1, 2, 3, 4}, {2, 2}).Run();
  ASSERT_OK(sum);
  EXPECT_EQ(sum.value()[0].dims, Dims());
  EXPECT_THAT(Floats(sum.value()[0]).value(), ElementsAre(10));
  NodeRunner none = Reduction("ReduceSum");
  EXPECT_THAT(FloatsOf(none.With("noop_with_empty_axes", 1)
                           .Input<float>({1, 2, 3, 4}, {2, 2})
                           .Constant<int64_t>({}, {0})),
              ElementsAre(1, 2, 3, 4));
  NodeRunner scalar = Reduction("ReduceSumSquare");
  const auto square = scalar.Input<float>({3}, {}).Run();
  ASSERT_OK(square);
  EXPECT_EQ(square.value()[0].dims, Dims());
  EXPECT_THAT(Floats(square.value()[0]).value(), ElementsAre(9));
}

TEST(OnnxReductions, SumsOfExponentialsDoNotOverflow) {
  NodeRunner runner = Reduction("ReduceLogSumExp");
  EXPECT_THAT(
      FloatsOf(runner
                   .Input<float>({1000, 1000, -1000, -1000, -kInfinity,
                                  -kInfinity, kInfinity, 0},
                                 {4, 2})
                   .Constant<int64_t>({1}, {1})),
      ElementsAre(FloatEq(1000 + std::log(2.0f)),
                  FloatEq(-1000 + std::log(2.0f)), -kInfinity, kInfinity));
}

TEST(OnnxReductions, OfNoElements) {
  const struct {
    const char* op;
    float expected;
  } cases[] = {{"ReduceSum", 0},
               {"ReduceProd", 1},
               {"ReduceMax", -kInfinity},
               {"ReduceMin", kInfinity},
               {"ReduceLogSumExp", -kInfinity}};
  for (const auto& one : cases) {
    NodeRunner runner = Reduction(one.op);
    EXPECT_THAT(
        FloatsOf(
            runner.Constant<float>({}, {2, 0}).Constant<int64_t>({1}, {1})),
        ElementsAre(one.expected, one.expected))
        << one.op;
  }
}

TEST(OnnxReductions, Integers) {
  NodeRunner sum = Reduction("ReduceSum");
  EXPECT_THAT(IntsOf(sum.Input<int64_t>({16777216, 1}, {2})),
              ElementsAre(16777217));
  NodeRunner mean = Reduction("ReduceMean");
  EXPECT_THAT(IntsOf(mean.Input<int32_t>({-3, -4, 3, 4}, {2, 2})
                         .Constant<int64_t>({1}, {1})),
              ElementsAre(-3, 3));
  NodeRunner max = Reduction("ReduceMax");
  EXPECT_THAT(IntsOf(max.Input<uint8_t>({3, 200}, {2})), ElementsAre(200));
  NodeRunner refused = Reduction("ReduceL2");
  EXPECT_ERROR(refused.Input<int32_t>({3, 4}, {2}).Run(), "operand 0 is int32");
}

TEST(OnnxReductions, ExtremesOfTruthValues) {
  NodeRunner any = Reduction("ReduceMax", 20);
  EXPECT_THAT(IntsOf(any.Input(BoolArray({0, 1, 0, 0}, {2, 2}))
                         .Constant<int64_t>({1}, {1})),
              ElementsAre(1, 0));
  NodeRunner all = Reduction("ReduceMin", 20);
  EXPECT_THAT(IntsOf(all.Input(BoolArray({0, 1, 1, 1}, {2, 2}))
                         .Constant<int64_t>({1}, {1})),
              ElementsAre(0, 1));
  NodeRunner refused = Reduction("ReduceSum", 20);
  EXPECT_ERROR(refused.Input(BoolArray({0}, {1})).Run(), "operand 0 is bool");
}

TEST(OnnxReductions, IndicesOfExtremes) {
  const std::vector<float> values = {1, 3, 3, 2, -1, -1};
  NodeRunner first = Reduction("ArgMax");
  const auto results = first.With("axis", 1).Input(values, {2, 3}).Run();
  ASSERT_OK(results);
  EXPECT_EQ(results.value()[0].type, DataType::INT64);
  EXPECT_EQ(results.value()[0].dims, (Dims{2, 1}));
  EXPECT_THAT(Integers(results.value()[0]).value(), ElementsAre(1, 0));
  NodeRunner last = Reduction("ArgMax");
  EXPECT_THAT(IntsOf(last.With("axis", -1)
                         .With("select_last_index", 1)
                         .With("keepdims", 0)
                         .Input(values, {2, 3})),
              ElementsAre(2, 0));
  NodeRunner least = Reduction("ArgMin");
  EXPECT_THAT(IntsOf(least.With("axis", 1)
                         .With("select_last_index", 1)
                         .Input(values, {2, 3})),
              ElementsAre(0, 2));
  NodeRunner vector = Reduction("ArgMax");
  const auto scalar = vector.With("keepdims", 0).Input(values, {6}).Run();
  ASSERT_OK(scalar);
  EXPECT_EQ(scalar.value()[0].dims, Dims());
  EXPECT_THAT(Integers(scalar.value()[0]).value(), ElementsAre(1));
  NodeRunner refused = Reduction("ArgMax");
  EXPECT_ERROR(refused.With("axis", 2).Input(values, {2, 3}).Run(),
               "attribute 'axis'");
}

TEST(OnnxReductions, IndicesOfNothingAreRefused) {
  for (const char* op : {"ArgMax", "Hardmax"}) {
    NodeRunner scalar = Reduction(op);
    EXPECT_ERROR(scalar.Input<float>({1}, {}).Run(), "a rank of 1 or more");
    NodeRunner empty = Reduction(op);
    EXPECT_ERROR(empty.Constant<float>({}, {2, 0}).Run(), "elements are taken");
  }
}

TEST(OnnxReductions, CumulativeSums) {
  const struct {
    int64_t exclusive;
    int64_t reverse;
    std::vector<float> expected;
  } cases[] = {{0, 0, {1, 3, 6}},
               {1, 0, {0, 1, 3}},
               {0, 1, {6, 5, 3}},
               {1, 1, {5, 3, 0}}};
  for (const auto& one : cases) {
    NodeRunner runner = Reduction("CumSum");
    EXPECT_EQ(FloatsOf(runner.With("exclusive", one.exclusive)
                           .With("reverse", one.reverse)
                           .Input<float>({1, 2, 3}, {3})
                           .Constant<int32_t>({0}, {})),
              one.expected);
  }
  NodeRunner columns = Reduction("CumSum");
  EXPECT_THAT(FloatsOf(columns.Input<float>({1, 2, 3, 4}, {2, 2})
                           .Constant<int64_t>({-2}, {1})),
              ElementsAre(1, 2, 4, 6));
  NodeRunner refused = Reduction("CumSum");
  EXPECT_ERROR(
      refused.Input<float>({1}, {1}).Constant<int64_t>({0, 1}, {2}).Run(),
      "operand 1 (axis) has 2 elements");
}

TEST(OnnxReductions, HardmaxOfAnAxisOrOfAllBehindIt) {
  const std::vector<float> values = {1, 3, 3, 2, 5, 4};
  NodeRunner along = Reduction("Hardmax", 13);
  EXPECT_THAT(FloatsOf(along.Input(values, {2, 3})),
              ElementsAre(0, 1, 0, 0, 1, 0));
  NodeRunner outer = Reduction("Hardmax", 13);
  EXPECT_THAT(FloatsOf(outer.With("axis", 0).Input(values, {2, 3})),
              ElementsAre(0, 0, 0, 1, 1, 1));
  NodeRunner vector = Reduction("Hardmax", 13);
  EXPECT_THAT(FloatsOf(vector.Input(values, {6})),
              ElementsAre(0, 0, 0, 0, 1, 0));
  NodeRunner flat = Reduction("Hardmax", 11);
  EXPECT_THAT(FloatsOf(flat.With("axis", 1).Input(values, {1, 2, 3})),
              ElementsAre(0, 0, 0, 0, 1, 0));
}

}  // namespace
}  // namespace tim::models::onnx
