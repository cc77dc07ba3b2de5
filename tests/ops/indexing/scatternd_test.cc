#include <limits>

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

Result<TestNode> ScatterND(const Dims& shape, const ir::TensorDesc& indices,
                           const ir::TensorDesc& updates) {
  return MakeNode("tim.ScatterND", {{"shape", shape}}, {indices, updates},
                  {ir::TensorDesc()});
}

enum Reduction : int64_t { kNone, kAdd, kMul, kMax, kMin };

Result<TestNode> Onnx(Reduction reduction, const ir::TensorDesc& data,
                      const ir::TensorDesc& indices,
                      const ir::TensorDesc& updates) {
  return MakeNode("tim.ScatterND_ONNX_V16", {{"reduction", int64_t{reduction}}},
                  {data, indices, updates}, {ir::TensorDesc()});
}

TEST(ScatterND, CoordinatesCountFromTheSlowest) {
  ExpectResults<float>(ScatterND({2, 3}, I32({2, 2}), F32({2})),
                       {MakeTensor<int32_t>(I32({2, 2}), {2, 0, 0, 1}),
                        MakeTensor<float>(F32({2}), {5, 7})},
                       {0, 7, 0, 0, 5, 0});
}

TEST(ScatterND, AddsEqualPlacesAndIgnoresWhatIsOutside) {
  ExpectResults<float>(ScatterND({4}, I32({6}), F32({6})),
                       {MakeTensor<int32_t>(I32({6}), {1, 3, 1, -1, 4, 1}),
                        MakeTensor<float>(F32({6}), {1, 2, 3, 4, 5, 6})},
                       {0, 10, 0, 2});
}

TEST(ScatterND, SumsAreRoundedOnce) {
  const auto updates = Desc(DataType::kUint8, {4}, 0.25f, 100);
  auto output = Desc(DataType::kUint8, {}, 1.0f, 7);
  output.shape = ir::Shape();
  const auto node = MakeNode("tim.ScatterND", {{"shape", Dims{2}}},
                             {I32({4}), updates}, {output});
  // 0.25, 0.5 and 0.5, each of which alone would be rounded to 0.
  ExpectResults<uint8_t>(node,
                         {MakeTensor<int32_t>(I32({4}), {0, 0, 0, 5}),
                          MakeTensor<uint8_t>(updates, {101, 102, 102, 9})},
                         {8, 7});
}

TEST(ScatterND, FloatsAreAddedInTheirOrder) {
  const auto x = [](std::vector<float> values) {
    return MakeTensor<float>(F32({3}), values);
  };
  const auto places = MakeTensor<int32_t>(I32({3}), {0, 0, 0});
  const auto node = ScatterND({1}, I32({3}), F32({3}));
  ExpectResults<float>(node, {places, x({1e8f, -1e8f, 1})}, {1});
  ExpectResults<float>(node, {places, x({1, 1e8f, -1e8f})}, {0});
}

TEST(ScatterND, IntegersSaturateAtTheEnd) {
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  ExpectResults<int32_t>(
      ScatterND({2}, I32({4}), I32({4})),
      {MakeTensor<int32_t>(I32({4}), {0, 0, 1, 0}),
       MakeTensor<int32_t>(I32({4}), {kMost, kMost, 16777217, -5})},
      {kMost, 16777217});
}

TEST(ScatterNDOnnx, EveryReductionByHand) {
  const std::vector<TensorData> inputs = {
      MakeTensor<float>(F32({4}), {1, 2, 3, 4}),
      MakeTensor<int32_t>(I32({1, 4}), {3, 1, -3, 4}),
      MakeTensor<float>(F32({4}), {5, -6, 7, 8})};
  const auto expect = [&](Reduction reduction, std::vector<float> expected) {
    ExpectResults<float>(Onnx(reduction, F32({4}), I32({1, 4}), F32({4})),
                         inputs, expected);
  };
  expect(kNone, {1, 7, 3, 5});  // The last of two stays.
  expect(kAdd, {1, 3, 3, 9});
  expect(kMul, {1, -84, 3, 20});
  expect(kMax, {1, 7, 3, 5});
  expect(kMin, {1, -6, 3, 4});
}

TEST(ScatterNDOnnx, CodesThatNothingReachesStay) {
  const auto data = Desc(DataType::kInt16, {3}, 0.1f, -3);
  const auto updates = Desc(DataType::kInt16, {1}, 0.2f, 5);
  ExpectResults<int16_t>(
      Onnx(kAdd, data, I32({1}), updates),
      {MakeTensor<int16_t>(data, {-32768, 100, 32767}),
       MakeTensor<int32_t>(I32({1}), {1}), MakeTensor<int16_t>(updates, {15})},
      {-32768, 120, 32767});
}

TEST(ScatterNDOnnx, LongIntegersSaturate) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const auto i64 = Desc(DataType::kInt64, {2});
  ExpectResults<int64_t>(Onnx(kMul, i64, I32({2}), i64),
                         {MakeTensor<int64_t>(i64, {kMost / 2, -3}),
                          MakeTensor<int32_t>(I32({2}), {0, 1}),
                          MakeTensor<int64_t>(i64, {-4, 5})},
                         {-kMost - 1, -15});
}

// As many updates as make several of each place; the same bits for owners of
// few and of many places.
TEST(ScatterNDOnnx, BothDeviceClassesHaveTheBitsOfEval) {
  std::mt19937 rng = SeededRng(65);
  for (const int64_t run : {1, 5, 37}) {
    for (const Reduction reduction : {kNone, kAdd, kMul, kMax, kMin}) {
      const auto data = F32({run, 101});
      const auto updates = F32({run, 1000});
      const auto indices = I32({1000});
      std::vector<int32_t> places(1000);
      for (int32_t& place : places) {
        place = static_cast<int32_t>(rng() % 110) - 5;
      }
      ExpectSameBits(Onnx(reduction, data, indices, updates),
                     "scatternd_onnx_v16",
                     {RandomTensor(data, rng), MakeTensor(indices, places),
                      RandomTensor(updates, rng)});
    }
  }
}

TEST(ScatterND, InfersItsShape) {
  const auto node = ScatterND({4, 3}, I32({ir::kUnknownDim}),
                              Desc(DataType::kFloat16, {4, ir::kUnknownDim}));
  ASSERT_OK(node);
  EXPECT_EQ(node->output(), Desc(DataType::kFloat16, {4, 3}));
}

// The result takes the place of data that nobody else reads.
TEST(ScatterNDOnnx, InAGraph) {
  for (const char* device : {"host", "opencl"}) {
    const auto context = ContextOn(device);
    ASSERT_NE(context, nullptr);
    const auto graph = context->CreateGraph();
    const auto in = graph->CreateTensor(Floats({8}, vx::INPUT));
    const auto indices = graph->CreateTensor(
        vx::TensorSpec(vx::DataType::INT32, {1, 4}, vx::INPUT));
    const auto updates = graph->CreateTensor(Floats({4}, vx::INPUT));
    const auto data = graph->CreateTensor(Floats({}, vx::TRANSIENT));
    const auto out = graph->CreateTensor(Floats({8}, vx::OUTPUT));
    graph->CreateOperation<vx::ops::Relu>()->BindInput(in).BindOutput(data);
    graph->CreateOperation<vx::ops::ScatterND_ONNX_V16>()
        ->BindInputs({data, indices, updates})
        .BindOutput(out);
    Write<float>(in, {1, 2, 3, 4, 5, 6, 7, -8});
    Write<int32_t>(indices, {4, 3, 1, 7});
    Write<float>(updates, {9, 10, 11, 12});
    ASSERT_TRUE(graph->Compile()) << vx::LastError();
    ASSERT_TRUE(graph->Run()) << vx::LastError();
    EXPECT_EQ(Read(out), (std::vector<float>{1, 11, 3, 10, 9, 6, 7, 12}));
  }
}

}  // namespace
}  // namespace tim::testing
