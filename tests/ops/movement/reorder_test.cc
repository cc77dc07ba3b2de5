#include <gtest/gtest.h>

#include <random>

#include "ir/op_schema.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::Layout;
using ir::TensorDesc;

Result<TestNode> Reorder(const TensorDesc& desc) {
  TensorDesc output = desc;
  output.shape = ir::Shape();
  return MakeNode("tim.Reorder", {}, {desc}, {output});
}

// Runs eval on bytes in one layout to bytes in another.
Result<std::vector<std::byte>> Move(const TestNode& node,
                                    const std::vector<std::byte>& bytes,
                                    const Layout& from, const Layout& to) {
  TensorDesc in = node.input(0);
  TensorDesc out = node.output();
  in.layout = from;
  out.layout = to;
  const Result<int64_t> size = ir::ByteSize(out);  // none: eval is to say why
  std::vector<std::byte> result(size.ok() ? *size : 0, std::byte{0xa5});
  const ir::Node& op = node.graph.node(node.node);
  const ir::ConstTensor inputs[] = {{&in, bytes.data()}};
  const ir::MutableTensor outputs[] = {{&out, result.data()}};
  TIM_RETURN_IF_ERROR(op.schema->eval(ir::EvalContext{op, inputs, outputs}));
  return result;
}

TEST(Reorder, HandCheckedBlocks) {
  // [W 2, H 1, C 3] in blocks of 2 channels.
  const TensorDesc desc = Desc(DataType::kUint8, {2, 1, 3}, 0.5f, 9);
  const auto node = Reorder(desc);
  ASSERT_OK(node);
  const TensorData dense = MakeTensor<uint8_t>(desc, {1, 2, 3, 4, 5, 6});
  const auto blocked =
      Move(*node, dense.bytes, Layout::Dense(), Layout::Blocked(2, 2));
  ASSERT_OK(blocked);
  const uint8_t expected[] = {1, 3, 2, 4, 5, 9, 6, 9};
  ASSERT_EQ(blocked->size(), std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(static_cast<uint8_t>((*blocked)[i]), expected[i]) << i;
  }
  const auto back =
      Move(*node, *blocked, Layout::Blocked(2, 2), Layout::Dense());
  ASSERT_OK(back);
  EXPECT_EQ(*back, dense.bytes);
}

TEST(Reorder, EvalConvertsEveryPairOfLayouts) {
  std::mt19937 rng = SeededRng(1);
  const Layout layouts[] = {Layout::Dense(),        Layout::Blocked(2, 8),
                            Layout::Blocked(2, 16), Layout::Blocked(0, 4),
                            Layout::Blocked(3, 3),  Layout::Blocked(1, 16)};
  for (const DataType type :
       {DataType::kInt8, DataType::kFloat16, DataType::kFloat32,
        DataType::kInt64, DataType::kBool8}) {
    const TensorDesc desc = type == DataType::kInt8
                                ? Desc(type, {5, 3, 17, 2}, 0.5f, -7)
                                : Desc(type, {5, 3, 17, 2});
    const auto node = Reorder(desc);
    ASSERT_OK(node);
    const TensorData dense = RandomTensor(desc, rng);
    for (const Layout& from : layouts) {
      for (const Layout& to : layouts) {
        const auto in = ToLayout(dense, from);
        const auto expected = ToLayout(dense, to);
        ASSERT_OK(in);
        ASSERT_OK(expected);
        const auto out = Move(*node, *in, from, to);
        ASSERT_OK(out);
        EXPECT_EQ(*out, *expected) << desc.ToString() << " " << from.ToString()
                                   << " to " << to.ToString();
      }
    }
  }
}

TEST(Reorder, HandCheckedStrides) {
  // [3, 2] in rows of 4; the same, with its axes exchanged, every other column.
  const TensorDesc desc = Desc(DataType::kUint8, {3, 2}, 0.5f, 9);
  const auto node = Reorder(desc);
  ASSERT_OK(node);
  const TensorData dense = MakeTensor<uint8_t>(desc, {1, 2, 3, 4, 5, 6});
  const auto bytes = [](std::initializer_list<int> values) {
    std::vector<std::byte> out;
    for (const int value : values) out.push_back(static_cast<std::byte>(value));
    return out;
  };
  const std::pair<Layout, std::vector<std::byte>> cases[] = {
      {Layout::Strided({1, 4}), bytes({1, 2, 3, 0xa5, 4, 5, 6})},
      {Layout::Strided({4, 2}),
       bytes({1, 0xa5, 4, 0xa5, 2, 0xa5, 5, 0xa5, 3, 0xa5, 6})}};
  for (const auto& [layout, expected] : cases) {
    const auto strided = Move(*node, dense.bytes, Layout::Dense(), layout);
    ASSERT_OK(strided);
    EXPECT_EQ(*strided, expected) << layout.ToString();
    const auto back = Move(*node, *strided, layout, Layout::Dense());
    ASSERT_OK(back);
    EXPECT_EQ(*back, dense.bytes);
  }
  const auto repeated =
      Move(*node, bytes({7, 8, 9}), Layout::Strided({1, 0}), Layout::Dense());
  ASSERT_OK(repeated);
  EXPECT_EQ(*repeated, bytes({7, 8, 9, 7, 8, 9}));
}

TEST(Reorder, StridedMemoryOnlyMeetsDense) {
  const TensorDesc desc = Desc(DataType::kFloat32, {2, 2, 3});
  const auto node = Reorder(desc);
  ASSERT_OK(node);
  const Layout strided = Layout::Strided({1, 2, 8});
  const std::vector<std::byte> bytes(200);
  EXPECT_FALSE(Move(*node, bytes, strided, Layout::Blocked(2, 2)).ok());
  EXPECT_FALSE(Move(*node, bytes, strided, strided).ok());
  EXPECT_FALSE(
      Move(*node, bytes, Layout::Strided({1, 2}), Layout::Dense()).ok());
}

TensorDesc RandomDesc(DataType type, std::mt19937& rng) {
  const int64_t extents[] = {1, 2, 3, 4, 7, 15, 16, 17, 31, 32, 33};
  const int64_t channels[] = {1, 3, 8, 15, 16, 17, 31, 32, 33, 48};
  std::vector<int64_t> dims = {extents[rng() % std::size(extents)],
                               extents[rng() % std::size(extents)],
                               channels[rng() % std::size(channels)]};
  if (rng() % 3 != 0) dims.push_back(1 + rng() % 3);
  if (!ir::IsInteger(type) || rng() % 4 == 0) return Desc(type, dims);
  return Desc(type, dims, 0.25f, static_cast<int>(rng() % 100));
}

TEST(Reorder, KernelsMoveEveryElement) {
  std::mt19937 rng = SeededRng(2);
  Sample sample(3);
  for (const DataType type :
       {DataType::kFloat32, DataType::kFloat16, DataType::kUint8,
        DataType::kInt8, DataType::kInt16, DataType::kInt32,
        DataType::kBool8}) {
    for (int i = 0; i < 20; ++i) {
      if (!sample.Takes()) continue;
      const TensorDesc desc = RandomDesc(type, rng);
      const auto node = Reorder(desc);
      ASSERT_OK(node);
      ASSERT_EQ(LayoutCount(*node, "reorder"), 6);
      ASSERT_OK(CheckKernels(*node, rng)) << desc.ToString();
    }
  }
}

TEST(Reorder, RefusesWhatHasNoKernel) {
  const auto rank2 = Reorder(Desc(DataType::kFloat32, {4, 4}));
  ASSERT_OK(rank2);
  EXPECT_ERROR(Supports(*rank2, "reorder"), "rank 2, takes 3 and 4");
  const auto nibbles = Reorder(Desc(DataType::kInt4, {4, 4, 4, 1}));
  ASSERT_OK(nibbles);
  EXPECT_ERROR(Supports(*nibbles, "reorder"), "int4 has no kernel");
  const auto large = Reorder(Desc(DataType::kUint8, {1 << 14, 1 << 14, 1, 1}));
  ASSERT_OK(large);
  EXPECT_ERROR(Supports(*large, "reorder"), "more elements than 32 bits count");
}

TEST(Reorder, EvalRejectsLayoutsWithoutPositions) {
  const auto nibbles = Reorder(Desc(DataType::kInt4, {4, 4, 4, 1}));
  ASSERT_OK(nibbles);
  const std::vector<std::byte> bytes(256);
  EXPECT_ERROR(Move(*nibbles, bytes, Layout::Dense(), Layout::Blocked(2, 16)),
               "4-bit elements cannot lie in blocks");
  const auto copied = Move(*nibbles, bytes, Layout::Dense(), Layout::Dense());
  EXPECT_OK(copied);
  const auto real = Reorder(Desc(DataType::kFloat32, {4, 4}));
  ASSERT_OK(real);
  EXPECT_ERROR(Move(*real, bytes, Layout::Dense(), Layout::Blocked(2, 16)),
               "expected dense, blocked or strided");
}

TEST(Reorder, RejectsOtherElements) {
  EXPECT_ERROR(
      MakeNode("tim.Reorder", {}, {Desc(DataType::kUint8, {4, 4, 4}, 0.5f, 1)},
               {Desc(DataType::kUint8, {4, 4, 4}, 0.5f, 2)}),
      "expected the elements of the input");
  EXPECT_ERROR(
      MakeNode("tim.Reorder", {}, {Desc(DataType::kFloat32, {4, 4, 4})},
               {Desc(DataType::kFloat16, {4, 4, 4})}),
      "expected the elements of the input");
}

TEST(Reorder, InfersWithUnknownRankAndExtents) {
  TensorDesc desc = Desc(DataType::kFloat32, {});
  desc.shape = ir::Shape();
  const auto unranked = Reorder(desc);
  ASSERT_OK(unranked);
  EXPECT_FALSE(unranked->output().shape.ranked());
  desc.shape = ir::Shape({ir::kUnknownDim, 3, 4});
  const auto open = MakeNode("tim.Reorder", {}, {desc}, {TensorDesc()});
  ASSERT_OK(open);
  EXPECT_EQ(open->output(), desc);
}

}  // namespace
}  // namespace tim::testing
