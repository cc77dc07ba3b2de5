#include "tests/ops/indexing/eval_and_kernels.h"

namespace tim::testing {
namespace {

using ir::DataType;
using Dims = std::vector<int64_t>;

ir::TensorDesc I32(const Dims& shape) { return Desc(DataType::kInt32, shape); }

TEST(HashtableLookup, ByHand) {
  const auto values = Desc(DataType::kUint8, {2, 3}, 0.5f, 10);
  const auto node =
      MakeNode("tim.HashtableLookup", {}, {I32({4}), I32({3}), values},
               {ir::TensorDesc(), ir::TensorDesc()});
  ASSERT_OK(node);
  EXPECT_EQ(node->output(0), Desc(DataType::kUint8, {2, 4}, 0.5f, 10));
  EXPECT_EQ(node->output(1), I32({4}));
  // Keys in no order, one of them twice: the first counts.
  const std::vector<TensorData> inputs = {
      MakeTensor<int32_t>(I32({4}), {9, 5, -3, 9}),
      MakeTensor<int32_t>(I32({3}), {9, -3, 9}),
      MakeTensor<uint8_t>(values, {1, 2, 3, 4, 5, 6})};
  const std::vector<uint8_t> result = {1, 2, 10, 10, 3, 4, 1, 2};
  ExpectResults<uint8_t>(node, inputs, result);
  const std::vector<int32_t> hits = {1, 0, 1, 1};
  const auto eval = Eval(*node, inputs);
  ASSERT_OK(eval);
  EXPECT_EQ(Values<int32_t>((*eval)[1]), hits);
  const auto found = RunKernel(*node, "hashtable_lookup", 0, inputs);
  ASSERT_OK(found);
  EXPECT_EQ(Values<int32_t>((*found)[1]), hits);
}

// float16 results of int32 values.
TEST(HashtableLookup, ConvertsNumbers) {
  const auto node =
      MakeNode("tim.HashtableLookup", {}, {I32({2}), I32({2}), I32({2})},
               {Desc(DataType::kFloat16, {2}), I32({2})});
  ExpectResults<uint16_t>(node,
                          {MakeTensor<int32_t>(I32({2}), {7, 8}),
                           MakeTensor<int32_t>(I32({2}), {6, 7}),
                           MakeTensor<int32_t>(I32({2}), {5, -3})},
                          {0xC200, 0});
}

TEST(HashtableLookup, BothDeviceClasses) {
  std::mt19937 rng = SeededRng(64);
  const auto values = Desc(DataType::kFloat32, {33, 100});
  const auto node =
      MakeNode("tim.HashtableLookup", {}, {I32({70}), I32({100}), values},
               {ir::TensorDesc(), ir::TensorDesc()});
  ASSERT_OK(node);
  std::vector<int32_t> keys(100);
  std::vector<int32_t> lookups(70);
  for (int32_t& key : keys) key = static_cast<int32_t>(rng() % 300);
  for (int32_t& lookup : lookups) lookup = static_cast<int32_t>(rng() % 300);
  ExpectSameBits(node, "hashtable_lookup",
                 {MakeTensor(I32({70}), lookups), MakeTensor(I32({100}), keys),
                  RandomTensor(values, rng)});
}

}  // namespace
}  // namespace tim::testing
