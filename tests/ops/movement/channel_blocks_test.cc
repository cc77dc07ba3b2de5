// Channels that move between blocks of 16: what cases of random shapes do not
// reach, parts that begin and end inside of blocks.
#include <gtest/gtest.h>

#include "ops/builtin.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using Ints = std::vector<int64_t>;

std::vector<ir::TensorDesc> Types() {
  ir::TensorDesc codes = Desc(DataType::kUint8, {1});
  codes.quantization = ir::Quantization::PerTensor(0.5f, 77);
  return {Desc(DataType::kFloat32, {1}), codes, Desc(DataType::kFloat16, {1}),
          Desc(DataType::kInt64, {1})};
}

ir::TensorDesc Shaped(ir::TensorDesc desc, const Ints& shape) {
  desc.shape = ir::Shape(shape);
  return desc;
}

// Every layout of every kernel; blocks are one of them.
void CheckInBlocks(const Result<TestNode>& node, const std::string& kernel) {
  ASSERT_OK(node);
  EXPECT_EQ(LayoutCount(*node, kernel), 2) << "dense and in blocks";
  std::mt19937 rng(3);
  EXPECT_OK(CheckKernels(*node, rng));
}

struct Case {
  Ints position;  ///< W, H
  int64_t batch = 1;
  Ints parts;  ///< Channels of each.
};

const Case kCases[] = {
    {{7, 5}, 1, {58, 58}},       // ShuffleNet-v2
    {{1, 1}, 2, {116, 116}},     // no position behind the last one
    {{9, 8}, 2, {5, 3, 24, 9}},  // several parts of a block
    {{13, 11}, 1, {16, 32, 7}},  // whole blocks, and a tail
    {{2, 1}, 3, {1, 47}},
};

class ChannelBlocks : public ::testing::TestWithParam<Case> {
 protected:
  Ints Shape(int64_t channels) const {
    const Case& c = GetParam();
    return {c.position[0], c.position[1], channels, c.batch};
  }
  int64_t Channels() const {
    int64_t sum = 0;
    for (const int64_t part : GetParam().parts) sum += part;
    return sum;
  }
};

INSTANTIATE_TEST_SUITE_P(Cases, ChannelBlocks, ::testing::ValuesIn(kCases));

TEST_P(ChannelBlocks, SplitTakesPartsOfThem) {
  for (const ir::TensorDesc& type : Types()) {
    std::vector<ir::TensorDesc> parts;
    for (const int64_t part : GetParam().parts) {
      parts.push_back(Shaped(type, Shape(part)));
    }
    CheckInBlocks(MakeNode("tim.Split",
                           {{"axis", int64_t{2}}, {"slices", GetParam().parts}},
                           {Shaped(type, Shape(Channels()))}, parts),
                  "split");
  }
}

TEST_P(ChannelBlocks, ConcatPutsPartsIntoThem) {
  for (const ir::TensorDesc& type : Types()) {
    std::vector<std::optional<ir::TensorDesc>> parts;
    for (const int64_t part : GetParam().parts) {
      parts.emplace_back(Shaped(type, Shape(part)));
    }
    const auto count = static_cast<int64_t>(parts.size());
    CheckInBlocks(
        MakeNode("tim.Concat", {{"axis", int64_t{2}}, {"input_cnt", count}},
                 parts, {Shaped(type, Shape(Channels()))}),
        "concat");
  }
}

TEST_P(ChannelBlocks, SliceReverseAndTileMoveThem) {
  const ir::TensorDesc f32 = Types()[0];
  const ir::TensorDesc whole = Shaped(f32, Shape(Channels()));
  const int64_t part = GetParam().parts.back();
  for (const int64_t step : {1, 2}) {
    const int64_t taken = (part + step - 1) / step;
    CheckInBlocks(MakeNode("tim.Slice",
                           {{"dims", int64_t{0}},
                            {"start", Ints{0, 0, Channels() - part, 0}},
                            {"length", Shape(part)},
                            {"step", Ints{1, 1, step, 1}}},
                           {whole}, {Shaped(f32, Shape(taken))}),
                  "slice");
  }
  CheckInBlocks(MakeNode("tim.Reverse", {{"axis", Ints{2}}}, {whole}, {whole}),
                "reverse");
  CheckInBlocks(MakeNode("tim.Tile", {{"multiples", Ints{1, 1, 3, 1}}}, {whole},
                         {Shaped(f32, Shape(3 * Channels()))}),
                "tile");
}

TEST(ChannelBlocksOfShuffles, GroupsOfAnyNumberOfChannels) {
  for (const ir::TensorDesc& type : Types()) {
    for (const int64_t groups : {2, 3, 4, 29}) {
      const ir::TensorDesc desc = Shaped(type, {5, 3, groups * 13, 2});
      CheckInBlocks(
          MakeNode("tim.ShuffleChannel",
                   {{"num_groups", groups}, {"index_axis", int64_t{2}}}, {desc},
                   {desc}),
          "shufflechannel");
    }
  }
}

// What moves along another axis, is converted or has no zero stays dense.
TEST(ChannelBlocksRefused, WhereMoreThanChannelsMoves) {
  const ir::TensorDesc f32 = Desc(DataType::kFloat32, {6, 4, 32, 1});
  const auto slice = MakeNode("tim.Slice",
                              {{"dims", int64_t{0}},
                               {"start", Ints{1, 0, 0, 0}},
                               {"length", Ints{5, 4, 32, 1}}},
                              {f32}, {Desc(DataType::kFloat32, {5, 4, 32, 1})});
  ASSERT_OK(slice);
  EXPECT_EQ(LayoutCount(*slice, "slice"), 1);
  ir::TensorDesc codes = Desc(DataType::kUint8, {6, 4, 32, 1});
  codes.quantization = ir::Quantization::PerTensor(0.5f, 77);
  const auto converted =
      MakeNode("tim.Reverse", {{"axis", Ints{2}}}, {f32}, {codes});
  ASSERT_OK(converted);
  EXPECT_EQ(LayoutCount(*converted, "reverse"), 1);
  codes.quantization = ir::Quantization::PerTensor(0.5f, 300);
  const auto zeroless =
      MakeNode("tim.Reverse", {{"axis", Ints{2}}}, {codes}, {codes});
  ASSERT_OK(zeroless);
  EXPECT_EQ(LayoutCount(*zeroless, "reverse"), 1);
}

}  // namespace
}  // namespace tim::testing
