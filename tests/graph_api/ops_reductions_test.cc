// Reductions against sums of doubles.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/graph_api/evaluated_op.h"

namespace tim::graph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Case {
  const char* name;
  tim_graph_op_kind_t kind;
  std::function<double(const Numbers&)> of;
  double of_minus_3_and_4;
};

double Sum(const Numbers& numbers) {
  double sum = 0;
  for (const double number : numbers) sum += number;
  return sum;
}

double Product(const Numbers& numbers) {
  double product = 1;
  for (const double number : numbers) product *= number;
  return product;
}

double AbsoluteSum(const Numbers& numbers) {
  double sum = 0;
  for (const double number : numbers) sum += std::fabs(number);
  return sum;
}

double Largest(const Numbers& numbers) {
  double largest = -kInfinity;
  for (const double number : numbers) largest = std::max(largest, number);
  return largest;
}

double Least(const Numbers& numbers) {
  double least = kInfinity;
  for (const double number : numbers) least = std::min(least, number);
  return least;
}

const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
      {"ReduceSum", tim_graph_op_reduce_sum, Sum, 1},
      {"ReduceMean", tim_graph_op_reduce_mean,
       [](const Numbers& numbers) {
         return Sum(numbers) / static_cast<double>(numbers.size());
       },
       0.5},
      {"ReduceMax", tim_graph_op_reduce_max, Largest, 4},
      {"ReduceMin", tim_graph_op_reduce_min, Least, -3},
      {"ReduceProd", tim_graph_op_reduce_prod, Product, -12},
      {"ReduceL1", tim_graph_op_reduce_l1, AbsoluteSum, 7},
      {"ReduceL2", tim_graph_op_reduce_l2,
       [](const Numbers& numbers) { return std::sqrt(Dot(numbers, numbers)); },
       5},
  };
  return cases;
}

EvaluatedOp OpOf(const Case& one, const Array& src, const Dims& axes,
                 bool keep_dims = false) {
  return EvaluatedOp(one.kind)
      .Input(src)
      .Output(src.type)
      .Set(tim_graph_op_attr_axes, axes)
      .Set(tim_graph_op_attr_keep_dims, keep_dims);
}

bool IsIn(const std::vector<size_t>& list, size_t number) {
  return std::find(list.begin(), list.end(), number) != list.end();
}

// Groups of elements that become one, in the order of the results.
Numbers Reduced(const Case& one, const Array& src,
                const std::vector<size_t>& axes) {
  std::vector<size_t> order;
  int64_t results = 1;
  for (size_t i = 0; i < src.dims.size(); ++i) {
    if (IsIn(axes, i)) continue;
    order.push_back(i);
    results *= src.dims[i];
  }
  order.insert(order.end(), axes.begin(), axes.end());
  const Array sorted = Permuted(src, order);
  const int64_t length = CountOf(src) / results;
  Numbers out;
  for (int64_t i = 0; i < results; ++i) {
    const auto first = sorted.values.begin() + i * length;
    out.push_back(one.of(Numbers(first, first + length)));
  }
  return out;
}

TEST(Reductions, NumbersWorkedOutByHand) {
  for (const Case& one : Cases()) {
    const Array found =
        OpOf(one, {.dims = {1, 2}, .values = {-3, 4}}, {1}).First();
    EXPECT_EQ(found.dims, Dims{1});
    EXPECT_FLOAT_EQ(static_cast<float>(found.values.at(0)),
                    static_cast<float>(one.of_minus_3_and_4))
        << one.name;
  }
}

TEST(Reductions, EqualTheFormulaOverAnyAxesInEveryType) {
  struct Axes {
    Dims given;
    std::vector<size_t> axes;
    Dims kept, dropped;
  };
  const Axes all[] = {
      {{2}, {2}, {2, 3, 1}, {2, 3}},          {{0}, {0}, {1, 3, 5}, {3, 5}},
      {{-2}, {1}, {2, 1, 5}, {2, 5}},         {{2, 0}, {0, 2}, {1, 3, 1}, {3}},
      {{-1, 0, 1}, {0, 1, 2}, {1, 1, 1}, {}},
  };
  const std::pair<tim_graph_data_type_t, double> tolerances[] = {
      {tim_graph_f32, 1e-5}, {tim_graph_f16, 6e-4}, {tim_graph_bf16, 4.5e-3}};
  for (const Case& one : Cases()) {
    for (const auto& [type, tolerance] : tolerances) {
      const Array src = Rounded(Random({2, 3, 5}, 3), type);
      for (const Axes& axes : all) {
        SCOPED_TRACE(std::string(one.name) + " of " + tim_graph_dt2str(type));
        const Array kept = OpOf(one, src, axes.given, true).First();
        const Array dropped = OpOf(one, src, axes.given).First();
        EXPECT_EQ(kept.dims, axes.kept);
        EXPECT_EQ(dropped.dims, axes.dropped);
        ExpectNear(kept.values, Reduced(one, src, axes.axes), tolerance);
        EXPECT_EQ(dropped.values, kept.values);
      }
    }
  }
}

// Squares of these sources are beyond float16, their root is not.
TEST(Reductions, WhatLiesBetweenIsNotRounded) {
  const Array src = {
      .dims = {2}, .values = {3000, 4000}, .type = tim_graph_f16};
  EXPECT_EQ(EvaluatedOp(tim_graph_op_reduce_l2)
                .Input(src)
                .Output(tim_graph_f16)
                .Set(tim_graph_op_attr_axes, Dims{0})
                .First()
                .values,
            Numbers{5000});
}

TEST(Reductions, NothingHasAResult) {
  for (const Case& one : Cases()) {
    SCOPED_TRACE(one.name);
    for (const auto type : {tim_graph_f32, tim_graph_f16, tim_graph_bf16}) {
      const Array src = {.dims = {2, 0}, .values = {}, .type = type};
      const Array found = OpOf(one, src, {1}).First();
      ASSERT_EQ(found.dims, Dims{2});
      for (const double value : found.values) {
        if (one.kind == tim_graph_op_reduce_mean) {
          EXPECT_TRUE(std::isnan(value));
        } else {
          EXPECT_EQ(value, one.of({}));
        }
      }
      EXPECT_EQ(OpOf(one, src, {0, 1}, true).First().dims, (Dims{1, 1}));
      EXPECT_EQ(OpOf(one, src, {0, 1}).First().values.size(), 1u);
      EXPECT_EQ(OpOf(one, src, {0}).First().dims, Dims{0});
    }
  }
}

TEST(Reductions, AxesThatAreNoneAreNotCompiled) {
  for (const Case& one : Cases()) {
    const Array src = Random({2, 3}, 1);
    for (const Dims& axes : std::vector<Dims>{{}, {1, 1}, {1, -1}, {2}, {-3}}) {
      const EvaluatedOp op = OpOf(one, src, axes);
      EXPECT_TRUE(op.Supports().ok()) << one.name;
      EXPECT_EQ(op.CompileCode(), tim_graph_unimplemented)
          << one.name << " over " << StrJoin(axes, ", ");
    }
    EXPECT_EQ(OpOf(one, Random({}, 1), {0}).CompileCode(),
              tim_graph_unimplemented);
  }
}

TEST(Reductions, AxesAreAnAttributeOnly) {
  for (const Case& one : Cases()) {
    const Array axes = {.dims = {1}, .values = {0}, .type = tim_graph_s32};
    const Array src = Random({2}, 1);
    EvaluatedOp both(one.kind);
    both.Input(src).Input(axes).Output();
    ExpectRefused(both.Check(), "axes");
    both.Set(tim_graph_op_attr_axes, Dims{0});
    ExpectRefused(both.Check(), "axes");
    EvaluatedOp integers(one.kind);
    integers.Input(axes).Output(tim_graph_s32);
    EXPECT_FALSE(integers.Check().ok()) << one.name;
  }
}

}  // namespace
}  // namespace tim::graph
