// Subgraphs of TFLite files that operators call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/tflite_runner.h"

namespace tim::testing {
namespace {

using models::TfliteOptions;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kAdd = 0;
constexpr int kConcatenation = 2;
constexpr int kMul = 18;
constexpr int kCall = 31;
constexpr int kLess = 58;
constexpr int kNeg = 59;
constexpr int kSlice = 65;
constexpr int kIf = 118;
constexpr int kWhile = 119;
constexpr auto kInt32 = fbs::TensorType::INT32;
constexpr auto kBool = fbs::TensorType::BOOL;

int Scalar(TfliteFile* file, fbs::TensorType type, const std::string& name) {
  FileTensor tensor;
  tensor.type = type;
  tensor.name = name;
  return file->Add(std::move(tensor));
}

// x -> -x in `steps` Negs, an odd number, and x -> x * x.
void AddBranches(TfliteFile* file, int steps) {
  for (const int code : {kNeg, kMul}) {
    const int given = file->Activation("x", {2});
    int x = given;
    for (int i = 1; code == kNeg && i < steps; ++i) {
      const int next = file->Activation("next", {2});
      file->Operator(kNeg, {x}, {next});
      x = next;
    }
    const int y = file->Activation("y", {2});
    file->Operator(
        code,
        code == kMul ? std::vector<int32_t>{x, x} : std::vector<int32_t>{x},
        {y});
    file->EndSubgraph({given}, {y});
  }
}

// x -> 2 y, with y of an IF.  `condition` is negative: an input.
std::vector<uint8_t> FileOfIf(int condition, int steps = 1) {
  TfliteFile file;
  const int x = file.Activation("x", {2});
  const int y = file.Activation("y", {2});
  const int twice = file.Activation("twice", {2});
  const int truth = condition < 0
                        ? Scalar(&file, kBool, "truth")
                        : file.Constant<uint8_t>(
                              kBool, {}, {static_cast<uint8_t>(condition)});
  file.Operator(kIf, {truth, x}, {y}, fbs::Options::If,
                fbs::CreateIf(file.builder(), 1, 2).Union());
  file.Operator(kAdd, {y, y}, {twice});
  if (condition < 0) {
    file.EndSubgraph({x, truth}, {twice});
  } else {
    file.EndSubgraph({x}, {twice});
  }
  AddBranches(&file, steps);
  return file.Finish();
}

TEST(TfliteControlFlow, KnownConditionsChooseABranch) {
  EXPECT_THAT(TfliteRun(FileOfIf(1)).Floats({3, -4}), ElementsAre(-6, 8));
  EXPECT_THAT(TfliteRun(FileOfIf(0)).Floats({3, -4}), ElementsAre(18, 32));
}

// Short branches both run; of long ones, one does.
TEST(TfliteControlFlow, ConditionsOfARunChooseAResult) {
  for (const int steps : {1, 9}) {
    TfliteRun run(FileOfIf(-1, steps));
    for (const bool truth : {true, false}) {
      EXPECT_THAT(run.Run<float>(
                      {BytesOf<float>({3, -4}), {static_cast<uint8_t>(truth)}}),
                  truth ? ElementsAre(-6, 8) : ElementsAre(18, 32))
          << steps;
    }
  }
}

// i, x = 0, x; while (i < n) i, x = i + 1, x + x
std::vector<uint8_t> FileOfWhile(int trips, bool is_known = true) {
  TfliteFile file;
  const int x = file.Activation("x", {2});
  const int begin = is_known ? file.Constant<int32_t>(kInt32, {}, {0})
                             : Scalar(&file, kInt32, "begin");
  const int count = Scalar(&file, kInt32, "count");
  const int y = file.Activation("y", {2});
  file.Operator(kWhile, {begin, x}, {count, y}, fbs::Options::While,
                fbs::CreateWhile(file.builder(), 1, 2).Union());
  if (is_known) {
    file.EndSubgraph({x}, {y, count});
  } else {
    file.EndSubgraph({x, begin}, {y});
  }
  const auto add_inputs = [&file] {
    const int i = Scalar(&file, kInt32, "i");
    return std::pair(i, file.Activation("x", {2}));
  };
  const auto [tested, unused] = add_inputs();
  const int is_less = Scalar(&file, kBool, "is_less");
  file.Operator(kLess, {tested, file.Constant<int32_t>(kInt32, {}, {trips})},
                {is_less});
  file.EndSubgraph({tested, unused}, {is_less});
  const auto [i, value] = add_inputs();
  const int next = Scalar(&file, kInt32, "next");
  const int sum = file.Activation("sum", {2});
  file.Operator(kAdd, {i, file.Constant<int32_t>(kInt32, {}, {1})}, {next});
  file.Operator(kAdd, {value, value}, {sum});
  file.EndSubgraph({i, value}, {next, sum});
  return file.Finish();
}

TEST(TfliteControlFlow, LoopsOfKnownCountAreUnrolled) {
  TfliteRun run(FileOfWhile(3));
  EXPECT_THAT(run.Floats({1, -2}), ElementsAre(8, -16));
  EXPECT_THAT(run.Output<int32_t>(1), ElementsAre(3));
  // The nodes of the file, not their trips.
  EXPECT_EQ(run.model.operators["ADD"], 2u);
  EXPECT_THAT(TfliteRun(FileOfWhile(0)).Floats({1, -2}), ElementsAre(1, -2));
}

// i, x, rows = 0, x, rows
// while (i < 3) i, x, rows = i + 1, x + x, rows[:i] + [x] + rows[i + 1:]
TEST(TfliteControlFlow, LoopsFillTheirRows) {
  TfliteFile file;
  const auto ints = [&file] {
    FileTensor tensor;
    tensor.type = kInt32;
    tensor.shape = {1};
    return file.Add(std::move(tensor));
  };
  struct State {
    int i, x, rows;
  };
  const auto add_state = [&]() -> State {
    const int i = ints();
    const int x = file.Activation("x", {1});
    return {i, x, file.Activation("rows", {3})};
  };
  const int x = file.Activation("x", {1});
  const int rows = file.Activation("rows", {3});
  const State made = add_state();
  file.Operator(kWhile, {file.Ints({0}), x, rows}, {made.i, made.x, made.rows},
                fbs::Options::While,
                fbs::CreateWhile(file.builder(), 1, 2).Union());
  file.EndSubgraph({x, rows}, {made.rows});
  const State tested = add_state();
  const int is_less = Scalar(&file, kBool, "is_less");
  file.Operator(kLess, {tested.i, file.Ints({3})}, {is_less});
  file.EndSubgraph({tested.i, tested.x, tested.rows}, {is_less});
  const State now = add_state();
  const State next = add_state();
  const int before = file.Activation("before", {0});
  const int behind = file.Activation("behind", {2});
  file.Operator(kAdd, {now.i, file.Ints({1})}, {next.i});
  file.Operator(kAdd, {now.x, now.x}, {next.x});
  file.Operator(kSlice, {now.rows, file.Ints({0}), now.i}, {before});
  file.Operator(kSlice, {now.rows, next.i, file.Ints({-1})}, {behind});
  file.Operator(kConcatenation, {before, now.x, behind}, {next.rows});
  file.EndSubgraph({now.i, now.x, now.rows}, {next.i, next.x, next.rows});
  TfliteRun run(file.Finish());
  EXPECT_THAT(run.Run<float>({BytesOf<float>({1}), BytesOf<float>({7, 8, 9})}),
              ElementsAre(1, 2, 4));
}

TEST(TfliteControlFlow, OtherLoopsAreRefused) {
  TfliteOptions options;
  options.most_trips = 4;
  EXPECT_THAT(TfliteRun(FileOfWhile(5), options).model.error,
              HasSubstr("it has more than 4 trips"));
}

TEST(TfliteControlFlow, LoopsWhoseTripsFollowFromInputsRepeatTheirBody) {
  TfliteRun run(FileOfWhile(5, false));
  for (const int32_t begin : {2, 5, 9, 0}) {
    const float factor = begin < 5 ? static_cast<float>(1 << (5 - begin)) : 1;
    EXPECT_THAT(
        run.Run<float>({BytesOf<float>({1, -2}), BytesOf<int32_t>({begin})}),
        ElementsAre(factor, -2 * factor));
  }
}

TEST(TfliteControlFlow, CallsAreSpelledOut) {
  for (const bool is_composite : {false, true}) {
    TfliteFile file;
    const int x = file.Activation("x", {2});
    const int y = file.Activation("y", {2});
    if (is_composite) {
      file.Composite(2, {x}, {y});
    } else {
      file.Operator(kCall, {x}, {y}, fbs::Options::Call,
                    fbs::CreateCall(file.builder(), 2).Union());
    }
    file.EndSubgraph({x}, {y});
    AddBranches(&file, 1);
    EXPECT_THAT(TfliteRun(file.Finish()).Floats({3, -4}), ElementsAre(9, 16));
  }
}

// A subgraph that calls `called`, with `inputs` operands.
std::string ErrorOfCall(int called, int inputs) {
  TfliteFile file;
  const int x = file.Activation("x", {2});
  const int y = file.Activation("y", {2});
  file.Operator(
      kCall, std::vector<int32_t>(static_cast<size_t>(inputs), x), {y},
      fbs::Options::Call,
      fbs::CreateCall(file.builder(), static_cast<uint32_t>(called)).Union());
  file.EndSubgraph({x}, {y});
  AddBranches(&file, 1);
  return TfliteRun(file.Finish()).model.error;
}

TEST(TfliteControlFlow, CallsThatEndNowhereAreRefused) {
  EXPECT_THAT(ErrorOfCall(0, 1), HasSubstr("calls are more than 8 deep"));
  EXPECT_THAT(ErrorOfCall(3, 1), HasSubstr("number 3 of 3"));
  EXPECT_THAT(ErrorOfCall(1, 2), HasSubstr("is called with 2"));
}

// Each of a chain of subgraphs calls the next one 32 times.
TEST(TfliteControlFlow, CallsThatMultiplyAreRefused) {
  TfliteFile file;
  for (uint32_t next = 1; next <= 5; ++next) {
    const int x = file.Activation("x", {2});
    int value = x;
    for (int i = 0; i < 32; ++i) {
      const int y = file.Activation("y", {2});
      file.Operator(kCall, {value}, {y}, fbs::Options::Call,
                    fbs::CreateCall(file.builder(), next).Union());
      value = y;
    }
    file.EndSubgraph({x}, {value});
  }
  const int x = file.Activation("x", {2});
  file.EndSubgraph({x}, {x});
  EXPECT_THAT(TfliteRun(file.Finish()).model.error,
              HasSubstr("too many operators"));
}

}  // namespace
}  // namespace tim::testing
