#include "tests/ops/indexing/eval_and_kernels.h"

namespace tim::testing {
namespace {

using ir::DataType;
using Dims = std::vector<int64_t>;

ir::TensorDesc I32(const Dims& shape) { return Desc(DataType::kInt32, shape); }

Result<TestNode> GatherElements(const ir::TensorDesc& data,
                                const ir::TensorDesc& indices, int64_t axis) {
  return MakeNode("tim.GatherElements", {{"axis", axis}}, {data, indices},
                  {ir::TensorDesc()});
}

TEST(GatherElements, ByHand) {
  const auto data = I32({3, 2});
  const auto indices = I32({3, 1});
  const auto x = MakeTensor<int32_t>(data, {1, 2, 3, 4, 5, 6});
  ExpectResults<int32_t>(GatherElements(data, indices, 1),
                         {x, MakeTensor<int32_t>(indices, {1, 0, -1})},
                         {4, 2, 6});
  const auto columns = I32({2, 2});
  ExpectResults<int32_t>(GatherElements(data, columns, 0),
                         {x, MakeTensor<int32_t>(columns, {2, 0, -3, -1})},
                         {3, 1, 4, 6});
}

TEST(GatherElements, OutsideIsTheNearest) {
  const auto data = I32({2});
  const auto indices = I32({5});
  ExpectResults<int32_t>(GatherElements(data, indices, 0),
                         {MakeTensor<int32_t>(data, {7, 8}),
                          MakeTensor<int32_t>(indices, {2, 1000, -2, -3, 1})},
                         {8, 8, 7, 7, 8});
}

// Below and above the axis, elements meet by their number, not by coordinates.
TEST(GatherElements, SmallerIndicesMeetTheDataFlat) {
  const auto data = I32({3, 2, 1});
  const auto indices = I32({2, 2, 1});
  const auto x = MakeTensor<int32_t>(data, {1, 2, 3, 4, 5, 6});
  ExpectResults<int32_t>(GatherElements(data, indices, 2),
                         {x, MakeTensor<int32_t>(indices, {0, 3, -1, 9})},
                         {1, 2, 3, 4});
}

TEST(GatherElements, BothDeviceClasses) {
  std::mt19937 rng = SeededRng(62);
  const auto node = GatherElements(Desc(DataType::kFloat32, {37, 11, 5}),
                                   I32({37, 29, 5}), 1);
  ASSERT_OK(node);
  ExpectSameBits(node, "gather_elements", RandomInputs(*node, rng));
}

// Pieces of a work-item that begin and end inside of rows.
TEST(GatherElements, LongTensorsAlongEveryAxis) {
  std::mt19937 rng = SeededRng(63);
  for (const int axis : {0, 1, 2}) {
    Dims dims = {37, 11, 90};
    const auto data = Desc(DataType::kFloat32, dims);
    dims[axis] = 93;
    const auto node = GatherElements(data, I32(dims), axis);
    ASSERT_OK(node);
    ExpectSameBits(node, "gather_elements", RandomInputs(*node, rng));
  }
}

TEST(GatherElements, UnknownShapes) {
  constexpr int64_t kAny = ir::kUnknownDim;
  ir::TensorDesc data = I32({4, kAny, 3});
  ir::TensorDesc indices = I32({9, 5, kAny});
  auto node = GatherElements(data, indices, 0);
  ASSERT_OK(node);
  EXPECT_EQ(node->output().shape, ir::Shape({9, 5, kAny}));
  indices.shape = ir::Shape();
  node = GatherElements(data, indices, 0);
  ASSERT_OK(node);
  EXPECT_EQ(node->output().shape, ir::Shape({kAny, kAny, kAny}));
}

}  // namespace
}  // namespace tim::testing
