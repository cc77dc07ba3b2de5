#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tests/support/child_process.h"
#include "tests/support/data/conv2d_attributes.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/ops.h"
#include "vx/graph/graph_impl.h"

namespace tim::testing {
namespace {

TIM_FOR_CPU_KERNELS();

using ir::AttributeMap;
using ir::DataType;
using ir::TensorDesc;
using Ints = std::vector<int64_t>;

constexpr char kKernel[] = "conv2d_winograd_nchw16c";
// Of conv2d_winograd_nchw16c.cc, in units of 2^-24 * max sum |x w|.
constexpr double kBoundOf4x4 = 10;
constexpr double kBoundOf2x2 = 2.5;
// The same for sums in the order of the formula, as eval makes them.
constexpr double kBoundOfEval = 5;
const double kUnit = std::ldexp(1.0, -24);

struct Config {
  Ints input;  // W, H, C, N
  int64_t out_channels = 1;
  int64_t padding = 2;  // SAME
  Ints pad = {0, 0, 0, 0};
  Ints kernel = {3, 3};
  Ints stride = {1, 1};
  Ints dilation = {1, 1};
  bool bias = true;

  AttributeMap attributes() const {
    return {{"padding", padding},
            {"pad", pad},
            {"stride", stride},
            {"dilation", dilation}};
  }
  TensorDesc weights() const {
    return F32({kernel[0], kernel[1], input[2], out_channels});
  }
};

Result<TestNode> NodeOf(const Config& config, const TensorData& weights) {
  std::vector<std::optional<TensorDesc>> inputs = {F32(config.input),
                                                   config.weights()};
  if (config.bias) inputs.push_back(F32({config.out_channels}));
  return MakeNode("tim.Conv2d", config.attributes(), inputs, {Inferred()},
                  {{1, weights}});
}

Result<TestNode> NodeOf(const Config& config, std::mt19937& rng) {
  return NodeOf(config, RandomTensor(config.weights(), rng));
}

TensorData Absolute(const TensorData& tensor) {
  std::vector<float> values;
  for (const double value : RealValues(tensor)) {
    values.push_back(static_cast<float>(std::abs(value)));
  }
  return MakeTensor(tensor.desc, values);
}

// max sum |x w|.
double MaxTerms(const TensorData& x, const TensorData& weights) {
  const auto node = MakeNode("tim.Conv2d", {{"padding", int64_t{2}}},
                             {x.desc, weights.desc}, {Inferred()});
  EXPECT_OK(node);
  const auto sums = Eval(*node, {Absolute(x), Absolute(weights)});
  EXPECT_OK(sums);
  const std::vector<double> values = RealValues((*sums)[0]);
  return *std::max_element(values.begin(), values.end());
}

// The kernel against eval, twice.
void Check(const Result<TestNode>& node, const TensorData& weights,
           std::mt19937& rng, const ir::DeviceInfo& device = TestDevice()) {
  ASSERT_OK(node);
  ASSERT_OK(Supports(*node, kKernel));
  ASSERT_EQ(LayoutCount(*node, kKernel), 1);
  for (int run = 0; run < 2; ++run) {
    const std::vector<TensorData> inputs = RandomInputs(*node, rng);
    const auto expected = Eval(*node, inputs);
    const auto actual = RunKernel(*node, kKernel, 0, inputs, device);
    ASSERT_OK(expected);
    ASSERT_OK(actual);
    const Tolerance tolerance = {
        .absolute =
            (kBoundOf4x4 + kBoundOfEval) * kUnit * MaxTerms(inputs[0], weights),
        .relative = 1e-6};
    EXPECT_OK(CompareTensors((*expected)[0], (*actual)[0], tolerance));
  }
}

void Check(const Config& config, std::mt19937& rng,
           const ir::DeviceInfo& device = TestDevice()) {
  const TensorData weights = RandomTensor(config.weights(), rng);
  Check(NodeOf(config, weights), weights, rng, device);
}

TEST(Conv2dWinogradNchw16c, ChannelTails) {
  std::mt19937 rng = SeededRng(1);
  Sample sample(4);
  for (const int64_t ic : {16, 17, 31, 32, 33}) {
    for (const int64_t oc : {1, 15, 16, 17, 31, 32, 33, 48, 65}) {
      if (!sample.Takes()) continue;
      SCOPED_TRACE(StrCat(ic, " to ", oc));
      Check({.input = {9, 5, ic, 2}, .out_channels = oc}, rng);
    }
  }
}

TEST(Conv2dWinogradNchw16c, ImagesThatTilesDoNotFill) {
  std::mt19937 rng = SeededRng(2);
  for (const int64_t extent : {1, 2, 3, 5, 13, 14, 31, 33}) {
    for (const Ints& image : {Ints{extent, 6}, Ints{7, extent}}) {
      SCOPED_TRACE(StrCat(image[0], " x ", image[1]));
      Check({.input = {image[0], image[1], 16, 1}, .out_channels = 32}, rng);
    }
  }
}

TEST(Conv2dWinogradNchw16c, TilesOfNarrowerVectors) {
  std::mt19937 rng = SeededRng(14);
  for (const int lanes : {4, 8}) {
    const ir::DeviceInfo device = TestDeviceOfLanes(lanes);
    for (const int64_t width : {3, 14, 17}) {
      SCOPED_TRACE(StrCat(lanes, " lanes, width ", width));
      Check({.input = {width, 5, 20, 1}, .out_channels = 37}, rng, device);
    }
  }
}

TEST(Conv2dWinogradNchw16c, PadsOfEverySide) {
  std::mt19937 rng = SeededRng(3);
  Check({.input = {9, 7, 20, 2}, .out_channels = 20, .padding = kValid}, rng);
  for (const Ints& pad : {Ints{0, 0, 0, 0}, Ints{1, 0, 0, 0}, Ints{0, 1, 0, 0},
                          Ints{0, 0, 1, 0}, Ints{0, 0, 0, 1}, Ints{2, 0, 1, 3},
                          Ints{0, 5, 4, 1}, Ints{9, 8, 7, 6}}) {
    SCOPED_TRACE(StrCat(pad[0], " ", pad[1], " ", pad[2], " ", pad[3]));
    Check({.input = {6, 11, 20, 2},
           .out_channels = 20,
           .padding = kAuto,
           .pad = pad},
          rng);
  }
}

TEST(Conv2dWinogradNchw16c, RandomShapes) {
  std::mt19937 rng = SeededRng(4);
  const auto small = [&](int64_t limit) {
    return static_cast<int64_t>(rng() % limit);
  };
  const int cases = RunsLongTests() ? 12 : 5;
  for (int i = 0; i < cases; ++i) {
    const Config config = {
        .input = {1 + small(40), 1 + small(40), 16 + small(60), 1 + small(3)},
        .out_channels = 1 + small(70),
        .padding = small(2) * 2,
        .pad = {1 + small(4), 1 + small(4), 1 + small(4), 1 + small(4)},
        .bias = small(2) == 0};
    SCOPED_TRACE(StrCat(config.attributes().ToString(), " ",
                        F32(config.input).ToString(), " ",
                        config.out_channels));
    Check(config, rng);
  }
}

TEST(Conv2dWinogradNchw16c, DeclaredExtents) {
  std::mt19937 rng = SeededRng(5);
  for (const Ints& output : {Ints{20, 2}, Ints{3, 9}, Ints{1, 1}}) {
    const TensorData weights = RandomTensor(F32({3, 3, 16, 20}), rng);
    Check(MakeNode("tim.Conv2d", {}, {F32({8, 5, 16, 1}), weights.desc},
                   {F32({output[0], output[1], 20, 1})}, {{1, weights}}),
          weights, rng);
  }
}

// More transformed input than is kept at a time.
TEST(Conv2dWinogradNchw16c, SeveralRounds) {
  std::mt19937 rng = SeededRng(6);
  Check({.input = {121, 111, 90, 2}, .out_channels = 7}, rng);
}

TEST(Conv2dWinogradNchw16c, FusedEpilogues) {
  std::mt19937 rng = SeededRng(7);
  Sample sample(5);
  const TensorDesc output = F32({9, 6, 37, 2});
  for (const bool bias : {false, true}) {
    for (const bool add : {false, true}) {
      for (const bool residual : {false, true}) {
        for (const char* activation : {"", "tim.Relu", "tim.Relu6"}) {
          if (!sample.Takes()) continue;
          SCOPED_TRACE(StrCat(bias, " ", add, " ", residual, " ", activation));
          const Config config = {
              .input = {9, 6, 20, 2}, .out_channels = 37, .bias = bias};
          const TensorData weights = RandomTensor(config.weights(), rng);
          auto node = NodeOf(config, weights);
          ASSERT_OK(node);
          if (add) node = Fuse(*node, "tim.Add", {}, {F32({1, 1, 37})}, output);
          ASSERT_OK(node);
          if (residual) node = Fuse(*node, "tim.Add", {}, {output}, output);
          ASSERT_OK(node);
          if (*activation != '\0') {
            node = Fuse(*node, activation, {}, {}, output);
          }
          Check(node, weights, rng);
        }
      }
    }
  }
}

TEST(Conv2dWinogradNchw16c, TailLanesAreZeroForInfiniteInputs) {
  std::mt19937 rng = SeededRng(8);
  const auto node = NodeOf({.input = {4, 4, 16, 1}, .out_channels = 5}, rng);
  ASSERT_OK(node);
  std::vector<float> values(256, std::numeric_limits<float>::infinity());
  std::vector<TensorData> inputs = RandomInputs(*node, rng);
  inputs[0] = MakeTensor(F32({4, 4, 16, 1}), values);
  // The runner fails where a tail lane is not 0.
  EXPECT_OK(RunKernel(*node, kKernel, 0, inputs));
}

// The sum of one output in double and that of the terms' absolute values.
struct Sum {
  double value = 0;
  double terms = 0;
};

Sum SumAt(const Config& config, const std::vector<double>& x,
          const std::vector<double>& w, int64_t out_x, int64_t out_y,
          int64_t oc) {
  const int64_t width = config.input[0], height = config.input[1];
  const int64_t channels = config.input[2];
  Sum sum;
  for (int64_t ic = 0; ic < channels; ++ic) {
    for (int64_t tap = 0; tap < 9; ++tap) {
      const int64_t in_x = out_x + tap % 3 - 1;
      const int64_t in_y = out_y + tap / 3 - 1;
      if (in_x < 0 || in_x >= width || in_y < 0 || in_y >= height) continue;
      const double term = x[(ic * height + in_y) * width + in_x] *
                          w[(oc * channels + ic) * 9 + tap];
      sum.value += term;
      sum.terms += std::abs(term);
    }
  }
  return sum;
}

// max |error| / (2^-24 * max sum |x w|) for SAME pads.
double ErrorOf(const Config& config, const TensorData& x,
               const TensorData& weights) {
  const auto node = NodeOf(config, weights);
  EXPECT_OK(node);
  const auto actual = RunKernel(*node, kKernel, 0, {x});
  EXPECT_OK(actual);
  const std::vector<double> y = RealValues((*actual)[0]);
  const std::vector<double> x_values = RealValues(x);
  const std::vector<double> w_values = RealValues(weights);
  double error = 0;
  double terms = 0;
  size_t i = 0;
  for (int64_t oc = 0; oc < config.out_channels; ++oc) {
    for (int64_t out_y = 0; out_y < config.input[1]; ++out_y) {
      for (int64_t out_x = 0; out_x < config.input[0]; ++out_x, ++i) {
        const Sum sum = SumAt(config, x_values, w_values, out_x, out_y, oc);
        error = std::max(error, std::abs(sum.value - y[i]));
        terms = std::max(terms, sum.terms);
      }
    }
  }
  EXPECT_EQ(i, y.size());
  return error / (kUnit * terms);
}

// 16x16 outputs are made of tiles of 4x4, 6x6 of tiles of 2x2.
TEST(Conv2dWinogradNchw16c, ErrorIsWithinItsBound) {
  std::mt19937 rng = SeededRng(9);
  for (const int64_t channels : {16, 33, 64, 256, 512}) {
    SCOPED_TRACE(channels);
    Config config = {
        .input = {16, 16, channels, 1}, .out_channels = 17, .bias = false};
    const TensorData weights = RandomTensor(config.weights(), rng);
    const TensorData large = RandomTensor(F32(config.input), rng);
    EXPECT_LE(ErrorOf(config, large, weights), kBoundOf4x4);
    EXPECT_LE(ErrorOf(config, Absolute(large), weights), kBoundOf4x4);
    config.input = {6, 6, channels, 1};
    const TensorData small = RandomTensor(F32(config.input), rng);
    EXPECT_LE(ErrorOf(config, small, weights), kBoundOf2x2);
    EXPECT_LE(ErrorOf(config, Absolute(small), weights), kBoundOf2x2);
  }
}

TEST(Conv2dWinogradNchw16c, RefusesOtherKernels) {
  std::mt19937 rng = SeededRng(10);
  const Config base = {.input = {9, 9, 16, 1}, .out_channels = 5};
  const auto refusal = [&](Ints Config::*member, const Ints& value) {
    Config config = base;
    config.*member = value;
    const auto node = NodeOf(config, rng);
    EXPECT_OK(node);
    return Supports(*node, kKernel);
  };
  EXPECT_ERROR(refusal(&Config::kernel, {1, 3}),
               "the kernel is 1 along W, expected 3");
  EXPECT_ERROR(refusal(&Config::kernel, {3, 5}),
               "the kernel is 5 along H, expected 3");
  EXPECT_ERROR(refusal(&Config::stride, {2, 1}),
               "the stride is 2 along W, expected 1");
  EXPECT_ERROR(refusal(&Config::stride, {1, 2}),
               "the stride is 2 along H, expected 1");
  EXPECT_ERROR(refusal(&Config::dilation, {2, 1}),
               "the dilation is 2 along W, expected 1");
  EXPECT_ERROR(refusal(&Config::dilation, {1, 2}),
               "the dilation is 2 along H, expected 1");
  EXPECT_ERROR(refusal(&Config::input, {9, 9, 15, 1}),
               "15 input channels, at least 16 fill a block");
}

TEST(Conv2dWinogradNchw16c, RefusesOtherOperands) {
  std::mt19937 rng = SeededRng(11);
  const auto refusal = [](const Result<TestNode>& node) {
    EXPECT_OK(node);
    return Supports(*node, kKernel);
  };
  const TensorDesc weights = F32({3, 3, 4, 4});
  const TensorData data = RandomTensor(weights, rng);
  const TensorDesc input = F32({5, 5, 4, 1});
  EXPECT_ERROR(
      refusal(MakeNode("tim.Conv2d", {}, {input, weights}, {Inferred()})),
      "the weights are not constant");
  EXPECT_ERROR(refusal(MakeNode("tim.Conv2d", {}, {input, weights},
                                {Inferred(DataType::kFloat16)}, {{1, data}})),
               "must be float32, not float16");
  EXPECT_ERROR(refusal(MakeNode("tim.Conv2d", {}, {F32({5, 5, 8, 1}), weights},
                                {Inferred()}, {{1, data}})),
               "one group only, not 2");
}

TEST(Conv2dWinogradNchw16c, RefusesWhatIsTooLarge) {
  std::mt19937 rng = SeededRng(15);
  const auto wide =
      NodeOf({.input = {8193, 8192, 16, 1}, .out_channels = 5}, rng);
  ASSERT_OK(wide);
  EXPECT_ERROR(Supports(*wide, kKernel), "is too large for 32-bit positions");
  // 36 * 16 floats of weights for each input channel.
  const Config config = {
      .input = {1, 1, 3750000, 1}, .padding = 0, .pad = {8, 8, 8, 8}};
  const TensorData zeros = {config.weights(),
                            std::vector<std::byte>(size_t{36} * 3750000)};
  const auto deep = NodeOf(config, zeros);
  ASSERT_OK(deep);
  // A device so slow that the larger tiles are worth their weights.
  ir::DeviceInfo slow = TestDevice();
  slow.gflops = 0.01;
  EXPECT_ERROR(Supports(*deep, kKernel, slow),
               "of 3750000 input channels does not fit 32-bit positions");
}

TEST(Conv2dWinogradNchw16c, RefusesForeignEpilogues) {
  std::mt19937 rng = SeededRng(12);
  const auto plain = NodeOf({.input = {4, 4, 16, 1}, .out_channels = 5}, rng);
  ASSERT_OK(plain);
  const auto per_pixel =
      Fuse(*plain, "tim.Add", {}, {F32({4})}, F32({4, 4, 5, 1}));
  ASSERT_OK(per_pixel);
  EXPECT_ERROR(Supports(*per_pixel, kKernel), "one value for each channel");
}

TEST(Conv2dWinogradNchw16c, RefusesGpus) {
  std::mt19937 rng = SeededRng(13);
  const auto node = NodeOf({.input = {4, 4, 16, 1}, .out_channels = 5}, rng);
  ASSERT_OK(node);
  EXPECT_ERROR(Supports(*node, kKernel, TestDevice(ir::DeviceClass::kGpu)),
               "for CPU devices; this one takes kernels of class gpu");
}

TEST(Conv2dWinogradNchw16c, RefusesWhereTheOptionIsOff) {
  if (IsChild()) {
    std::mt19937 rng = SeededRng(14);
    const auto node = NodeOf({.input = {4, 4, 16, 1}, .out_channels = 5}, rng);
    ASSERT_OK(node);
    EXPECT_ERROR(Supports(*node, kKernel), "TIMCL_WINOGRAD");
    return;
  }
  const ChildResult child = RunAsChild({{"TIMCL_WINOGRAD", "0"}});
  EXPECT_EQ(child.exit_status, 0) << child.output;
}

// What was decided for a graph of one convolution.
std::string DecisionFor(uint32_t size, uint32_t in_channels,
                        uint32_t out_channels) {
  const auto graph = vx::Context::Create()->CreateGraph();
  const auto tensor = [&](const vx::ShapeType& shape,
                          vx::TensorAttribute attribute,
                          const void* data = nullptr) {
    return graph->CreateTensor(
        vx::TensorSpec(vx::DataType::FLOAT32, shape, attribute), data);
  };
  const std::vector<float> weights(size_t{9} * in_channels * out_channels, 1);
  graph
      ->CreateOperation<vx::ops::Conv2d>(vx::PadType::SAME,
                                         std::array<uint32_t, 2>{1, 1},
                                         std::array<uint32_t, 2>{1, 1})
      ->BindInputs({tensor({size, size, in_channels, 1}, vx::INPUT),
                    tensor({3, 3, in_channels, out_channels}, vx::CONSTANT,
                           weights.data())})
      .BindOutput(tensor({size, size, out_channels, 1}, vx::OUTPUT));
  EXPECT_TRUE(graph->Compile()) << graph->ErrorMessage();
  const ir::Plan* plan = vx::CompiledPlan(*graph);
  return plan == nullptr ? "" : plan->decisions.at(0).chosen;
}

TEST(Conv2dWinogradNchw16c, IsChosenWhereItIsFaster) {
  using ::testing::HasSubstr;
  constexpr char kWinograd[] = "opencl:conv2d_winograd_nchw16c ";
  constexpr char kDirect[] = "opencl:conv2d_nchw16c ";
  EXPECT_THAT(DecisionFor(56, 64, 64), HasSubstr(kWinograd));
  EXPECT_THAT(DecisionFor(28, 128, 128), HasSubstr(kWinograd));
  EXPECT_THAT(DecisionFor(4, 16, 16), HasSubstr(kDirect));
  EXPECT_THAT(DecisionFor(56, 3, 64), HasSubstr(kDirect));
}

}  // namespace
}  // namespace tim::testing
