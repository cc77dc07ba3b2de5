// ShuffleNet-v2 and MobileNet-v3-small stay in blocks of channels: parts of
// channels, shuffles, those of three operators too, and means over all
// positions are made there.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <span>

#include "compiler/compiler.h"
#include "runtime/compile_options.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/plans/plan_steps.h"
#include "tests/support/status_macros.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/graph_impl.h"
#include "vx/lowering/lowering.h"

namespace tim::testing {
namespace {

TIM_FOR_CPU_KERNELS();

using TensorPtr = std::shared_ptr<vx::Tensor>;
using Pair = std::array<uint32_t, 2>;

constexpr uint32_t kClasses = 10;

// Writes a network layer by layer; weights are the same in each of one name.
class Net {
 public:
  Net(vx::Context& context, uint32_t size)
      : graph(context.CreateGraph()),
        input(graph->CreateTensor(Floats({size, size, 3, 1}, vx::INPUT))) {}

  TensorPtr Between() { return graph->CreateTensor(Floats({}, vx::TRANSIENT)); }
  // Sums of products keep their variance.
  TensorPtr Weights(const vx::ShapeType& shape, uint32_t fan_in) {
    const vx::TensorSpec spec = Floats(shape, vx::CONSTANT);
    const float bound = std::sqrt(6.0f / static_cast<float>(fan_in));
    std::uniform_real_distribution<float> values(-bound, bound);
    std::vector<float> data(static_cast<size_t>(spec.GetElementNum()));
    for (float& value : data) value = values(rng_);
    return graph->CreateTensor(spec, data.data());
  }
  template <typename Op, typename... Args>
  TensorPtr Apply(const std::vector<TensorPtr>& inputs, const Args&... args) {
    const TensorPtr output = Between();
    graph->CreateOperation<Op>(args...)->BindInputs(inputs).BindOutput(output);
    return output;
  }
  TensorPtr Conv(const TensorPtr& x, uint32_t from, uint32_t to, uint32_t size,
                 uint32_t stride) {
    return Window(x, {size, size, from, to}, from * size * size, to, stride, 0);
  }
  TensorPtr Depthwise(const TensorPtr& x, uint32_t channels, uint32_t size,
                      uint32_t stride) {
    return Window(x, {size, size, channels, 1}, size * size, channels, stride,
                  1);
  }
  TensorPtr Relu(const TensorPtr& x) { return Apply<vx::ops::Relu>({x}); }
  TensorPtr Mean(const TensorPtr& x) {
    return Apply<vx::ops::ReduceMean>({x}, std::vector<int32_t>{0, 1}, true);
  }
  void Classify(const TensorPtr& x, uint32_t channels) {
    output = graph->CreateTensor(Floats({kClasses, 1}, vx::OUTPUT));
    graph->CreateOperation<vx::ops::FullyConnected>(2u, kClasses)
        ->BindInputs({x, Weights({channels, kClasses}, channels),
                      Weights({kClasses}, 6)})
        .BindOutput(output);
  }

  std::shared_ptr<vx::Graph> graph;
  TensorPtr input;
  TensorPtr output;

 private:
  TensorPtr Window(const TensorPtr& x, const vx::ShapeType& weights,
                   uint32_t fan_in, uint32_t channels, uint32_t stride,
                   int32_t multiplier) {
    const uint32_t pad = weights[0] / 2;
    return Apply<vx::ops::Conv2d>(
        {x, Weights(weights, fan_in), Weights({channels}, 600)},
        std::array<uint32_t, 4>{pad, pad, pad, pad}, Pair{stride, stride},
        Pair{1, 1}, multiplier);
  }

  std::mt19937 rng_{17};
};

enum class Length {
  kWhole,
  kFewLayers,  ///< One of each kind, so that programs are built soon.
};

// ---- ShuffleNet-v2 1.0 (Ma et al. 2018) -------------------------------------

// Half of the channels go through, the others around.
TensorPtr ShuffleUnit(Net& net, const TensorPtr& x, uint32_t channels) {
  const uint32_t half = channels / 2;
  const TensorPtr kept = net.Between();
  TensorPtr branch = net.Between();
  net.graph
      ->CreateOperation<vx::ops::Split>(2u, std::vector<uint32_t>{half, half})
      ->BindInput(x)
      .BindOutputs({kept, branch});
  branch = net.Relu(net.Conv(branch, half, half, 1, 1));
  branch = net.Depthwise(branch, half, 3, 1);
  branch = net.Relu(net.Conv(branch, half, half, 1, 1));
  return net.Apply<vx::ops::ShuffleChannel>(
      {net.Apply<vx::ops::Concat>({kept, branch}, 2u, 2)}, 2, 2);
}

TensorPtr ShrinkingUnit(Net& net, const TensorPtr& x, uint32_t from,
                        uint32_t channels) {
  const uint32_t half = channels / 2;
  const TensorPtr left =
      net.Relu(net.Conv(net.Depthwise(x, from, 3, 2), from, half, 1, 1));
  TensorPtr right = net.Relu(net.Conv(x, from, half, 1, 1));
  right = net.Depthwise(right, half, 3, 2);
  right = net.Relu(net.Conv(right, half, half, 1, 1));
  return net.Apply<vx::ops::ShuffleChannel>(
      {net.Apply<vx::ops::Concat>({left, right}, 2u, 2)}, 2, 2);
}

struct Stage {
  uint32_t channels = 0;
  int units = 0;
};
constexpr Stage kStages[] = {{116, 4}, {232, 8}, {464, 4}};
constexpr Stage kOneStage[] = {{116, 3}};

Net ShufflenetV2(vx::Context& context, uint32_t size, Length length) {
  Net net(context, size);
  TensorPtr x = net.Relu(net.Conv(net.input, 3, 24, 3, 2));
  x = net.Apply<vx::ops::Pool2d>({x}, vx::PoolType::MAX,
                                 std::array<uint32_t, 4>{1, 1, 1, 1},
                                 Pair{3, 3}, Pair{2, 2});
  uint32_t channels = 24;
  for (const Stage& stage : length == Length::kWhole
                                ? std::span<const Stage>(kStages)
                                : std::span<const Stage>(kOneStage)) {
    x = ShrinkingUnit(net, x, channels, stage.channels);
    channels = stage.channels;
    for (int i = 1; i < stage.units; ++i) x = ShuffleUnit(net, x, channels);
  }
  x = net.Relu(net.Conv(x, channels, 1024, 1, 1));
  net.Classify(net.Mean(x), 1024);
  return net;
}

// ---- MobileNet-v3-small (Howard et al. 2019) --------------------------------

enum class Activation { kRelu, kHardSwish };
enum class Squeeze { kNone, kTaken };

struct Bottleneck {
  uint32_t kernel = 3;
  uint32_t expanded = 0;
  uint32_t channels = 0;
  Squeeze squeeze = Squeeze::kNone;
  Activation activation = Activation::kRelu;
  uint32_t stride = 1;
};

constexpr Bottleneck kBottlenecks[] = {
    {3, 16, 16, Squeeze::kTaken, Activation::kRelu, 2},
    {3, 72, 24, Squeeze::kNone, Activation::kRelu, 2},
    {3, 88, 24, Squeeze::kNone, Activation::kRelu, 1},
    {5, 96, 40, Squeeze::kTaken, Activation::kHardSwish, 2},
    {5, 240, 40, Squeeze::kTaken, Activation::kHardSwish, 1},
    {5, 240, 40, Squeeze::kTaken, Activation::kHardSwish, 1},
    {5, 120, 48, Squeeze::kTaken, Activation::kHardSwish, 1},
    {5, 144, 48, Squeeze::kTaken, Activation::kHardSwish, 1},
    {5, 288, 96, Squeeze::kTaken, Activation::kHardSwish, 2},
    {5, 576, 96, Squeeze::kTaken, Activation::kHardSwish, 1},
    {5, 576, 96, Squeeze::kTaken, Activation::kHardSwish, 1},
};

constexpr Bottleneck kTwoBottlenecks[] = {kBottlenecks[0], kBottlenecks[6]};

TensorPtr Activate(Net& net, const TensorPtr& x, Activation activation) {
  return activation == Activation::kRelu ? net.Relu(x)
                                         : net.Apply<vx::ops::HardSwish>({x});
}

// Channels are weighted by what their means say.
TensorPtr SqueezeAndExcite(Net& net, const TensorPtr& x, uint32_t channels) {
  const uint32_t few = std::max(8u, (channels / 4 + 4) / 8 * 8);
  TensorPtr scale = net.Relu(net.Conv(net.Mean(x), channels, few, 1, 1));
  scale = net.Apply<vx::ops::HardSigmoid>(
      {net.Conv(scale, few, channels, 1, 1)}, 1.0f / 6, 0.5f);
  return net.Apply<vx::ops::Multiply>({x, scale});
}

Net MobilenetV3Small(vx::Context& context, uint32_t size, Length length) {
  Net net(context, size);
  uint32_t channels = 16;
  TensorPtr x = Activate(net, net.Conv(net.input, 3, channels, 3, 2),
                         Activation::kHardSwish);
  for (const Bottleneck& b :
       length == Length::kWhole
           ? std::span<const Bottleneck>(kBottlenecks)
           : std::span<const Bottleneck>(kTwoBottlenecks)) {
    TensorPtr y = x;
    if (b.expanded != channels) {
      y = Activate(net, net.Conv(x, channels, b.expanded, 1, 1), b.activation);
    }
    y = Activate(net, net.Depthwise(y, b.expanded, b.kernel, b.stride),
                 b.activation);
    if (b.squeeze == Squeeze::kTaken) y = SqueezeAndExcite(net, y, b.expanded);
    y = net.Conv(y, b.expanded, b.channels, 1, 1);
    if (b.stride == 1 && b.channels == channels) {
      y = net.Apply<vx::ops::Add>({y, x});
    }
    channels = b.channels;
    x = y;
  }
  x = Activate(net, net.Conv(x, channels, 576, 1, 1), Activation::kHardSwish);
  net.Classify(net.Mean(x), 576);
  return net;
}

// ---- parts of whole blocks --------------------------------------------------

Net WholeBlocks(vx::Context& context, uint32_t size, Length) {
  Net net(context, size);
  const TensorPtr x = net.Relu(net.Conv(net.input, 3, 64, 3, 2));
  const TensorPtr first = net.Between();
  const TensorPtr second = net.Between();
  net.graph->CreateOperation<vx::ops::Split>(2u, std::vector<uint32_t>{16, 48})
      ->BindInput(x)
      .BindOutputs({first, second});
  const TensorPtr y =
      net.Apply<vx::ops::Concat>({net.Relu(net.Conv(second, 48, 32, 3, 1)),
                                  net.Relu(net.Conv(first, 16, 20, 3, 1))},
                                 2u, 2);
  net.Classify(net.Mean(net.Relu(net.Conv(y, 52, 64, 1, 1))), 64);
  return net;
}

// ---- a shuffle as ONNX has it -----------------------------------------------

Net ShuffleOfThree(vx::Context& context, uint32_t size, Length) {
  using vx::ops::Reshape;
  using Counts = std::vector<uint32_t>;
  Net net(context, size);
  TensorPtr x = net.Relu(net.Conv(net.input, 3, 48, 3, 2));
  const uint32_t half = (size + 1) / 2;
  x = net.Apply<Reshape>({x}, Counts{half, half, 16, 3, 1});
  x = net.Apply<vx::ops::Transpose>({x}, Counts{0, 1, 3, 2, 4});
  x = net.Apply<Reshape>({x}, Counts{half, half, 48, 1});
  net.Classify(net.Mean(net.Relu(net.Conv(x, 48, 64, 3, 1))), 64);
  return net;
}

// ---- tests ------------------------------------------------------------------

using MakeNet = Net (*)(vx::Context&, uint32_t, Length);

// Without its programs.
Result<ir::Plan> PlanOf(const Net& net) {
  const auto& graph = dynamic_cast<const vx::GraphImpl&>(*net.graph);
  TIM_ASSIGN_OR_RETURN(
      const vx::LoweredGraph lowered,
      vx::Lower(*graph.core(), net.graph->OpVector(), {net.input, net.output}));
  return compiler::Compile(
      lowered.graph, *lowered.registry,
      runtime::CompileOptionsFor(graph.core()->context->devices));
}

void ExpectNoReorder(MakeNet make) {
  const auto context = ContextOn("opencl");
  if (context == nullptr) GTEST_SKIP() << "no OpenCL device";
  const Net net = make(*context, 224, Length::kWhole);
  const Result<ir::Plan> plan = PlanOf(net);
  ASSERT_OK(plan);
  EXPECT_GT(CountSource(*plan, "ops/convolution/conv2d_nchw16c.cl"), 10);
  EXPECT_EQ(CountSource(*plan, "ops/movement/reorder.cl"), 0)
      << ir::Dump(*plan);
}

void ExpectTheHostsResults(MakeNet make) {
  const auto context = ContextOn("opencl");
  if (context == nullptr) GTEST_SKIP() << "no OpenCL device";
  constexpr uint32_t kSize = 64;
  const Net net = make(*context, kSize, Length::kFewLayers);
  const Net reference = make(*HostContext(), kSize, Length::kFewLayers);
  std::mt19937 rng(5);
  std::uniform_real_distribution<float> values(-1, 1);
  for (int run = 0; run < 2; ++run) {
    std::vector<float> image(size_t{3} * kSize * kSize);
    for (float& value : image) value = values(rng);
    Write(net.input, image);
    Write(reference.input, image);
    ASSERT_TRUE(net.graph->Run()) << net.graph->ErrorMessage();
    ASSERT_TRUE(reference.graph->Run()) << reference.graph->ErrorMessage();
    const std::vector<float> actual = Read(net.output);
    const std::vector<float> expected = Read(reference.output);
    float largest = 0;
    for (const float y : expected) largest = std::max(largest, std::abs(y));
    EXPECT_GT(largest, 0.01f);
    for (uint32_t i = 0; i < kClasses; ++i) {
      EXPECT_NEAR(actual[i], expected[i], 1e-4f * largest) << i;
    }
  }
}

TEST(WholeBlocks, AreReadAndMadeWhereTheyAre) {
  const auto context = ContextOn("opencl");
  if (context == nullptr) GTEST_SKIP() << "no OpenCL device";
  const Result<ir::Plan> plan =
      PlanOf(WholeBlocks(*context, 64, Length::kWhole));
  ASSERT_OK(plan);
  EXPECT_EQ(CountSource(*plan, "ops/movement/reorder.cl"), 0);
  for (const ir::Step& step : plan->steps) {
    EXPECT_EQ(step.label.find("Split"), std::string::npos);
    EXPECT_EQ(step.label.find("Concat"), std::string::npos);
  }
}
TEST(WholeBlocks, ComputesWhatTheHostDoes) {
  ExpectTheHostsResults(WholeBlocks);
}
TEST(ShuffleOfThree, IsAStepBetweenBlocks) {
  const auto context = ContextOn("opencl");
  if (context == nullptr) GTEST_SKIP() << "no OpenCL device";
  const Result<ir::Plan> plan =
      PlanOf(ShuffleOfThree(*context, 64, Length::kWhole));
  ASSERT_OK(plan);
  EXPECT_EQ(CountSource(*plan, "ops/movement/channel_blocks.cl"), 1);
  EXPECT_EQ(CountSource(*plan, "ops/movement/transpose.cl"), 0);
  EXPECT_EQ(CountSource(*plan, "ops/movement/reorder.cl"), 0)
      << ir::Dump(*plan);
}
TEST(ShuffleOfThree, ComputesWhatTheHostDoes) {
  ExpectTheHostsResults(ShuffleOfThree);
}
TEST(ShufflenetV2, NothingIsReordered) { ExpectNoReorder(ShufflenetV2); }
TEST(ShufflenetV2, ComputesWhatTheHostDoes) {
  ExpectTheHostsResults(ShufflenetV2);
}
TEST(MobilenetV3Small, NothingIsReordered) {
  ExpectNoReorder(MobilenetV3Small);
}
TEST(MobilenetV3Small, ComputesWhatTheHostDoes) {
  ExpectTheHostsResults(MobilenetV3Small);
}

}  // namespace
}  // namespace tim::testing
