// Graphs whose kernels are launched as one against the same kernels launched
// one by one: the results are the same bits.
#include "tests/support/vx/chained_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "custom_ops/hswish.h"
#include "device/opencl/opencl_device.h"
#include "tests/support/data/test_tensor.h"
#include "tests/support/long_tests.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/graph/context_impl.h"
#include "vx/graph/graph_impl.h"

namespace tim::vx {
namespace {

using testing::ChainedKernels;
using testing::Floats;

// Fails to make the first chain that it is asked for.
class FailingDevice final : public testing::ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  Result<std::unique_ptr<device::PreparedStep>> PrepareChain(
      std::span<const device::ChainLink> links,
      device::BinaryStore& store) override {
    if (chains_++ == 0) return BuildFailure("told to fail");
    return ForwardingDevice::PrepareChain(links, store);
  }
  int chains() const { return chains_; }

 private:
  int chains_ = 0;
};

// Says of every launch that it takes so long.
class PredictingDevice final : public testing::ForwardingDevice {
 public:
  PredictingDevice(std::shared_ptr<device::Device> device,
                   std::optional<double> us)
      : ForwardingDevice(std::move(device)), us_(us) {}
  Result<std::unique_ptr<device::PreparedStep>> PrepareChain(
      std::span<const device::ChainLink> links,
      device::BinaryStore& store) override {
    std::vector<device::ChainLink> changed(links.begin(), links.end());
    for (device::ChainLink& link : changed) link.predicted_us = us_;
    return ForwardingDevice::PrepareChain(changed, store);
  }

 private:
  const std::optional<double> us_;
};

// A graph in the making, with seeded weights.
struct Layers {
  explicit Layers(Context& context) : graph(context.CreateGraph()) {}

  std::vector<float> Run(const std::vector<float>& values) {
    testing::Write(input, values);
    EXPECT_TRUE(graph->Run()) << graph->ErrorMessage();
    return testing::Read(output);
  }

  std::shared_ptr<Tensor> Transient() {
    return graph->CreateTensor(Floats({0, 0, 0, 0}, TRANSIENT));
  }
  std::shared_ptr<Tensor> Constant(const ShapeType& shape) {
    TensorSpec spec = Floats(shape, CONSTANT);
    std::uniform_real_distribution<float> uniform(-0.3f, 0.3f);
    std::vector<float> values(spec.GetElementNum());
    for (float& value : values) value = uniform(rng);
    return graph->CreateTensor(spec, values.data());
  }
  std::shared_ptr<Tensor> Conv(const std::shared_ptr<Tensor>& x, uint32_t in,
                               uint32_t out, uint32_t size, uint32_t stride) {
    const auto sum = Transient();
    graph
        ->CreateOperation<ops::Conv2d>(PadType::SAME,
                                       std::array<uint32_t, 2>{stride, stride},
                                       std::array<uint32_t, 2>{1, 1})
        ->BindInputs({x, Constant({size, size, in, out}), Constant({out})})
        .BindOutput(sum);
    const auto result = Transient();
    graph->CreateOperation<ops::Relu>()->BindInput(sum).BindOutput(result);
    return result;
  }
  std::shared_ptr<Tensor> Depthwise(const std::shared_ptr<Tensor>& x,
                                    uint32_t channels) {
    const auto result = Transient();
    graph
        ->CreateOperation<ops::Conv2d>(PadType::SAME,
                                       std::array<uint32_t, 2>{1, 1},
                                       std::array<uint32_t, 2>{1, 1}, 1)
        ->BindInputs({x, Constant({3, 3, channels, 1}), Constant({channels})})
        .BindOutput(result);
    return result;
  }

  std::mt19937 rng{7};
  std::shared_ptr<Graph> graph;
  std::shared_ptr<Tensor> input;
  std::shared_ptr<Tensor> output;
};

// Blocks with a residual and a depthwise convolution, pools, a join and a
// classifier.
struct Network : Layers {
  // The input lies at `memory`, where there is one.
  explicit Network(Context& context, float* memory = nullptr)
      : Layers(context) {
    const TensorSpec spec = Floats({29, 23, 3, 1}, INPUT);
    input = memory == nullptr ? graph->CreateTensor(spec)
                              : graph->CreateIOTensor(spec, memory);
    const auto stem = Conv(input, 3, 24, 3, 2);
    const auto pooled = Transient();
    graph
        ->CreateOperation<ops::Pool2d>(PoolType::MAX, PadType::SAME,
                                       std::array<uint32_t, 2>{3, 3},
                                       std::array<uint32_t, 2>{2, 2})
        ->BindInput(stem)
        .BindOutput(pooled);
    const auto body =
        Conv(Depthwise(Conv(pooled, 24, 40, 1, 1), 40), 40, 24, 1, 1);
    const auto sum = Transient();
    graph->CreateOperation<ops::Add>()
        ->BindInputs({body, pooled})
        .BindOutput(sum);
    const auto joined = Transient();
    graph->CreateOperation<ops::Concat>(2, 2)
        ->BindInputs({Conv(sum, 24, 16, 1, 1), Conv(sum, 24, 32, 3, 1)})
        .BindOutput(joined);
    const auto average = Transient();
    graph
        ->CreateOperation<ops::Pool2d>(PoolType::AVG, PadType::VALID,
                                       std::array<uint32_t, 2>{8, 6},
                                       std::array<uint32_t, 2>{1, 1})
        ->BindInput(joined)
        .BindOutput(average);
    output = graph->CreateTensor(Floats({10, 1}, OUTPUT));
    graph->CreateOperation<ops::FullyConnected>(2, 10)
        ->BindInputs({average, Constant({48, 10}), Constant({10})})
        .BindOutput(output);
  }
};

std::vector<float> Values(size_t count, int seed) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(rng);
  return values;
}

std::vector<float> Image(int seed) { return Values(29 * 23 * 3, seed); }

TEST_F(ChainedKernels, GiveTheSameBits) {
  Network chained(*chained_);
  Network single(*single_);
  for (int run = 0; run < 20; ++run) {
    EXPECT_EQ(chained.Run(Image(run)), single.Run(Image(run))) << run;
  }
  EXPECT_EQ(device_->chained(), CompiledPlan(*chained.graph)->steps.size());
}

// Only where the device says that it gains.
TEST_F(ChainedKernels, ASingleKernelMayBeAChain) {
  for (const auto& context : {chained_, single_}) {
    Layers layers(*context);
    layers.input = layers.graph->CreateTensor(Floats({100}, INPUT));
    layers.output = layers.graph->CreateTensor(Floats({100}, OUTPUT));
    layers.graph->CreateOperation<ops::Relu>()
        ->BindInput(layers.input)
        .BindOutput(layers.output);
    std::vector<float> expected = Values(100, 3);
    for (float& value : expected) value = std::max(value, 0.0f);
    for (int run = 0; run < 3; ++run) {
      EXPECT_EQ(layers.Run(Values(100, 3)), expected);
    }
  }
  EXPECT_EQ(device_->chained(), device_->info().chains_singles ? 1u : 0u);
}

// Two chains with a user's kernel, which is in none, in between.
struct TwoChains : Layers {
  explicit TwoChains(Context& context) : Layers(context) {
    input = graph->CreateTensor(Floats({100}, INPUT));
    output = graph->CreateTensor(Floats({100}, OUTPUT));
    const auto before = graph->CreateTensor(Floats({100}, TRANSIENT));
    const auto after = graph->CreateTensor(Floats({100}, TRANSIENT));
    TanhOfSigmoid(input, before);
    graph->CreateOperation<custom_ops::HSwish>()->BindInput(before).BindOutput(
        after);
    TanhOfSigmoid(after, output);
  }
  void TanhOfSigmoid(const std::shared_ptr<Tensor>& x,
                     const std::shared_ptr<Tensor>& y) {
    const auto between = graph->CreateTensor(Floats({100}, TRANSIENT));
    graph->CreateOperation<ops::Sigmoid>()->BindInput(x).BindOutput(between);
    graph->CreateOperation<ops::Tanh>()->BindInput(between).BindOutput(y);
  }
};

TEST_F(ChainedKernels, OneThatCannotBeBuiltIsLaunchedKernelByKernel) {
  const auto failing = std::make_shared<FailingDevice>(device_);
  const auto context =
      CreateContext({device::CreateHostDevice(), failing}, {.strict = true});
  TwoChains mended(*context);
  TwoChains single(*single_);
  ::testing::internal::CaptureStderr();
  ASSERT_TRUE(mended.graph->Compile()) << mended.graph->ErrorMessage();
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, ::testing::HasSubstr("[warning] "));
  EXPECT_THAT(log, ::testing::HasSubstr("told to fail"));
  for (int run = 0; run < 3; ++run) {
    EXPECT_EQ(mended.Run(Values(100, run)), single.Run(Values(100, run)));
  }
  EXPECT_EQ(failing->chains(), 2);
  EXPECT_EQ(device_->chained(), 2u);
}

// Convolutions of all kinds and a pool on images of that size.
struct Pyramid : Layers {
  Pyramid(Context& context, uint32_t w, uint32_t h, uint32_t images)
      : Layers(context) {
    input = graph->CreateTensor(Floats({w, h, 24, images}, INPUT));
    output = graph->CreateTensor(
        Floats({(w + 1) / 2, (h + 1) / 2, 136, images}, OUTPUT));
    const auto wide = Depthwise(Conv(input, 24, 72, 3, 1), 72);
    const auto body = Depthwise(Conv(wide, 72, 40, 1, 1), 40);
    const auto pooled = Transient();
    graph
        ->CreateOperation<ops::Pool2d>(PoolType::MAX, PadType::SAME,
                                       std::array<uint32_t, 2>{3, 3},
                                       std::array<uint32_t, 2>{2, 2})
        ->BindInput(body)
        .BindOutput(pooled);
    graph->CreateOperation<ops::Relu>()
        ->BindInput(Conv(pooled, 40, 136, 1, 1))
        .BindOutput(output);
  }
};

// The texts of the launches that are partitioned spatially.
std::set<std::string> SpatiallyPartitioned(const ir::Plan& plan) {
  std::set<std::string> sources;
  for (const ir::Step& step : plan.steps) {
    const auto* launch = std::get_if<ir::KernelLaunch>(&step.action);
    if (launch == nullptr || !launch->spatial_partition) continue;
    if (launch->range.dimensions == 3) sources.insert(launch->source);
  }
  return sources;
}

TEST_F(ChainedKernels, GiveTheSameBitsForImagesOfAnySize) {
  const std::array<uint32_t, 3> sizes[] = {
      {1, 1, 1}, {2, 3, 1}, {1, 64, 3}, {70, 35, 2}};
  std::set<std::string> shared;
  size_t steps = 0;
  testing::Sample sample(3);
  for (const auto& [w, h, images] : sizes) {
    if (!sample.Takes()) continue;
    Pyramid chained(*chained_, w, h, images);
    Pyramid single(*single_, w, h, images);
    const std::vector<float> values = Values(w * h * 24 * images, 5);
    for (int run = 0; run < 3; ++run) {
      EXPECT_EQ(chained.Run(values), single.Run(values))
          << w << " x " << h << ", " << images;
    }
    const ir::Plan& plan = *CompiledPlan(*chained.graph);
    steps += plan.steps.size();
    shared.merge(SpatiallyPartitioned(plan));
  }
  EXPECT_EQ(device_->chained(), steps);
  EXPECT_THAT(shared, ::testing::UnorderedElementsAre(
                          "ops/convolution/conv2d_1x1_depthwise_nchw16c.cl",
                          "ops/convolution/conv2d_depthwise_nchw16c.cl",
                          "ops/convolution/conv2d_nchw16c.cl",
                          "ops/convolution/conv2d_winograd_nchw16c.cl",
                          "ops/pooling/pool2d_nchw16c.cl"));
}

// Launches are done by one worker, some of them, or shared out.
TEST_F(ChainedKernels, GiveTheSameBitsHoweverLongTheyAreThoughtToTake) {
  Pyramid single(*single_, 33, 21, 2);
  const std::vector<float> values = Values(size_t{33} * 21 * 24 * 2, 5);
  const std::vector<float> expected = single.Run(values);
  for (const std::optional<double> us :
       {std::optional(0.0), std::optional(1.5), std::optional<double>()}) {
    const auto context =
        CreateContext({device::CreateHostDevice(),
                       std::make_shared<PredictingDevice>(device_, us)},
                      {.strict = true});
    Pyramid chained(*context, 33, 21, 2);
    for (int run = 0; run < 20; ++run) {
      ASSERT_EQ(chained.Run(values), expected) << us.value_or(-1);
    }
  }
}

TEST_F(ChainedKernels, FollowTensorsThatMove) {
  std::vector<float> memory[] = {Image(1), Image(2), Image(3)};
  Network chained(*chained_, memory[0].data());
  Network single(*single_);
  for (std::vector<float>& values : memory) {
    void* old = nullptr;
    ASSERT_TRUE(chained.input->SwapHandle(values.data(), false, &old));
    ASSERT_TRUE(chained.graph->Run()) << chained.graph->ErrorMessage();
    EXPECT_EQ(testing::Read(chained.output), single.Run(values));
  }
}

TEST_F(ChainedKernels, OfGraphsOnTwoThreadsDoNotMix) {
  Network single(*single_);
  const std::vector<float> expected[] = {single.Run(Image(1)),
                                         single.Run(Image(2))};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      Network chained(*chained_);
      for (int run = 0; run < 50; ++run) {
        ASSERT_EQ(chained.Run(Image(t + 1)), expected[t]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Three launches of a few elements, then two of many, three times over.
struct FewAndMany {
  static constexpr uint32_t kFew = 16;
  static constexpr uint32_t kMany = 4096;

  explicit FewAndMany(Context& context) : graph(context.CreateGraph()) {
    input = graph->CreateTensor(Floats({kFew, 1}, INPUT));
    many = graph->CreateTensor(Floats({kFew, kMany}, INPUT));
    auto x = input;
    for (int i = 0; i < 3; ++i) {
      x = Few(graph->CreateOperation<ops::Softmax>(1.0f, 0), {x});
      x = Few(graph->CreateOperation<ops::L2Normalization>(0), {x});
      x = Few(graph->CreateOperation<ops::LogSoftmax>(0), {x});
      const auto sum = graph->CreateTensor(Floats({kFew, kMany}, TRANSIENT));
      graph->CreateOperation<ops::Add>()->BindInputs({many, x}).BindOutput(sum);
      x = Few(graph->CreateOperation<ops::ReduceMean>(std::vector<int32_t>{1},
                                                      true),
              {sum});
    }
  }

  std::shared_ptr<Tensor> Few(const std::shared_ptr<Operation>& op,
                              const std::vector<std::shared_ptr<Tensor>>& in) {
    results.push_back(graph->CreateTensor(Floats({kFew, 1}, OUTPUT)));
    (*op).BindInputs(in).BindOutput(results.back());
    return results.back();
  }

  std::vector<std::vector<float>> Run(int run) {
    std::vector<float> values(kFew);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>((i * 7 + run) % 13) / 4;
    }
    testing::Write(input, values);
    std::vector<float> others(size_t{kFew} * kMany);
    for (size_t i = 0; i < others.size(); ++i) {
      others[i] = static_cast<float>((i + run) % 101) / 64;
    }
    testing::Write(many, others);
    EXPECT_TRUE(graph->Run()) << graph->ErrorMessage();
    std::vector<std::vector<float>> all;
    for (const auto& result : results) all.push_back(testing::Read(result));
    return all;
  }

  std::shared_ptr<Graph> graph;
  std::shared_ptr<Tensor> input;
  std::shared_ptr<Tensor> many;
  std::vector<std::shared_ptr<Tensor>> results;
};

TEST_F(ChainedKernels, LaunchesOfOneGroupBetweenLargeOnesGiveTheSameBits) {
  FewAndMany chained(*chained_);
  FewAndMany single(*single_);
  for (int run = 0; run < 100; ++run) {
    ASSERT_EQ(chained.Run(run), single.Run(run)) << run;
  }
  EXPECT_GT(device_->chained(), 10u);
}

}  // namespace
}  // namespace tim::vx
