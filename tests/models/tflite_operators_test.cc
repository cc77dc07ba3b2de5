// Operators of TFLite that become several ones of the graph, on files that the
// test writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/models/tflite_runner.h"

namespace tim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::HasSubstr;
using ::testing::Pointwise;

constexpr auto kFloat32 = fbs::TensorType::FLOAT32;
constexpr auto kInt32 = fbs::TensorType::INT32;
constexpr auto kInt64 = fbs::TensorType::INT64;

int Output(TfliteFile* file, fbs::TensorType type, std::vector<int32_t> shape) {
  FileTensor tensor;
  tensor.type = type;
  tensor.shape = std::move(shape);
  tensor.name = "y";
  return file->Add(std::move(tensor));
}

// A file whose one operator reads x and constants.
struct Operands {
  int code = 0;
  std::vector<int32_t> shape;                  ///< That of x.
  std::vector<std::vector<int32_t>> integers;  ///< Constants of rank 1.
  fbs::TensorType made = kFloat32;
};

std::vector<uint8_t> FileOf(const Operands& of, fbs::Options type,
                            auto options) {
  TfliteFile file;
  const int x = file.Activation("x", of.shape);
  std::vector<int32_t> inputs = {x};
  for (const auto& list : of.integers) inputs.push_back(file.Ints(list));
  const int y = Output(&file, of.made, of.shape);
  file.Operator(of.code, inputs, {y}, type, options(file.builder()));
  file.EndSubgraph({x}, {y});
  return file.Finish();
}

std::vector<uint8_t> FileOf(const Operands& of) {
  return FileOf(of, fbs::Options::NONE, [](auto&) { return 0; });
}

TEST(TfliteOperators, SequencesAreTurnedByTheirLengths) {
  const auto options = [](auto& builder) {
    return fbs::CreateReverseSequence(builder, 0, 1).Union();
  };
  const auto type = fbs::Options::ReverseSequence;
  TfliteRun run(FileOf({112, {3, 2}, {{3, 2}}}, type, options));
  EXPECT_THAT(run.Floats({0, 1, 2, 3, 4, 5}), ElementsAre(4, 3, 2, 1, 0, 5));
  TfliteRun longer(FileOf({112, {3, 2}, {{3, 4}}}, type, options));
  EXPECT_THAT(longer.model.error, HasSubstr("the length 4 of sequences of 3"));
}

// An update of `shape` within [3, 4] at `begin`, a constant or not.
std::vector<float> Updated(const std::vector<int32_t>& shape,
                           const std::vector<float>& update,
                           const std::vector<int32_t>& begin, bool is_known) {
  TfliteFile file;
  const int x = file.Activation("x", {3, 4});
  const int part = file.Floats(shape, update);
  const int at = is_known ? file.Ints(begin) : Output(&file, kInt32, {2});
  const int y = file.Activation("y", {3, 4});
  file.Operator(151, {x, part, at}, {y});
  std::vector<int32_t> inputs = {x};
  if (!is_known) inputs.push_back(at);
  file.EndSubgraph(inputs, {y});
  std::vector<std::vector<uint8_t>> bytes = {
      BytesOf(std::vector<float>(12, 0))};
  if (!is_known) bytes.push_back(BytesOf(begin));
  return TfliteRun(file.Finish()).Run<float>(bytes);
}

TEST(TfliteOperators, UpdatesStayInside) {
  for (const bool is_known : {true, false}) {
    EXPECT_THAT(Updated({2, 2}, {1, 2, 3, 4}, {1, 1}, is_known),
                ElementsAre(0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0));
    EXPECT_THAT(Updated({2, 2}, {1, 2, 3, 4}, {9, -5}, is_known),
                ElementsAre(0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0, 0));
    EXPECT_THAT(Updated({1, 4}, {1, 2, 3, 4}, {1, 0}, is_known),
                ElementsAre(0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0));
  }
}

TEST(TfliteOperators, SegmentsAreReduced) {
  TfliteRun sum(FileOf({125, {4, 1}, {{0, 0, 2, 2}}}));
  EXPECT_THAT(sum.Floats({1, 2, 3, 4}), ElementsAre(3, 0, 7));
  // Segment 1 has no slice, and the slice of none is left out.
  const std::vector<std::vector<int32_t>> numbers = {{2, -1, 0, 2}, {3}};
  TfliteRun total(FileOf({155, {4, 1}, numbers}));
  EXPECT_THAT(total.Floats({1, 2, 3, 4}), ElementsAre(3, 0, 5));
  TfliteRun greatest(FileOf({154, {4, 1}, numbers}));
  EXPECT_THAT(greatest.Floats({1, 2, 3, 4}),
              ElementsAre(3, std::numeric_limits<float>::lowest(), 4));
  TfliteRun falling(FileOf({125, {2, 1}, {{1, 0}}}));
  EXPECT_THAT(falling.model.error, HasSubstr("do not ascend"));
}

TEST(TfliteOperators, AnglesAreInTheirQuadrants) {
  const std::vector<float> ys = {1, 1, -1, -1, 0, 0, 2, 1e-30f};
  const std::vector<float> xs = {2, -2, -2, 2, -1, 0, 0, 1e30f};
  TfliteFile file;
  const int y = file.Activation("y", {8});
  const int x = file.Floats({8}, xs);
  const int angle = file.Activation("angle", {8});
  file.Operator(156, {y, x}, {angle});
  file.EndSubgraph({y}, {angle});
  std::vector<float> expected;
  for (size_t i = 0; i < ys.size(); ++i) {
    expected.push_back(std::atan2(ys[i], xs[i]));
  }
  EXPECT_THAT(TfliteRun(file.Finish()).Floats(ys),
              Pointwise(FloatEq(), expected));
}

TEST(TfliteOperators, FakeQuantizationRoundsToSteps) {
  TfliteRun run(
      FileOf({80, {5}, {}}, fbs::Options::FakeQuant, [](auto& builder) {
        return fbs::CreateFakeQuant(builder, -0.75f, 3, 4).Union();
      }));
  // Steps of a quarter: of two that are as near the greater one.
  EXPECT_THAT(run.Floats({-2, -0.125f, 0.126f, 0.375f, 9}),
              ElementsAre(-0.75f, 0, 0.25f, 0.5f, 3));
}

TEST(TfliteOperators, BoundariesAreCounted) {
  TfliteRun run(FileOf(
      {147, {4}, {}, kInt32}, fbs::Options::Bucketize, [](auto& builder) {
        const std::vector<float> limits = {0, 10, 100};
        return fbs::CreateBucketizeDirect(builder, &limits).Union();
      }));
  EXPECT_THAT(run.Run<int32_t>({BytesOf<float>({-1, 10, 99, 100})}),
              ElementsAre(0, 2, 2, 3));
}

TEST(TfliteOperators, DiagonalsAreSet) {
  TfliteRun made(FileOf({113, {2}, {}}));
  EXPECT_THAT(made.Floats({3, INFINITY}), ElementsAre(3, 0, 0, INFINITY));
  EXPECT_EQ(made.model.outputs[0].dims, (models::Dims{2, 2}));
  TfliteFile file;
  const int x = file.Activation("x", {2, 3});
  const int y = file.Activation("y", {2, 3});
  file.Operator(115, {x, file.Floats({2}, {7, 8})}, {y});
  file.EndSubgraph({x}, {y});
  EXPECT_THAT(TfliteRun(file.Finish()).Floats({0, 1, 2, 3, 4, 5}),
              ElementsAre(7, 1, 2, 3, 8, 5));
}

TEST(TfliteOperators, ConstantsAreListed) {
  // x at the places of a mask, and x at the numbers that a list has.
  TfliteFile file;
  const int x = file.Activation("x", {2, 2});
  const int mask =
      file.Constant<uint8_t>(fbs::TensorType::BOOL, {2, 2}, {1, 0, 1, 1});
  const int places = Output(&file, kInt64, {3, 2});
  const int y = file.Activation("masked", {3});
  file.Operator(109, {mask}, {places});
  file.Operator(107, {x, places}, {y});
  const int numbers = Output(&file, kInt32, {2});
  const int which = Output(&file, kInt32, {3});
  file.Operator(103, {file.Ints({1, 0, 1})}, {numbers, which});
  file.EndSubgraph({x}, {y, numbers, which});
  TfliteRun run(file.Finish());
  EXPECT_THAT(run.Floats({5, 6, 7, 8}), ElementsAre(5, 7, 8));
  EXPECT_THAT(run.Output<int32_t>(1), ElementsAre(1, 0));
  EXPECT_THAT(run.Output<int32_t>(2), ElementsAre(0, 1, 0));
  TfliteRun unknown(FileOf({109, {2}, {}, kInt64}));
  EXPECT_THAT(unknown.model.error, HasSubstr("a constant is taken"));
}

TEST(TfliteOperators, SparseValuesBecomeDense) {
  TfliteFile file;
  const int values = file.Activation("x", {2});
  const int y = file.Activation("y", {2, 2});
  const int at = file.Constant<int32_t>(kInt32, {2, 2}, {1, 0, 0, 1});
  file.Operator(68, {at, file.Ints({2, 2}), values, file.Floats({}, {9})}, {y});
  file.EndSubgraph({values}, {y});
  EXPECT_THAT(TfliteRun(file.Finish()).Floats({1, 2}), ElementsAre(9, 2, 1, 9));
}

TEST(TfliteOperators, BitsMoveAndChangeTheirMeaning) {
  TfliteFile file;
  const int x = Output(&file, kInt32, {4});
  const int y = Output(&file, kInt32, {4});
  const int bits = Output(&file, kInt32, {1});
  file.Operator(161, {x, file.Ints({0, 1, 2, 30})}, {y});
  file.Operator(159, {file.Floats({1}, {1})}, {bits});
  file.EndSubgraph({x}, {y, bits});
  TfliteRun run(file.Finish());
  EXPECT_THAT(run.Run<int32_t>({BytesOf<int32_t>({-5, -5, 11, INT32_MIN})}),
              ElementsAre(-5, -3, 2, -2));
  EXPECT_THAT(run.Output<int32_t>(1), ElementsAre(0x3F800000));
}

// Numbers that the narrow type does not have lose their high bits.
TEST(TfliteOperators, CastsKeepLowBits) {
  for (const auto type : {fbs::TensorType::INT8, fbs::TensorType::UINT8}) {
    TfliteFile file;
    const int x = Output(&file, kInt32, {5});
    const int y = Output(&file, type, {5});
    file.Operator(53, {x}, {y});
    file.EndSubgraph({x}, {y});
    TfliteRun run(file.Finish());
    const std::vector<int32_t> wide = {200, -200, 127, INT32_MAX, INT32_MIN};
    const auto narrow = run.Run<uint8_t>({BytesOf(wide)});
    EXPECT_THAT(narrow, ElementsAre(200, 56, 127, 255, 0));
  }
}

// Weights of files from before the format had INT8.
TEST(TfliteOperators, Uint8WeightsOfFloatsAreSigned) {
  for (const int64_t zero_point : {0, 128}) {
    TfliteFile file;
    const int x = file.Activation("x", {1, 2});
    FileTensor weights;
    weights.type = fbs::TensorType::UINT8;
    weights.shape = {1, 2};
    weights.data = {3, 254};
    weights.scales = {0.5f};
    weights.zero_points = {zero_point};
    const int matrix = file.Add(std::move(weights));
    const int y = file.Activation("y", {1, 1});
    file.Operator(9, {x, matrix, -1}, {y});
    file.EndSubgraph({x}, {y});
    TfliteRun run(file.Finish());
    if (zero_point == 0) {
      EXPECT_THAT(run.Floats({10, 100}), ElementsAre(15 - 100));
    } else {
      EXPECT_THAT(run.model.error, HasSubstr("the zero point 128"));
    }
  }
}

// One row of cells by a kernel of 1, 2, 4, with a bias of 100.
TEST(TfliteOperators, TransposedConvolutionHasItsOptionsAsWords) {
  const auto made = [](int32_t padding) {
    TfliteFile file;
    const int x = file.Activation("x", {1, 1, 2, 1});
    const int weights = file.Floats({1, 1, 3, 1}, {1, 2, 4});
    const int y = file.Activation("y", {1, 1, 1, 1});
    file.Custom("Convolution2DTransposeBias",
                {x, weights, file.Floats({1}, {100})}, {y},
                BytesOf<int32_t>({padding, 2, 1}));
    file.EndSubgraph({x}, {y});
    return file.Finish();
  };
  EXPECT_THAT(TfliteRun(made(1)).Floats({1, 10}),
              ElementsAre(101, 102, 114, 120));
  EXPECT_THAT(TfliteRun(made(2)).Floats({1, 10}),
              ElementsAre(101, 102, 114, 120, 140));
  EXPECT_THAT(TfliteRun(made(0)).model.error, HasSubstr("padding"));
}

TEST(TfliteOperators, TransposedConvolutionTakesVolumes) {
  TfliteFile file;
  const int x = file.Activation("x", {1, 1, 1, 2, 1});
  const int weights = file.Floats({1, 1, 3, 1, 1}, {1, 2, 4});
  const int y = file.Activation("y", {1, 1, 1, 5, 1});
  file.Operator(
      141, {file.Ints({1, 1, 1, 5, 1}), weights, x}, {y}, fbs::Options::Conv3d,
      fbs::CreateConv3d(file.builder(), fbs::Padding::VALID, 1, 2, 1).Union());
  file.EndSubgraph({x}, {y});
  EXPECT_THAT(TfliteRun(file.Finish()).Floats({1, 10}),
              ElementsAre(1, 2, 14, 20, 40));
}

TEST(TfliteOperators, BoxesAreSelected) {
  TfliteFile file;
  const int boxes =
      file.Floats({4, 4}, {0, 0, 1, 1, 0, 0, 1, 2, 0, 0, 1, 4, 5, 5, 6, 6});
  const int scores = file.Activation("scores", {4});
  const int chosen = Output(&file, kInt32, {5});
  const int theirs = file.Activation("theirs", {5});
  const int count = Output(&file, kInt32, {});
  const int five = file.Constant<int32_t>(kInt32, {}, {5});
  // Box 1 covers half of box 0 and of box 2, which is as much as the threshold.
  file.Operator(121,
                {boxes, scores, five, file.Floats({}, {0.5f}),
                 file.Floats({}, {0.1f}), file.Floats({}, {0})},
                {chosen, theirs, count});
  file.EndSubgraph({scores}, {theirs, chosen, count});
  TfliteRun run(file.Finish());
  EXPECT_THAT(run.Floats({0.5f, 0.75f, 0.25f, 0.125f}),
              ElementsAre(0.75f, 0.125f, 0, 0, 0));
  EXPECT_THAT(run.Output<int32_t>(1), ElementsAre(1, 3, 0, 0, 0));
  EXPECT_THAT(run.Output<int32_t>(2), ElementsAre(2));
}

}  // namespace
}  // namespace tim::testing
