// Element-by-element operators in whole graphs: broadcasts, scales, views and
// results written over operands.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/vx/vx_graph.h"

namespace tim::testing {
namespace {

class ElementwiseGraph : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    context_ = ContextOn(GetParam());
    ASSERT_NE(context_, nullptr);
    graph_ = context_->CreateGraph();
  }

  static vx::TensorSpec Codes(const vx::ShapeType& shape,
                              vx::TensorAttribute attribute, float scale,
                              int32_t zero_point) {
    return vx::TensorSpec(
        vx::DataType::UINT8, shape, attribute,
        vx::Quantization(vx::QuantType::ASYMMETRIC, scale, zero_point));
  }

  std::shared_ptr<vx::Context> context_;
  std::shared_ptr<vx::Graph> graph_;
};

INSTANTIATE_TEST_SUITE_P(Devices, ElementwiseGraph,
                         ::testing::Values("host", "opencl"));

// The codes stay, their meaning changes: no step, but another tensor.
TEST_P(ElementwiseGraph, CastToOtherScalesKeepsTheCodes) {
  const auto in = graph_->CreateTensor(Codes({3}, vx::INPUT, 0.5f, 10));
  const auto cast = graph_->CreateTensor(Codes({3}, vx::TRANSIENT, 0.25f, 3));
  const auto codes = graph_->CreateTensor(Codes({3}, vx::OUTPUT, 0.25f, 3));
  const auto out = graph_->CreateTensor(Floats({3}, vx::OUTPUT));
  graph_->CreateOperation<vx::ops::Cast>()->BindInput(in).BindOutput(cast);
  graph_->CreateOperation<vx::ops::Cast>()->BindInput(in).BindOutput(codes);
  graph_->CreateOperation<vx::ops::DataConvert>()->BindInput(cast).BindOutput(
      out);
  Write<uint8_t>(in, {3, 11, 255});
  ASSERT_TRUE(graph_->Compile()) << vx::LastError();
  ASSERT_TRUE(graph_->Run()) << vx::LastError();
  EXPECT_EQ(Read(out), (std::vector<float>{0, 2, 63}));
  EXPECT_EQ(Read<uint8_t>(codes), (std::vector<uint8_t>{3, 11, 255}));
}

TEST_P(ElementwiseGraph, DivBroadcastsItsFirstOperandOverZeros) {
  const auto a = graph_->CreateTensor(Codes({1}, vx::INPUT, 1, 0));
  const auto b = graph_->CreateTensor(Codes({5, 1}, vx::INPUT, 1, 0));
  const auto y = graph_->CreateTensor(Codes({5, 1}, vx::OUTPUT, 0.5f, 0));
  graph_->CreateOperation<vx::ops::Div>(2)->BindInputs({a, b}).BindOutput(y);
  Write<uint8_t>(a, {6});
  Write<uint8_t>(b, {0, 1, 4, 6, 100});
  ASSERT_TRUE(graph_->Compile()) << vx::LastError();
  ASSERT_TRUE(graph_->Run()) << vx::LastError();
  EXPECT_EQ(Read<uint8_t>(y), (std::vector<uint8_t>{255, 24, 6, 4, 0}));
}

// Each result may take the memory of an operand that nobody reads any more.
TEST_P(ElementwiseGraph, ChainOfTwoOperands) {
  const auto x = graph_->CreateTensor(Floats({33}, vx::INPUT));
  const auto transient = [&] {
    return graph_->CreateTensor(Floats({}, vx::TRANSIENT));
  };
  const auto tanh = transient();
  const auto sigmoid = transient();
  const auto difference = transient();
  const auto product = transient();
  const auto y = graph_->CreateTensor(Floats({33}, vx::OUTPUT));
  namespace ops = vx::ops;
  graph_->CreateOperation<ops::Tanh>()->BindInput(x).BindOutput(tanh);
  graph_->CreateOperation<ops::Sigmoid>()->BindInput(x).BindOutput(sigmoid);
  graph_->CreateOperation<ops::Sub>()
      ->BindInputs({tanh, sigmoid})
      .BindOutput(difference);
  graph_->CreateOperation<ops::Multiply>(0.5f)
      ->BindInputs({sigmoid, difference})
      .BindOutput(product);
  graph_->CreateOperation<ops::Maximum>()
      ->BindInputs({product, difference})
      .BindOutput(y);
  std::vector<float> values(33);
  for (int i = 0; i < 33; ++i) values[i] = 0.25f * static_cast<float>(i - 16);
  Write(x, values);
  ASSERT_TRUE(graph_->Compile()) << vx::LastError();
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(graph_->Run()) << vx::LastError();
    const std::vector<float> found = Read(y);
    for (int i = 0; i < 33; ++i) {
      const double s = 1 / (1 + std::exp(-static_cast<double>(values[i])));
      const double d = std::tanh(static_cast<double>(values[i])) - s;
      EXPECT_NEAR(found[i], std::fmax(0.5 * s * d, d), 1e-6) << values[i];
    }
  }
}

TEST_P(ElementwiseGraph, OtherElementCountsFailCompile) {
  const auto x = graph_->CreateTensor(Floats({4}, vx::INPUT));
  const auto y = graph_->CreateTensor(Floats({5}, vx::OUTPUT));
  graph_->CreateOperation<vx::ops::Minimum>()->BindInputs({x, x}).BindOutput(y);
  EXPECT_TRUE(CompileFailsWith(*graph_, "declared as [5]"));
}

}  // namespace
}  // namespace tim::testing
