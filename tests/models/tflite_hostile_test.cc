// TFLite files that somebody has cut, changed or made to do harm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/str_cat.h"
#include "tests/models/tflite_runner.h"

namespace tim::testing {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(TfliteFile& file) {
  return TfliteRun(file.Finish()).model.error;
}

TEST(HostileTfliteFile, CutFilesAreRefused) {
  const auto whole = SmallTfliteFile();
  for (size_t size = 0; size < whole.size(); size += 7) {
    const std::vector<uint8_t> cut(whole.begin(), whole.begin() + size);
    EXPECT_FALSE(TfliteRun(cut).model) << size;
  }
}

TEST(HostileTfliteFile, FlippedBitsDoNoHarm) {
  const auto whole = SmallTfliteFile();
  models::TfliteOptions options;  // No large inputs: their memory takes time.
  options.shapes["x"] = {1, 2, 2, 2};
  int refused = 0;
  for (size_t bit = 0; bit < whole.size() * 8; bit += 3) {
    auto file = whole;
    file[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    const TfliteRun run(file, options);
    EXPECT_EQ(run.model.error.empty(), static_cast<bool>(run.model));
    refused += run.model ? 0 : 1;
  }
  EXPECT_GT(refused, 0);
}

TEST(HostileTfliteFile, IndicesOutOfRangeAreRefused) {
  {
    TfliteFile file;
    const int x = file.Activation("x", {1});
    file.Operator(28, {x}, {7});
    file.EndSubgraph({x}, {x});
    EXPECT_THAT(ErrorOf(file), HasSubstr("operator 0 name tensor 7 of 1"));
  }
  {
    TfliteFile file;
    const int x = file.Activation("x", {1});
    file.EndSubgraph({x}, {-1});
    EXPECT_THAT(ErrorOf(file), HasSubstr("its outputs name tensor -1"));
  }
  {
    TfliteFile file;
    const int x = file.Activation("x", {1});
    const int y = file.Activation("y", {1});
    file.Operator(28, {y}, {y});
    file.EndSubgraph({x}, {y});
    EXPECT_THAT(ErrorOf(file), HasSubstr("nothing before has written it"));
  }
  {
    TfliteFile file;
    const int x = file.Activation("x", {1});
    file.Operator(28, {x}, {x});
    file.EndSubgraph({x}, {x});
    EXPECT_THAT(ErrorOf(file), HasSubstr("written before"));
  }
}

// Each operator makes 64 MiB of indices; the file has a few hundred bytes.
TEST(HostileTfliteFile, ConstantsThatNodesMakeAreBounded) {
  constexpr int kSteps = 1 << 24;
  TfliteFile file;
  FileTensor tensor;
  tensor.type = fbs::TensorType::INT8;
  tensor.shape = {1, kSteps};
  tensor.name = "x";
  const int x = file.Add(tensor);
  int last = x;
  for (int i = 0; i < 6; ++i) {
    tensor.name = StrCat("y", i);
    const int next = file.Add(tensor);
    file.Operator(112, {last, file.Ints({kSteps - i})}, {next},
                  fbs::Options::ReverseSequence,
                  fbs::CreateReverseSequence(file.builder(), 1, 0).Union());
    last = next;
  }
  file.EndSubgraph({x}, {last});
  EXPECT_THAT(ErrorOf(file),
              HasSubstr("constants that nodes make when the model is loaded "
                        "take more than"));
}

// The trips of a loop read the same lengths, of which the indices are made
// once: 8 MiB, that would be 80 for all trips.
TEST(HostileTfliteFile, TripsShareTheConstantsThatTheyMake) {
  constexpr int kSteps = 1 << 21;
  constexpr int kTrips = 10;
  TfliteFile file;
  const auto add_state = [&file] {
    FileTensor count;
    count.type = fbs::TensorType::INT32;
    FileTensor codes;
    codes.type = fbs::TensorType::INT8;
    codes.shape = {1, kSteps};
    return std::pair(file.Add(count), file.Add(codes));
  };
  const auto int_of = [&file](int32_t value) {
    return file.Constant<int32_t>(fbs::TensorType::INT32, {}, {value});
  };
  const auto [unused, x] = add_state();
  const auto [count, y] = add_state();
  file.Operator(119, {int_of(0), x}, {count, y}, fbs::Options::While,
                fbs::CreateWhile(file.builder(), 1, 2).Union());
  file.EndSubgraph({x}, {y});
  const auto [tested, carried] = add_state();
  FileTensor truth;
  truth.type = fbs::TensorType::BOOL;
  const int is_less = file.Add(truth);
  file.Operator(58, {tested, int_of(kTrips)}, {is_less});
  file.EndSubgraph({tested, carried}, {is_less});
  const auto [i, value] = add_state();
  const auto [next, turned] = add_state();
  file.Operator(0, {i, int_of(1)}, {next});
  file.Operator(112, {value, file.Ints({kSteps})}, {turned},
                fbs::Options::ReverseSequence,
                fbs::CreateReverseSequence(file.builder(), 1, 0).Union());
  file.EndSubgraph({i, value}, {next, turned});
  EXPECT_EQ(ErrorOf(file), "");
}

TEST(HostileTfliteFile, BuffersMustFitTheirShapes) {
  for (const int extent : {1, 3, 2000000000}) {
    TfliteFile file;
    const int x = file.Activation("x", {2});
    const int y = file.Activation("y", {2});
    const int constant = file.Floats({extent, extent}, {1, 2});
    file.Operator(0, {x, constant}, {y});
    file.EndSubgraph({x}, {y});
    EXPECT_THAT(ErrorOf(file), HasSubstr("a buffer of 8 bytes")) << extent;
  }
}

TEST(HostileTfliteFile, HugeExtentsAreRefused) {
  {
    TfliteFile file;
    const int x = file.Activation("x", {2000000000, 2000000000});
    const int y = file.Activation("y", {1});
    file.Operator(28, {x}, {y});
    file.EndSubgraph({x}, {y});
    EXPECT_THAT(ErrorOf(file), HasSubstr("which is much"));
  }
  {
    TfliteFile file;
    FileTensor state;
    state.shape = {-1, 4};
    state.is_variable = true;
    const int h = file.Add(state);
    const int y = file.Activation("y", {1});
    file.Operator(28, {h}, {y});
    file.EndSubgraph({}, {y});
    EXPECT_THAT(ErrorOf(file), HasSubstr("has extents [-1,4]"));
  }
}

TEST(HostileTfliteFile, TypesThatNoGraphHasAreRefused) {
  for (const auto type : {fbs::TensorType::STRING, fbs::TensorType::FLOAT64,
                          fbs::TensorType::RESOURCE}) {
    TfliteFile file;
    FileTensor tensor;
    tensor.type = type;
    tensor.shape = {1};
    const int x = file.Activation("x", {1});
    const int y = file.Add(tensor);
    file.Operator(28, {x}, {y});
    const int z = file.Activation("z", {1});
    file.Operator(28, {y}, {z});
    file.EndSubgraph({x}, {z});
    EXPECT_FALSE(ErrorOf(file).empty());
  }
}

}  // namespace
}  // namespace tim::testing
