// Operators of ONNX that move elements, a node at a time.
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
using ::testing::FloatEq;
using Ints = std::vector<int64_t>;
constexpr int64_t kFar = std::numeric_limits<int64_t>::max();
const std::vector<float> kSix = {1, 2, 3, 4, 5, 6};

NodeRunner Movement(const std::string& op, int opset = 18) {
  return NodeRunner(AddMovement, op, opset);
}

/// Extents and elements of output 0.
struct Made {
  Dims dims;
  std::vector<float> elements;
  bool operator==(const Made&) const = default;
};
void PrintTo(const Made& made, std::ostream* stream) {
  *stream << StrCat("[", StrJoin(made.dims, ","),
                    "]: ", StrJoin(made.elements, " "));
}

Made MadeBy(NodeRunner& runner) {
  const auto results = runner.Run();
  EXPECT_OK(results);
  if (!results.ok()) return {};
  const auto values = Floats(results.value()[0]);
  EXPECT_OK(values);
  return {results.value()[0].dims, values.ok() ? *values : kSix};
}

Made Reshaped(const Ints& shape, int64_t allow_zero = 0) {
  return MadeBy(Movement("Reshape")
                    .With("allowzero", allow_zero)
                    .Input<float>(kSix, {2, 3, 1})
                    .Constant<int64_t>(shape, {int64_t(shape.size())}));
}

TEST(OnnxMovement, ReshapeKeepsExtentsAtZeroAndFindsOne) {
  EXPECT_EQ(Reshaped({3, 2}), (Made{{3, 2}, kSix}));
  EXPECT_EQ(Reshaped({0, -1}), (Made{{2, 3}, kSix}));
  EXPECT_EQ(Reshaped({-1}, 1), (Made{{6}, kSix}));
}

TEST(OnnxMovement, ReshapeRefusesWhatDoesNotFit) {
  const auto run = [](const Ints& shape, int64_t allow_zero) {
    NodeRunner runner = Movement("Reshape");
    return runner.With("allowzero", allow_zero)
        .Input<float>(kSix, {2, 3})
        .Constant<int64_t>(shape, {int64_t(shape.size())})
        .Run();
  };
  EXPECT_ERROR(run({-1, -1}, 0), "more than one -1");
  EXPECT_ERROR(run({4, -1}, 0), "not one of 6 elements");
  EXPECT_ERROR(run({2, 2}, 0), "not one of 6 elements");
  EXPECT_ERROR(run({2, 3, 0}, 0), "keeps extent 2");
  EXPECT_ERROR(run({2, 0}, 1), "not one of 6 elements");
  EXPECT_ERROR(run({-1, 0}, 1), "leaves its -1 open");
  EXPECT_ERROR(run({-2, 3}, 0), "extent -2");
  EXPECT_ERROR(run({kFar, kFar}, 0), "too large");
  NodeRunner open = Movement("Reshape");
  EXPECT_ERROR(open.Input<float>(kSix, {6}).Input<int64_t>({6}, {1}).Run(),
               "must be known");
}

TEST(OnnxMovement, FlattenTakesAxesFromMinusRankToRank) {
  const auto run = [](int64_t axis) {
    return MadeBy(Movement("Flatten")
                      .With("axis", axis)
                      .Input<float>(kSix, {1, 2, 3}))
        .dims;
  };
  EXPECT_EQ(run(0), (Dims{1, 6}));
  EXPECT_EQ(run(2), (Dims{2, 3}));
  EXPECT_EQ(run(3), (Dims{6, 1}));
  EXPECT_EQ(run(-1), (Dims{2, 3}));
  NodeRunner refused = Movement("Flatten");
  EXPECT_ERROR(refused.With("axis", int64_t{4}).Input<float>({1}, {1}).Run(),
               "expected from -1 to 1");
}

TEST(OnnxMovement, SqueezeAndUnsqueezeTakeAxesByAttributeOrOperand) {
  EXPECT_EQ(MadeBy(Movement("Squeeze", 11).Input<float>(kSix, {1, 6, 1})).dims,
            (Dims{6}));
  EXPECT_EQ(MadeBy(Movement("Squeeze")
                       .Input<float>(kSix, {1, 6, 1})
                       .Constant<int64_t>({-1}, {1}))
                .dims,
            (Dims{1, 6}));
  EXPECT_EQ(MadeBy(Movement("Squeeze").Input<float>({7}, {1, 1})).dims,
            (Dims{}));
  EXPECT_EQ(MadeBy(Movement("Squeeze")
                       .Input<float>(kSix, {1, 6, 1})
                       .Constant<int64_t>({}, {0}))
                .dims,
            (Dims{6}));
  EXPECT_EQ(MadeBy(Movement("Unsqueeze", 11)
                       .With("axes", Ints{2, 0})
                       .Input<float>(kSix, {6}))
                .dims,
            (Dims{1, 6, 1}));
  EXPECT_EQ(MadeBy(Movement("Unsqueeze")
                       .Input<float>({7}, {})
                       .Constant<int64_t>({0}, {1}))
                .dims,
            (Dims{1}));
  NodeRunner wide = Movement("Squeeze");
  EXPECT_ERROR(
      wide.Input<float>(kSix, {1, 6}).Constant<int64_t>({1}, {1}).Run(),
      "whose extent is 6");
  NodeRunner twice = Movement("Unsqueeze");
  EXPECT_ERROR(
      twice.Input<float>(kSix, {6}).Constant<int64_t>({0, -3}, {2}).Run(),
      "twice");
}

TEST(OnnxMovement, TransposeReversesAxesOrPermutesThem) {
  EXPECT_EQ(MadeBy(Movement("Transpose").Input<float>(kSix, {2, 3})),
            (Made{{3, 2}, {1, 4, 2, 5, 3, 6}}));
  EXPECT_EQ(MadeBy(Movement("Transpose")
                       .With("perm", Ints{1, 2, 0})
                       .Input<float>(kSix, {2, 3, 1})),
            (Made{{3, 1, 2}, {1, 4, 2, 5, 3, 6}}));
  NodeRunner refused = Movement("Transpose");
  EXPECT_ERROR(
      refused.With("perm", Ints{0, 0}).Input<float>(kSix, {2, 3}).Run(),
      "no permutation");
}

TEST(OnnxMovement, ConcatJoinsAlongAnAxis) {
  EXPECT_EQ(MadeBy(Movement("Concat")
                       .With("axis", int64_t{-1})
                       .Input<float>({1, 2}, {2, 1})
                       .Constant<float>({}, {2, 0})
                       .Input<float>({3, 4, 5, 6}, {2, 2})),
            (Made{{2, 3}, {1, 3, 4, 2, 5, 6}}));
  EXPECT_THAT(IntsOf(Movement("Concat")
                         .With("axis", int64_t{0})
                         .Input<int64_t>({-5}, {1})
                         .Constant<int64_t>({7}, {1})),
              ElementsAre(-5, 7));
  NodeRunner refused = Movement("Concat");
  EXPECT_ERROR(refused.With("axis", int64_t{0})
                   .Input<float>({1, 2}, {1, 2})
                   .Input<float>({1}, {1, 1})
                   .Run(),
               "does not join");
  NodeRunner types = Movement("Concat");
  EXPECT_ERROR(types.With("axis", int64_t{0})
                   .Input<float>({1}, {1})
                   .Input<int32_t>({1}, {1})
                   .Run(),
               "types float32 and int32");
}

TEST(OnnxMovement, SplitMakesEqualUnequalAndEmptyParts) {
  NodeRunner equal = Movement("Split", 11);
  auto parts = equal.With("axis", int64_t{1})
                   .Wants({true, true, true})
                   .Input<float>(kSix, {2, 3})
                   .Run();
  ASSERT_OK(parts);
  EXPECT_EQ(parts.value()[2].dims, (Dims{2, 1}));
  EXPECT_THAT(Floats(parts.value()[2]).value(), ElementsAre(3, 6));

  NodeRunner uneven = Movement("Split");
  parts = uneven.With("num_outputs", int64_t{2})
              .Wants({true, true})
              .Input<float>({1, 2, 3}, {3})
              .Run();
  ASSERT_OK(parts);
  EXPECT_THAT(Floats(parts.value()[0]).value(), ElementsAre(1, 2));
  EXPECT_THAT(Floats(parts.value()[1]).value(), ElementsAre(3));

  NodeRunner sizes = Movement("Split");
  parts = sizes.Wants({true, false, true})
              .Input<float>({1, 2, 3}, {3})
              .Constant<int64_t>({1, 2, 0}, {3})
              .Run();
  ASSERT_OK(parts);
  EXPECT_THAT(Floats(parts.value()[0]).value(), ElementsAre(1));
  EXPECT_EQ(parts.value()[1].dims, (Dims{0}));

  NodeRunner refused = Movement("Split");
  EXPECT_ERROR(refused.Wants({true, true})
                   .Input<float>({1, 2, 3}, {3})
                   .Constant<int64_t>({1, 3}, {2})
                   .Run(),
               "an axis of 3");
  NodeRunner indivisible = Movement("Split", 11);
  EXPECT_ERROR(
      indivisible.Wants({true, true}).Input<float>({1, 2, 3}, {3}).Run(),
      "no equal parts");
}

Made Sliced(int64_t start, int64_t end, int64_t step) {
  return MadeBy(Movement("Slice")
                    .Input<float>({1, 2, 3, 4, 5}, {5})
                    .Constant<int64_t>({start}, {1})
                    .Constant<int64_t>({end}, {1})
                    .Constant<int64_t>({-1}, {1})
                    .Constant<int64_t>({step}, {1}));
}

TEST(OnnxMovement, SliceClampsBoundsAndTakesNegativeSteps) {
  EXPECT_EQ(Sliced(1, kFar, 1), (Made{{4}, {2, 3, 4, 5}}));
  EXPECT_EQ(Sliced(-2, kFar, 1), (Made{{2}, {4, 5}}));
  EXPECT_EQ(Sliced(0, -1, 3), (Made{{2}, {1, 4}}));
  EXPECT_EQ(Sliced(kFar, -kFar - 1, -1), (Made{{5}, {5, 4, 3, 2, 1}}));
  EXPECT_EQ(Sliced(-1, 0, -2), (Made{{2}, {5, 3}}));
  EXPECT_EQ(Sliced(3, -100, -kFar), (Made{{1}, {4}}));
  EXPECT_EQ(Sliced(-100, 100, kFar), (Made{{1}, {1}}));
  EXPECT_EQ(Sliced(3, 2, 1), (Made{{0}, {}}));
  EXPECT_EQ(Sliced(-100, 100, 1), (Made{{5}, {1, 2, 3, 4, 5}}));
}

TEST(OnnxMovement, SliceReadsAttributesBeforeOpset10) {
  EXPECT_EQ(MadeBy(Movement("Slice", 9)
                       .With("starts", Ints{0, 1})
                       .With("ends", Ints{1, kFar})
                       .Input<float>(kSix, {2, 3})),
            (Made{{1, 2}, {2, 3}}));
  NodeRunner step = Movement("Slice");
  EXPECT_ERROR(step.Input<float>({1}, {1})
                   .Constant<int64_t>({0}, {1})
                   .Constant<int64_t>({1}, {1})
                   .Absent()
                   .Constant<int64_t>({0}, {1})
                   .Run(),
               "step is 0");
  NodeRunner count = Movement("Slice");
  EXPECT_ERROR(count.Input<float>({1}, {1})
                   .Constant<int64_t>({0}, {1})
                   .Constant<int64_t>({1, 1}, {2})
                   .Run(),
               "1, 2, 1 and 1 values");
}

NodeRunner Padded(const std::string& mode, const Ints& pads, int opset = 19) {
  NodeRunner runner = Movement("Pad", opset);
  runner.With("mode", mode)
      .Input<float>({1, 2, 3}, {3})
      .Constant<int64_t>(pads, {int64_t(pads.size())});
  return runner;
}

TEST(OnnxMovement, PadModes) {
  NodeRunner constant = Padded("constant", {1, 2});
  EXPECT_THAT(FloatsOf(constant.Constant<float>({0.5f}, {})),
              ElementsAre(0.5f, 1, 2, 3, 0.5f, 0.5f));
  NodeRunner edge = Padded("edge", {2, 1});
  EXPECT_THAT(FloatsOf(edge), ElementsAre(1, 1, 1, 2, 3, 3));
  NodeRunner reflect = Padded("reflect", {2, 1});
  EXPECT_THAT(FloatsOf(reflect), ElementsAre(3, 2, 1, 2, 3, 2));
  NodeRunner far = Padded("reflect", {3, 0});
  EXPECT_THAT(FloatsOf(far), ElementsAre(2, 3, 2, 1, 2, 3));
  NodeRunner wrap = Padded("wrap", {4, 1});
  EXPECT_THAT(FloatsOf(wrap), ElementsAre(3, 1, 2, 3, 1, 2, 3, 1));
  NodeRunner crop = Padded("constant", {-1, 1});
  EXPECT_THAT(FloatsOf(crop), ElementsAre(2, 3, 0));
  NodeRunner none = Padded("constant", {0, 0});
  EXPECT_THAT(FloatsOf(none), ElementsAre(1, 2, 3));
}

TEST(OnnxMovement, PadTakesAxesIntegersAndCodes) {
  EXPECT_EQ(MadeBy(Movement("Pad")
                       .Input<float>({1, 2}, {1, 2})
                       .Constant<int64_t>({1, 0}, {2})
                       .Constant<float>({9}, {})
                       .Constant<int64_t>({-2}, {1})),
            (Made{{2, 2}, {9, 9, 1, 2}}));
  EXPECT_THAT(IntsOf(Movement("Pad")
                         .Input<int64_t>({1}, {1})
                         .Constant<int64_t>({1, 0}, {2})
                         .Constant<int64_t>({16777217}, {})),
              ElementsAre(16777217, 1));
  NodeRunner old = Movement("Pad", 7);
  EXPECT_THAT(FloatsOf(old.With("pads", Ints{0, 1})
                           .With("value", 2.5f)
                           .Input<float>({1}, {1})),
              ElementsAre(1, 2.5f));
  NodeRunner codes = Movement("Pad");
  EXPECT_THAT(
      IntsOf(codes
                 .Input(ArrayOf<uint8_t>({1, 2}, {2}),
                        vx::Quantization(vx::QuantType::ASYMMETRIC, 0.5f, 3))
                 .Constant<int64_t>({1, 0}, {2})
                 .Constant<uint8_t>({7}, {})),
      ElementsAre(7, 1, 2));
}

TEST(OnnxMovement, PadRefusesWhatItDoesNotKnow) {
  NodeRunner wrap = Padded("wrap", {1, 1}, 18);
  EXPECT_ERROR(wrap.Run(), "from opset 19");
  NodeRunner crop = Padded("constant", {-2, -2});
  EXPECT_ERROR(crop.Run(), "take away more");
  NodeRunner count = Padded("constant", {1});
  EXPECT_ERROR(count.Run(), "expected 2");
  NodeRunner large = Padded("constant", {kFar, 0});
  EXPECT_ERROR(large.Run(), "count 9223372036854775807");
}

TEST(OnnxMovement, ExpandAndTileRepeat) {
  EXPECT_EQ(MadeBy(Movement("Expand")
                       .Input<float>({1, 2}, {2, 1})
                       .Constant<int64_t>({2, 1, 2}, {3})),
            (Made{{2, 2, 2}, {1, 1, 2, 2, 1, 1, 2, 2}}));
  EXPECT_EQ(MadeBy(Movement("Expand").Input<float>({5}, {}).Constant<int64_t>(
                {1, 2}, {2})),
            (Made{{1, 2}, {5, 5}}));
  EXPECT_EQ(MadeBy(Movement("Expand")
                       .Input<float>({1, 2}, {2, 1})
                       .Constant<int64_t>({0}, {1})),
            (Made{{2, 0}, {}}));
  EXPECT_EQ(MadeBy(Movement("Tile")
                       .Input<float>({1, 2}, {1, 2})
                       .Constant<int64_t>({2, 2}, {2})),
            (Made{{2, 4}, {1, 2, 1, 2, 1, 2, 1, 2}}));
  NodeRunner fit = Movement("Expand");
  EXPECT_FALSE(
      fit.Input<float>({1, 2}, {2}).Constant<int64_t>({3}, {1}).Run().ok());
  NodeRunner large = Movement("Tile");
  EXPECT_ERROR(
      large.Input<float>({1, 2}, {2}).Constant<int64_t>({kFar}, {1}).Run(),
      "repeats axis 0");
}

TEST(OnnxMovement, DepthAndSpaceChangePlaces) {
  const std::vector<float> depth = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(MadeBy(Movement("DepthToSpace")
                       .With("blocksize", int64_t{2})
                       .Input<float>(depth, {1, 8, 1, 1})),
            (Made{{1, 2, 2, 2}, {0, 2, 4, 6, 1, 3, 5, 7}}));
  EXPECT_EQ(MadeBy(Movement("DepthToSpace")
                       .With("blocksize", int64_t{2})
                       .With("mode", std::string("CRD"))
                       .Input<float>(depth, {1, 8, 1, 1})),
            (Made{{1, 2, 2, 2}, depth}));
  EXPECT_EQ(MadeBy(Movement("SpaceToDepth")
                       .With("blocksize", int64_t{2})
                       .Input<float>({0, 2, 4, 6, 1, 3, 5, 7}, {1, 2, 2, 2})),
            (Made{{1, 8, 1, 1}, depth}));
  NodeRunner refused = Movement("DepthToSpace");
  EXPECT_ERROR(refused.With("blocksize", int64_t{3})
                   .Input<float>(depth, {1, 8, 1, 1})
                   .Run(),
               "no multiple");
  NodeRunner none = Movement("SpaceToDepth");
  EXPECT_ERROR(none.Input<float>(depth, {1, 8, 1, 1}).Run(), "blocksize");
}

TEST(OnnxMovement, TriluKeepsATriangle) {
  const float infinity = std::numeric_limits<float>::infinity();
  NodeRunner upper = Movement("Trilu");
  EXPECT_THAT(FloatsOf(upper.Input<float>({1, 2, 3, infinity, 5, 6}, {2, 3})),
              ElementsAre(1, 2, 3, 0, 5, 6));
  NodeRunner lower = Movement("Trilu");
  EXPECT_THAT(IntsOf(lower.With("upper", int64_t{0})
                         .Input<int64_t>({1, 2, 3, 4, 5, 6}, {1, 2, 3})
                         .Constant<int64_t>({-1}, {})),
              ElementsAre(0, 0, 0, 4, 0, 0));
  NodeRunner far = Movement("Trilu");
  EXPECT_THAT(
      IntsOf(far.Input<int32_t>({1, 2}, {1, 2}).Constant<int64_t>({kFar}, {})),
      ElementsAre(0, 0));
}

TEST(OnnxMovement, SequencesAreReversedByTheirLengths) {
  // Time comes first: columns are sequences.
  NodeRunner time = Movement("ReverseSequence");
  EXPECT_THAT(
      FloatsOf(time.Input<float>(kSix, {3, 2}).Constant<int64_t>({3, 2}, {2})),
      ElementsAre(5, 4, 3, 2, 1, 6));
  NodeRunner batch = Movement("ReverseSequence");
  EXPECT_THAT(FloatsOf(batch.With("batch_axis", int64_t{0})
                           .With("time_axis", int64_t{1})
                           .Input<float>(kSix, {2, 3})
                           .Constant<int64_t>({1, 2}, {2})),
              ElementsAre(1, 2, 3, 5, 4, 6));
  NodeRunner refused = Movement("ReverseSequence");
  EXPECT_ERROR(
      refused.Input<float>(kSix, {3, 2}).Constant<int64_t>({4, 1}, {2}).Run(),
      "length 4");
}

TEST(OnnxMovement, CompressKeepsWhatAConditionSays) {
  EXPECT_EQ(MadeBy(Movement("Compress")
                       .With("axis", int64_t{1})
                       .Input<float>(kSix, {2, 3})
                       .Constant(BoolArray({1, 0, 1}, {3}))),
            (Made{{2, 2}, {1, 3, 4, 6}}));
  EXPECT_EQ(MadeBy(Movement("Compress")
                       .Input<float>(kSix, {2, 3})
                       .Constant(BoolArray({0, 1, 0, 0, 1, 1}, {6}))),
            (Made{{3}, {2, 5, 6}}));
  NodeRunner refused = Movement("Compress");
  EXPECT_ERROR(refused.With("axis", int64_t{0})
                   .Input<float>(kSix, {2, 3})
                   .Constant(BoolArray({1, 1, 1}, {3}))
                   .Run(),
               "for an axis of 2");
}

TEST(OnnxMovement, CenterCropPadCropsAndPads) {
  EXPECT_EQ(MadeBy(Movement("CenterCropPad")
                       .Input<float>(kSix, {2, 3})
                       .Constant<int64_t>({5, 2}, {2})),
            (Made{{5, 2}, {0, 0, 1, 2, 4, 5, 0, 0, 0, 0}}));
  EXPECT_EQ(MadeBy(Movement("CenterCropPad")
                       .With("axes", Ints{-1})
                       .Input<float>(kSix, {2, 3})
                       .Constant<int64_t>({1}, {1})),
            (Made{{2, 1}, {2, 5}}));
}

TEST(OnnxMovement, QuantizationStaysWithElements) {
  const vx::Quantization quantization(vx::QuantType::ASYMMETRIC, 0.5f, 3);
  for (const char* op : {"Transpose", "Trilu"}) {
    NodeRunner runner = Movement(op);
    const auto results =
        runner.Input(ArrayOf<uint8_t>({1, 2, 3, 4}, {2, 2}), quantization)
            .Run();
    ASSERT_OK(results);
    EXPECT_TRUE(runner.node().outputs[0].quantization == quantization) << op;
    EXPECT_EQ(Integers(results.value()[0]).value()[3], 4) << op;
  }
  NodeRunner mixed = Movement("Concat");
  EXPECT_ERROR(mixed.With("axis", int64_t{0})
                   .Input(ArrayOf<uint8_t>({1}, {1}), quantization)
                   .Input<uint8_t>({1}, {1})
                   .Run(),
               "another quantization");
}

}  // namespace
}  // namespace tim::models::onnx
