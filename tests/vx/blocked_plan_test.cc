// Blocks of channels from end to end: nothing is reordered where the kernels at
// the ends read and write dense tensors themselves.
#include <gtest/gtest.h>

#include <array>

#include "ir/plan.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/plans/plan_steps.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

TIM_FOR_CPU_KERNELS();

using vx::TensorAttribute;
using TensorPtr = std::shared_ptr<vx::Tensor>;

// Three channels, a 7x7 convolution to 64, the mean of every channel, 10
// classes.
TEST(BlockedPlan, FewChannelsAndSinglePixelsAreNotReordered) {
  const auto context = ContextOn("opencl");
  if (context == nullptr) GTEST_SKIP() << "no OpenCL device";
  constexpr uint32_t kSize = 64;
  constexpr uint32_t kKernel = 7;
  constexpr uint32_t kChannels = 64;
  constexpr uint32_t kClasses = 10;
  const auto graph = context->CreateGraph();
  const auto constant = [&](const vx::ShapeType& shape) {
    const vx::TensorSpec spec = Floats(shape, TensorAttribute::CONSTANT);
    const std::vector<float> values(spec.GetElementNum(), 0.125f);
    return graph->CreateTensor(spec, values.data());
  };
  const auto transient = [&] {
    return graph->CreateTensor(Floats({}, TensorAttribute::TRANSIENT));
  };
  const TensorPtr input =
      graph->CreateTensor(Floats({kSize, kSize, 3, 1}, TensorAttribute::INPUT));
  const TensorPtr output =
      graph->CreateTensor(Floats({kClasses, 1}, TensorAttribute::OUTPUT));
  const TensorPtr pixels = transient();
  const TensorPtr means = transient();
  const std::array<uint32_t, 2> one = {1, 1};
  graph->CreateOperation<vx::ops::Conv2d>(vx::PadType::SAME, one, one)
      ->BindInputs({input, constant({kKernel, kKernel, 3, kChannels})})
      .BindOutput(pixels);
  graph
      ->CreateOperation<vx::ops::Pool2d>(vx::PoolType::AVG, vx::PadType::VALID,
                                         std::array<uint32_t, 2>{kSize, kSize},
                                         one)
      ->BindInput(pixels)
      .BindOutput(means);
  graph->CreateOperation<vx::ops::FullyConnected>(2, kClasses)
      ->BindInputs({means, constant({kChannels, kClasses})})
      .BindOutput(output);
  ASSERT_TRUE(graph->Compile()) << graph->ErrorMessage();
  const ir::Plan& plan = *vx::CompiledPlan(*graph);
  EXPECT_EQ(CountSource(plan, "ops/movement/reorder.cl"), 0) << ir::Dump(plan);

  Write(input, std::vector<float>(kSize * kSize * 3, 0.5f));
  ASSERT_TRUE(graph->Run()) << graph->ErrorMessage();
  // Along an axis a window has 4, 5 or 6 pixels at the edges, else 7.
  const float taps = (2 * (4 + 5 + 6) + (kSize - 6) * 7.0f) / kSize;
  const float mean = taps * taps * 3 * 0.5f * 0.125f;
  for (const float y : Read(output)) {
    EXPECT_NEAR(y, kChannels * mean * 0.125f, 1e-3f);
  }
}

// An inverted bottleneck: 16 channels become 96, which a depthwise convolution
// reads, and 16 again, to which the input is added.
TEST(BlockedPlan, InvertedBottlenecksStoreNoExpandedTensor) {
  const auto context = ContextOn("opencl");
  if (context == nullptr) GTEST_SKIP() << "no OpenCL device";
  constexpr uint32_t kSize = 32;
  constexpr uint32_t kChannels = 16;
  constexpr uint32_t kExpanded = 96;
  const auto graph = context->CreateGraph();
  const auto transient = [&] {
    return graph->CreateTensor(Floats({}, TensorAttribute::TRANSIENT));
  };
  const auto convolution = [&](const TensorPtr& input,
                               const vx::ShapeType& shape, int32_t multiplier) {
    const vx::TensorSpec spec = Floats(shape, TensorAttribute::CONSTANT);
    const std::vector<float> values(spec.GetElementNum(), 0.125f);
    const TensorPtr output = transient();
    const std::array<uint32_t, 2> one = {1, 1};
    graph
        ->CreateOperation<vx::ops::Conv2d>(vx::PadType::SAME, one, one,
                                           multiplier)
        ->BindInputs({input, graph->CreateTensor(spec, values.data())})
        .BindOutput(output);
    return output;
  };
  const auto limited = [&](const TensorPtr& input) {
    const TensorPtr output = transient();
    graph->CreateOperation<vx::ops::Relu6>()->BindInput(input).BindOutput(
        output);
    return output;
  };
  const vx::ShapeType shape = {kSize, kSize, kChannels, 1};
  const TensorPtr input =
      graph->CreateTensor(Floats(shape, TensorAttribute::INPUT));
  const TensorPtr output =
      graph->CreateTensor(Floats(shape, TensorAttribute::OUTPUT));
  const TensorPtr expanded =
      limited(convolution(input, {1, 1, kChannels, kExpanded}, 0));
  const TensorPtr filtered =
      limited(convolution(expanded, {3, 3, kExpanded, 1}, 1));
  graph->CreateOperation<vx::ops::Add>()
      ->BindInputs(
          {convolution(filtered, {1, 1, kExpanded, kChannels}, 0), input})
      .BindOutput(output);
  ASSERT_TRUE(graph->Compile()) << graph->ErrorMessage();
  const ir::Plan& plan = *vx::CompiledPlan(*graph);
  EXPECT_EQ(
      CountSource(plan, "ops/convolution/conv2d_1x1_depthwise_nchw16c.cl"), 1)
      << ir::Dump(plan);
  EXPECT_EQ(CountSource(plan, "ops/convolution/conv2d_nchw16c.cl"), 1)
      << ir::Dump(plan);
  // The input in blocks, what the depthwise convolution stores, the output.
  const int64_t pixels = kSize * kSize * int64_t{sizeof(float)};
  EXPECT_LE(plan.memory.no_reuse_sum, pixels * (kExpanded + 2 * kChannels));

  Write(input, std::vector<float>(kSize * kSize * kChannels, 0.25f));
  ASSERT_TRUE(graph->Run()) << graph->ErrorMessage();
  // 16 channels of 1 / 4 * 1 / 8; 4, 6 or 9 taps; at most 6; 96 channels.
  const std::vector<float> values = Read(output);
  for (uint32_t i = 0; i < values.size(); ++i) {
    const auto taps = [](uint32_t at) {
      return at == 0 || at + 1 == kSize ? 2.0f : 3.0f;
    };
    const float sum = 0.5f * 0.125f * taps(i % kSize) * taps(i / kSize % kSize);
    EXPECT_NEAR(values[i], kExpanded * 0.125f * sum + 0.25f, 1e-5f) << i;
  }
}

}  // namespace
}  // namespace tim::testing
