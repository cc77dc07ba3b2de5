// What clients rely on, by the numbers of the checklist in the API's
// specification: the part about tensors.
#include <gtest/gtest.h>

#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

using vx::DataType;
using vx::Quantization;
using vx::QuantType;
using vx::TensorAttribute;
using vx::TensorSpec;

TEST(Checklist, N01WholeTensorIsCopiedWhateverTheSize) {
  ReluGraph g({4});
  const std::vector<float> data = {1, -2, 3, -4};
  for (const uint32_t size : {0u, 4u, 16u, 64u, 1u}) {
    Write<float>(g.input, {0, 0, 0, 0});
    EXPECT_TRUE(g.input->CopyDataToTensor(data.data(), size));
    EXPECT_EQ(Read(g.input), data) << size;
  }
}

TEST(Checklist, N02ConstantIsReadableAndItsSourceReleasable) {
  const auto graph = HostGraph();
  auto source = std::make_unique<std::vector<float>>(3, 7.5f);
  const auto constant = graph->CreateTensor(
      Floats({3}, TensorAttribute::CONSTANT), source->data());
  source->assign(3, -1.0f);
  source.reset();
  EXPECT_EQ(Read(constant), std::vector<float>(3, 7.5f));
}

TEST(Checklist, N03TransientSpecsMayHaveAnyShape) {
  for (const vx::ShapeType& shape :
       {vx::ShapeType{}, {0, 0}, {2, 3}, {7, 7, 7}}) {
    ReluGraph g({2, 3});
    const auto middle =
        g.graph->CreateTensor(Floats(shape, TensorAttribute::TRANSIENT));
    const auto out =
        g.graph->CreateTensor(Floats({2, 3}, TensorAttribute::OUTPUT));
    auto first = g.graph->CreateOperation<vx::ops::Relu>();
    auto second = g.graph->CreateOperation<vx::ops::Relu>();
    (*first).BindInput(g.input).BindOutput(middle);
    (*second).BindInput(middle).BindOutput(out);
    Write<float>(g.input, {1, -1, 2, -2, 3, -3});
    ASSERT_TRUE(g.graph->Run()) << vx::LastError();
    EXPECT_EQ(Read(out), (std::vector<float>{1, 0, 2, 0, 3, 0}));
    // What was inferred can be seen.
    EXPECT_EQ(middle->GetShape(), (vx::ShapeType{2, 3}));
  }
}

TEST(Checklist, N10QuantizationOfFloatTensorsIsIgnored) {
  const auto graph = HostGraph();
  const Quantization broken(QuantType::ASYMMETRIC, 0.0f, 3);
  TensorSpec in_spec(DataType::FLOAT32, {2}, TensorAttribute::INPUT, broken);
  TensorSpec out_spec(DataType::FLOAT32, {2}, TensorAttribute::OUTPUT, broken);
  const auto in = graph->CreateTensor(in_spec);
  const auto out = graph->CreateTensor(out_spec);
  EXPECT_EQ(Read(in), (std::vector<float>{0, 0}));
  auto relu = graph->CreateOperation<vx::ops::Relu>();
  (*relu).BindInput(in).BindOutput(out);
  Write<float>(in, {2, -2});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(Read(out), (std::vector<float>{2, 0}));
}

TEST(Checklist, N10ShortZeroPointVectorCountsForAllChannels) {
  const auto graph = HostGraph();
  const Quantization quantization(QuantType::ASYMMETRIC_PER_CHANNEL, 1,
                                  {0.5f, 2.0f}, {10});
  const uint8_t codes[] = {11, 12, 11, 12};
  const auto constant =
      graph->CreateTensor(TensorSpec(DataType::UINT8, {2, 2},
                                     TensorAttribute::CONSTANT, quantization),
                          codes);
  float* real = constant->ConvertTensorToFloat32Data();
  ASSERT_NE(real, nullptr);
  EXPECT_EQ(std::vector<float>(real, real + 4),
            (std::vector<float>{0.5f, 1.0f, 2.0f, 4.0f}));
  free(real);
}

TEST(Checklist, N13DeclaredOutputShapeWinsWhereElementCountsAgree) {
  const auto graph = HostGraph();
  const auto in = graph->CreateTensor(Floats({2, 3}, TensorAttribute::INPUT));
  const auto out = graph->CreateTensor(Floats({3, 2}, TensorAttribute::OUTPUT));
  auto relu = graph->CreateOperation<vx::ops::Relu>();
  (*relu).BindInput(in).BindOutput(out);
  Write<float>(in, {1, -1, 2, -2, 3, -3});
  ASSERT_TRUE(graph->Run()) << vx::LastError();
  EXPECT_EQ(out->GetShape(), (vx::ShapeType{3, 2}));
  EXPECT_EQ(Read(out), (std::vector<float>{1, 0, 2, 0, 3, 0}));
}

TEST(Checklist, N14SelfCopyFlushAndInvalidate) {
  ReluGraph g({2});
  Write<float>(g.input, {5, -5});
  for (int run = 0; run < 3; ++run) {
    EXPECT_TRUE(g.input->FlushCacheForHandle());
    ASSERT_TRUE(g.graph->Run()) << vx::LastError();
    EXPECT_TRUE(g.output->InvalidateCacheForHandle());
    EXPECT_TRUE(g.output->CopyDataFromTensor(g.output->map()));
    EXPECT_EQ(Read(g.output), (std::vector<float>{5, 0}));
  }
}

}  // namespace
}  // namespace tim::testing
