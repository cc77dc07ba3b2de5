// Operators of ONNX that choose elements by index, a node at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/models/node_runner.h"
#include "tests/support/status_macros.h"

namespace tim::models::onnx {
namespace {

using ::testing::ElementsAre;

const std::vector<float> kSix = {1, 2, 3, 4, 5, 6};

NodeRunner Gathers(const std::string& op, int opset = 18) {
  return NodeRunner(AddGathers, op, opset);
}

/// Operands that are indices as constants or when the graph runs.
enum class Indices { kKnown, kGiven };
constexpr Indices kBoth[] = {Indices::kKnown, Indices::kGiven};

NodeRunner& AddIndices(NodeRunner& runner, Indices kind,
                       const std::vector<int64_t>& values, const Dims& dims) {
  return kind == Indices::kKnown ? runner.Constant(values, dims)
                                 : runner.Input(values, dims);
}

Dims DimsOf(const NodeRunner& runner) { return runner.node().outputs[0].dims; }

TEST(OnnxGathers, GatherTakesNegativeIndicesOfAnyRank) {
  for (const Indices kind : kBoth) {
    NodeRunner list = Gathers("Gather");
    list.With("axis", int64_t{1}).Input<float>(kSix, {2, 3});
    EXPECT_THAT(FloatsOf(AddIndices(list, kind, {-1, 0}, {2})),
                ElementsAre(3, 1, 6, 4));
    NodeRunner scalar = Gathers("Gather");
    scalar.Input<float>(kSix, {2, 3});
    EXPECT_THAT(FloatsOf(AddIndices(scalar, kind, {-1}, {})),
                ElementsAre(4, 5, 6));
    EXPECT_EQ(DimsOf(scalar), (Dims{3}));
    NodeRunner square = Gathers("Gather");
    square.Input<float>({7, 8, 9}, {3});
    EXPECT_THAT(FloatsOf(AddIndices(square, kind, {0, 2, -2, 0}, {2, 2})),
                ElementsAre(7, 9, 8, 7));
    EXPECT_EQ(DimsOf(square), (Dims{2, 2}));
    NodeRunner element = Gathers("Gather");
    element.Input<int64_t>({7, 8, 9}, {3});
    EXPECT_THAT(IntsOf(AddIndices(element, kind, {1}, {})), ElementsAre(8));
    EXPECT_EQ(DimsOf(element), (Dims{}));
  }
}

TEST(OnnxGathers, KnownIndicesMustLieInside) {
  NodeRunner gather = Gathers("Gather");
  EXPECT_ERROR(
      gather.Input<float>(kSix, {2, 3}).Constant<int64_t>({2}, {1}).Run(),
      "index 2 is outside of an axis of 2");
  NodeRunner coordinates = Gathers("GatherND");
  EXPECT_ERROR(coordinates.Input<float>(kSix, {2, 3})
                   .Constant<int64_t>({1, 3}, {2})
                   .Run(),
               "index 3 is outside of an axis of 3");
  NodeRunner type = Gathers("Gather");
  EXPECT_ERROR(type.Input<float>(kSix, {2, 3}).Input<float>({0}, {1}).Run(),
               "expected int32 or int64");
}

TEST(OnnxGathers, GatherElementsTakesSmallerIndices) {
  for (const Indices kind : kBoth) {
    NodeRunner whole = Gathers("GatherElements");
    whole.With("axis", int64_t{1}).Input<float>({1, 2, 3, 4}, {2, 2});
    EXPECT_THAT(FloatsOf(AddIndices(whole, kind, {0, 0, -1, 0}, {2, 2})),
                ElementsAre(1, 1, 4, 3));
    NodeRunner part = Gathers("GatherElements");
    part.Input<float>({1, 2, 3, 4, 5, 6, 7, 8, 9}, {3, 3});
    EXPECT_THAT(FloatsOf(AddIndices(part, kind, {1, 2, -1, 0}, {2, 2})),
                ElementsAre(4, 8, 7, 2));
  }
  NodeRunner refused = Gathers("GatherElements");
  EXPECT_ERROR(
      refused.Input<float>({1, 2}, {2, 1}).Input<int64_t>({0, 0}, {1, 2}).Run(),
      "larger than operand 0");
}

TEST(OnnxGathers, GatherNDTakesCoordinatesOutermostFirst) {
  for (const Indices kind : kBoth) {
    NodeRunner elements = Gathers("GatherND");
    elements.Input<float>(kSix, {2, 3});
    EXPECT_THAT(FloatsOf(AddIndices(elements, kind, {0, 2, -1, -3}, {2, 2})),
                ElementsAre(3, 4));
    NodeRunner slices = Gathers("GatherND");
    slices.Input<float>(kSix, {2, 3});
    EXPECT_THAT(FloatsOf(AddIndices(slices, kind, {1, 0}, {2, 1})),
                ElementsAre(4, 5, 6, 1, 2, 3));
    NodeRunner one = Gathers("GatherND");
    one.Input<float>(kSix, {2, 3});
    EXPECT_THAT(FloatsOf(AddIndices(one, kind, {1, 1}, {2})), ElementsAre(5));
    EXPECT_EQ(DimsOf(one), (Dims{}));
    NodeRunner batch = Gathers("GatherND");
    batch.With("batch_dims", int64_t{1})
        .Input<float>({1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2});
    EXPECT_THAT(FloatsOf(AddIndices(batch, kind, {1, 0}, {2, 1})),
                ElementsAre(3, 4, 5, 6));
    EXPECT_EQ(DimsOf(batch), (Dims{2, 2}));
  }
  NodeRunner refused = Gathers("GatherND");
  EXPECT_ERROR(
      refused.Input<float>({1, 2}, {2}).Input<int64_t>({0, 0}, {1, 2}).Run(),
      "do not fit");
}

TEST(OnnxGathers, ScatterElementsReplacesOrReduces) {
  for (const Indices kind : kBoth) {
    NodeRunner replace = Gathers("ScatterElements");
    replace.With("axis", int64_t{1}).Input<float>({1, 2, 3, 4, 5}, {1, 5});
    AddIndices(replace, kind, {1, -2}, {1, 2});
    EXPECT_THAT(FloatsOf(replace.Input<float>({8, 9}, {1, 2})),
                ElementsAre(1, 8, 3, 9, 5));
    NodeRunner rows = Gathers("Scatter", 9);
    rows.Input<float>({0, 0, 0, 0, 0, 0}, {3, 2});
    AddIndices(rows, kind, {2, 0}, {1, 2});
    EXPECT_THAT(FloatsOf(rows.Input<float>({8, 9}, {1, 2})),
                ElementsAre(0, 9, 0, 0, 8, 0));
    NodeRunner add = Gathers("ScatterElements");
    add.With("reduction", std::string("add")).Input<int64_t>({1, 2}, {2});
    AddIndices(add, kind, {1, 1}, {2});
    EXPECT_THAT(IntsOf(add.Input<int64_t>({10, 20}, {2})), ElementsAre(1, 32));
    NodeRunner middle = Gathers("ScatterElements");
    middle.With("axis", int64_t{1})
        .With("reduction", std::string("max"))
        .Input<float>({1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2});
    AddIndices(middle, kind, {1, 0, 0, 0}, {2, 1, 2});
    EXPECT_THAT(FloatsOf(middle.Input<float>({9, 9, 9, 0}, {2, 1, 2})),
                ElementsAre(1, 9, 9, 4, 9, 6, 7, 8));
  }
}

TEST(OnnxGathers, ScattersRefuseWhatDoesNotFit) {
  NodeRunner early = Gathers("ScatterElements", 13);
  EXPECT_ERROR(early.With("reduction", std::string("add"))
                   .Input<float>({1}, {1})
                   .Input<int64_t>({0}, {1})
                   .Input<float>({1}, {1})
                   .Run(),
               "from opset 16");
  NodeRunner updates = Gathers("ScatterElements");
  EXPECT_ERROR(updates.Input<float>({1}, {1})
                   .Input<int64_t>({0}, {1})
                   .Input<float>({1, 2}, {2})
                   .Run(),
               "operand 2 is float32 [2], expected [1]");
  NodeRunner outside = Gathers("ScatterND");
  EXPECT_ERROR(outside.Input<float>({1}, {1})
                   .Constant<int64_t>({1}, {1, 1})
                   .Input<float>({1}, {1})
                   .Run(),
               "index 1 is outside");
}

TEST(OnnxGathers, ScatterNDPutsSlicesAtCoordinates) {
  for (const Indices kind : kBoth) {
    NodeRunner elements = Gathers("ScatterND");
    elements.Input<float>(kSix, {2, 3});
    AddIndices(elements, kind, {0, 2, -1, 0}, {2, 2});
    EXPECT_THAT(FloatsOf(elements.Input<float>({8, 9}, {2})),
                ElementsAre(1, 2, 8, 9, 5, 6));
    NodeRunner slices = Gathers("ScatterND");
    slices.With("reduction", std::string("mul")).Input<float>(kSix, {2, 3});
    AddIndices(slices, kind, {1}, {1, 1});
    EXPECT_THAT(FloatsOf(slices.Input<float>({2, 3, 4}, {1, 3})),
                ElementsAre(1, 2, 3, 8, 15, 24));
    NodeRunner one = Gathers("ScatterND");
    one.With("reduction", std::string("min")).Input<float>(kSix, {2, 3});
    AddIndices(one, kind, {1, 2}, {2});
    EXPECT_THAT(FloatsOf(one.Input<float>({-7}, {})),
                ElementsAre(1, 2, 3, 4, 5, -7));
  }
}

TEST(OnnxGathers, OneHotTurnsNegativeIndicesOn) {
  for (const Indices kind : kBoth) {
    NodeRunner last = Gathers("OneHot");
    AddIndices(last, kind, {0, -1, 7}, {3});
    EXPECT_THAT(
        FloatsOf(last.Constant<int64_t>({3}, {}).Constant<float>({2, 5}, {2})),
        ElementsAre(5, 2, 2, 2, 2, 5, 2, 2, 2));
    EXPECT_EQ(DimsOf(last), (Dims{3, 3}));
    NodeRunner first = Gathers("OneHot");
    AddIndices(first.With("axis", int64_t{0}), kind, {0, 1, 1}, {3});
    EXPECT_THAT(
        IntsOf(first.Constant<float>({2}, {1}).Constant<int64_t>({0, 1}, {2})),
        ElementsAre(1, 0, 0, 0, 1, 1));
    NodeRunner scalar = Gathers("OneHot");
    AddIndices(scalar, kind, {-2}, {});
    EXPECT_THAT(IntsOf(scalar.Constant<int64_t>({3}, {}).Constant(
                    BoolArray({0, 1}, {2}))),
                ElementsAre(0, 1, 0));
    EXPECT_EQ(DimsOf(scalar), (Dims{3}));
  }
  NodeRunner refused = Gathers("OneHot");
  EXPECT_ERROR(refused.Input<int64_t>({0}, {1})
                   .Constant<int64_t>({2}, {})
                   .Constant<int64_t>({0, 16777217}, {2})
                   .Run(),
               "value 16777217");
}

TEST(OnnxGathers, TopKTakesTheGreatestOrTheLeast) {
  NodeRunner greatest = Gathers("TopK", 9);
  auto results = greatest.With("k", int64_t{2})
                     .Wants({true, true})
                     .Input<float>({1, 9, 3, 7, 7, 0}, {2, 3})
                     .Run();
  ASSERT_OK(results);
  EXPECT_THAT(Floats(results.value()[0]).value(), ElementsAre(9, 3, 7, 7));
  EXPECT_THAT(Integers(results.value()[1]).value(), ElementsAre(1, 2, 0, 1));
  EXPECT_EQ(results.value()[1].type, vx::DataType::INT64);

  constexpr int64_t kLeast = std::numeric_limits<int32_t>::min();
  NodeRunner least = Gathers("TopK");
  results = least.With("largest", int64_t{0})
                .With("axis", int64_t{0})
                .Wants({true, true})
                .Input<int64_t>({5, -kLeast - 1, kLeast, kLeast + 1}, {4})
                .Constant<int64_t>({3}, {1})
                .Run();
  ASSERT_OK(results);
  EXPECT_THAT(Integers(results.value()[0]).value(),
              ElementsAre(kLeast, kLeast + 1, 5));
  EXPECT_THAT(Integers(results.value()[1]).value(), ElementsAre(2, 3, 0));

  NodeRunner bytes = Gathers("TopK");
  EXPECT_THAT(IntsOf(bytes.With("largest", int64_t{0})
                         .Input<uint8_t>({255, 0, 128}, {3})
                         .Constant<int64_t>({2}, {1})),
              ElementsAre(0, 128));
  NodeRunner refused = Gathers("TopK");
  EXPECT_ERROR(refused.Input<float>({1}, {1}).Constant<int64_t>({2}, {1}).Run(),
               "k is 2 of an axis of 1");
}

TEST(OnnxGathers, UniqueOfAConstant) {
  NodeRunner sorted = Gathers("Unique");
  auto results = sorted.Wants({true, true, true, true})
                     .Constant<float>({2, 1, 1, 3, 4, 3}, {6})
                     .Run();
  ASSERT_OK(results);
  EXPECT_THAT(Floats(results.value()[0]).value(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Integers(results.value()[1]).value(), ElementsAre(1, 0, 3, 4));
  EXPECT_THAT(Integers(results.value()[2]).value(),
              ElementsAre(1, 0, 0, 2, 3, 2));
  EXPECT_THAT(Integers(results.value()[3]).value(), ElementsAre(2, 1, 2, 1));

  NodeRunner unsorted = Gathers("Unique");
  results = unsorted.With("sorted", int64_t{0})
                .Wants({true, false, true})
                .Constant<int64_t>({7, 5, 7}, {3})
                .Run();
  ASSERT_OK(results);
  EXPECT_THAT(Integers(results.value()[0]).value(), ElementsAre(7, 5));
  EXPECT_THAT(Integers(results.value()[1]).value(), ElementsAre(0, 1, 0));

  NodeRunner rows = Gathers("Unique");
  EXPECT_THAT(IntsOf(rows.With("axis", int64_t{0})
                         .Constant<int64_t>({1, 0, 1, 0, 0, 9}, {3, 2})),
              ElementsAre(0, 9, 1, 0));
  NodeRunner columns = Gathers("Unique");
  EXPECT_THAT(IntsOf(columns.With("axis", int64_t{1})
                         .Constant<int64_t>({3, 2, 3, 3, 2, 3}, {2, 3})),
              ElementsAre(2, 3, 2, 3));
  NodeRunner refused = Gathers("Unique");
  EXPECT_ERROR(refused.Input<float>({1}, {1}).Run(), "must be known");
}

TEST(OnnxGathers, NonMaxSuppressionIsRefused) {
  NodeRunner refused = Gathers("NonMaxSuppression");
  EXPECT_ERROR(refused.Input<float>({0, 0, 1, 1}, {1, 1, 4})
                   .Input<float>({1}, {1, 1, 1})
                   .Run(),
               "how many boxes it selects");
}

}  // namespace
}  // namespace tim::models::onnx
