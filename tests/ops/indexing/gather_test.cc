#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/ops/indexing/eval_and_kernels.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using ir::DataType;
using Dims = std::vector<int64_t>;

ir::TensorDesc F32(const Dims& shape) {
  return Desc(DataType::kFloat32, shape);
}
ir::TensorDesc I32(const Dims& shape) { return Desc(DataType::kInt32, shape); }

Result<TestNode> Gather(const ir::TensorDesc& data,
                        const ir::TensorDesc& indices, int64_t axis,
                        int64_t batch_dims = 0) {
  return MakeNode("tim.Gather", {{"axis", axis}, {"batch_dims", batch_dims}},
                  {data, indices}, {ir::TensorDesc()});
}

TEST(Gather, ByHand) {
  const auto data = F32({2, 2});
  const auto indices = I32({3});
  const auto x = MakeTensor<float>(data, {1, 2, 3, 4});
  const auto which = MakeTensor<int32_t>(indices, {1, 0, -1});
  ExpectResults<float>(Gather(data, indices, 0), {x, which},
                       {2, 1, 2, 4, 3, 4});
  ExpectResults<float>(Gather(data, indices, 1), {x, which},
                       {3, 4, 1, 2, 3, 4});
}

TEST(Gather, OutsideIsTheNearest) {
  const auto data = F32({3});
  const auto indices = I32({6});
  ExpectResults<float>(Gather(data, indices, 0),
                       {MakeTensor<float>(data, {1, 2, 3}),
                        MakeTensor<int32_t>(indices, {3, -3, -4, 2147483647,
                                                      -2147483647 - 1, 0})},
                       {3, 1, 1, 3, 1, 1});
}

TEST(Gather, IndicesBeyond32BitsAndNaN) {
  const auto data = F32({3});
  const auto wide = Desc(DataType::kInt64, {3});
  ExpectResults<float>(Gather(data, wide, 0),
                       {MakeTensor<float>(data, {1, 2, 3}),
                        MakeTensor<int64_t>(wide, {(int64_t{1} << 32) + 1,
                                                   -(int64_t{1} << 40), 1})},
                       {3, 1, 2});
  const auto real = F32({4});
  ExpectResults<float>(
      Gather(data, real, 0),
      {MakeTensor<float>(data, {1, 2, 3}),
       MakeTensor<float>(real, {std::nanf(""), 1.75f, -0.5f, 1e30f})},
      {1, 2, 1, 3});
}

// int8 without quantization, one batch dimension.
TEST(Gather, Batch) {
  const auto data = Desc(DataType::kInt8, {2, 3, 2});
  const auto indices = I32({2, 2});
  const auto node = Gather(data, indices, 1, 1);
  ASSERT_OK(node);
  EXPECT_EQ(node->output(), Desc(DataType::kInt8, {2, 2, 2}));
  ExpectResults<int8_t>(
      node,
      {MakeTensor<int8_t>(data, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}),
       MakeTensor<int32_t>(indices, {2, 0, 1, 1})},
      {5, 6, 1, 2, 9, 10, 9, 10});
}

TEST(GatherNd, ElementZeroIsTheFastestOfItsAxes) {
  const auto data = F32({2, 3, 2});
  const auto indices = I32({2, 2});
  const auto node =
      MakeNode("tim.GatherNd", {}, {data, indices}, {ir::TensorDesc()});
  ASSERT_OK(node);
  EXPECT_EQ(node->output(), F32({2, 2}));
  ExpectResults<float>(
      node,
      {MakeTensor<float>(data, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}),
       MakeTensor<int32_t>(indices, {2, 0, 0, 1})},
      {5, 6, 7, 8});
}

TEST(EmbeddingLookup, NegativeIndicesAreOutside) {
  const auto indices = I32({3});
  const auto table = Desc(DataType::kInt32, {2, 3});
  ExpectResults<int32_t>(
      MakeNode("tim.EmbeddingLookup", {}, {indices, table}, {ir::TensorDesc()}),
      {MakeTensor<int32_t>(indices, {-1, 2, 9}),
       MakeTensor<int32_t>(table, {1, 2, 3, 4, 5, 6})},
      {1, 2, 5, 6, 5, 6});
}

TEST(Gather, KernelsOfBothDeviceClassesMoveLongRows) {
  std::mt19937 rng = SeededRng(61);
  const auto data = F32({5003, 7});
  const auto indices = I32({9});
  const auto node = Gather(data, indices, 1);
  ASSERT_OK(node);
  auto inputs = RandomInputs(*node, rng);
  inputs[1] = MakeTensor<int32_t>(indices, {0, 6, 3, -1, 2, 2, 5, 1, 4});
  ExpectSameBits(node, "gather", inputs);
}

TEST(Gather, UnknownShapes) {
  constexpr int64_t kAny = ir::kUnknownDim;
  ir::TensorDesc data = F32({4, kAny, 3});
  ir::TensorDesc indices = I32({kAny});
  auto node = Gather(data, indices, 1);
  ASSERT_OK(node);
  EXPECT_EQ(node->output().shape, ir::Shape({4, kAny, 3}));
  indices.shape = ir::Shape();
  EXPECT_FALSE(Gather(data, indices, 1)->output().shape.ranked());
  indices.shape = ir::Shape({5, kAny});
  data.shape = ir::Shape({kAny, 2, 7});
  node = Gather(data, indices, 1, 1);
  ASSERT_OK(node);
  EXPECT_EQ(node->output().shape, ir::Shape({kAny, 5, 7}));
}

// ---- whole graphs -----------------------------------------------------------

class ScalarIndex : public ::testing::TestWithParam<std::string> {
 protected:
  // Gathers element 1 of {1, 2, 3} (of `shape`) along axis 0.
  std::vector<float> Run(const vx::ShapeType& shape,
                         const vx::ShapeType& declared) {
    const auto context = ContextOn(GetParam());
    EXPECT_NE(context, nullptr);
    const auto graph = context->CreateGraph();
    const auto in = graph->CreateTensor(Floats(shape, vx::INPUT));
    const auto index = graph->CreateTensor(
        vx::TensorSpec(vx::DataType::INT32, {1}, vx::INPUT));
    index->SetScalar(1);
    const auto out = graph->CreateTensor(Floats(declared, vx::OUTPUT));
    graph->CreateOperation<vx::ops::Gather>(0)
        ->BindInputs({in, index})
        .BindOutput(out);
    std::vector<float> values(in->GetSpec().GetElementNum());
    std::iota(values.begin(), values.end(), 1.0f);
    Write(in, values);
    Write<int32_t>(index, {1});
    EXPECT_TRUE(graph->Compile()) << vx::LastError();
    EXPECT_TRUE(graph->Run()) << vx::LastError();
    shape_ = out->GetShape();
    return Read(out);
  }
  vx::ShapeType shape_;
};

INSTANTIATE_TEST_SUITE_P(Devices, ScalarIndex,
                         ::testing::Values("host", "opencl"));

TEST_P(ScalarIndex, TakesTheAxisAway) {
  EXPECT_EQ(Run({3, 2}, {}), (std::vector<float>{2, 5}));
  EXPECT_EQ(shape_, (vx::ShapeType{2}));
}

TEST_P(ScalarIndex, OfAVectorGivesOneElement) {
  EXPECT_EQ(Run({3}, {}), (std::vector<float>{2}));
  EXPECT_EQ(Run({3}, {1}), (std::vector<float>{2}));
}

}  // namespace
}  // namespace tim::testing
