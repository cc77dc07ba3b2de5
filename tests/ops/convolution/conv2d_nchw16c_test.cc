#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/support/data/conv2d_attributes.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {
using ir::AttributeMap;
using ir::DataType;
using ir::TensorDesc;
using ::testing::ElementsAre;
using ::testing::Lt;
using ::testing::ResultOf;
using Ints = std::vector<int64_t>;

constexpr char kKernel[] = "conv2d_nchw16c";
constexpr Tolerance kTolerance = {1e-4, 1e-5};
TIM_FOR_CPU_KERNELS();

struct Config {
  Ints input;   // W, H, C, N
  Ints kernel;  // W, H, Oc
  int64_t padding = 0;
  Ints pad = {0, 0, 0, 0};
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
    return F32({kernel[0], kernel[1], input[2], kernel[2]});
  }
};

Result<TestNode> NodeOf(const Config& config, std::mt19937& rng) {
  std::vector<std::optional<TensorDesc>> inputs = {F32(config.input),
                                                   config.weights()};
  if (config.bias) inputs.push_back(F32({config.kernel[2]}));
  return MakeNode("tim.Conv2d", config.attributes(), inputs, {Inferred()},
                  {{1, RandomTensor(config.weights(), rng)}});
}

// A launch whose tiles go through this many of their input blocks together.
auto HasChunk(const ::testing::Matcher<int32_t>& chunk) {
  return ResultOf(
      [](const ir::KernelLaunch& launch) {
        return std::get<int32_t>(launch.arguments.back());
      },
      chunk);
}

// The blocked kernel in each of its layouts against eval, twice.
void Check(const TestNode& node, int layouts, std::mt19937& rng,
           const ir::DeviceInfo& device = TestDevice()) {
  ASSERT_OK(Supports(node, kKernel));
  ASSERT_EQ(LayoutCount(node, kKernel), layouts);
  for (int run = 0; run < 2; ++run) {
    const std::vector<TensorData> inputs = RandomInputs(node, rng);
    const auto expected = Eval(node, inputs);
    ASSERT_OK(expected);
    for (int layout = 0; layout < layouts; ++layout) {
      const auto actual = RunKernel(node, kKernel, layout, inputs, device);
      ASSERT_OK(actual);
      EXPECT_OK(CompareTensors((*expected)[0], (*actual)[0], kTolerance));
    }
  }
}

TEST(Conv2dNchw16c, ChannelTails) {
  std::mt19937 rng = SeededRng(1);
  Sample sample(4);
  for (const int64_t ic : {1, 3, 15, 16, 17, 31, 32, 33}) {
    for (const int64_t oc : {1, 15, 16, 17, 31, 32, 33, 48, 65}) {
      if (!sample.Takes()) continue;
      SCOPED_TRACE(ic * 1000 + oc);
      const auto node = NodeOf(
          {.input = {9, 5, ic, 2}, .kernel = {3, 3, oc}, .padding = 2}, rng);
      ASSERT_OK(node);
      Check(*node, ic < 16 ? 2 : 1, rng);
    }
  }
}

TEST(Conv2dNchw16c, RowWidths) {
  std::mt19937 rng = SeededRng(2);
  for (const int64_t width : {1, 2, 3, 5, 6, 7, 12, 13, 14, 15, 28, 31, 33}) {
    SCOPED_TRACE(width);
    const auto node = NodeOf(
        {.input = {width, 3, 16, 1}, .kernel = {3, 3, 32}, .padding = 2}, rng);
    ASSERT_OK(node);
    Check(*node, 1, rng);
  }
}

// Tiles of a narrow image have two rows.
TEST(Conv2dNchw16c, NarrowImages) {
  std::mt19937 rng = SeededRng(12);
  Sample sample(7);
  for (const int64_t width : {1, 3, 7, 8}) {
    for (const int64_t height : {1, 2, 3, 7}) {
      for (const int64_t kernel : {1, 3}) {
        for (const int64_t stride : {1, 2}) {
          if (!sample.Takes()) continue;
          SCOPED_TRACE(StrCat(width, "x", height, ", kernel ", kernel,
                              ", stride ", stride));
          const auto node =
              NodeOf({.input = {width * stride, height * stride, 17, 2},
                      .kernel = {kernel, kernel, 33},
                      .padding = 2,
                      .stride = {stride, stride}},
                     rng);
          ASSERT_OK(node);
          Check(*node, 1, rng);
        }
      }
    }
  }
}

// One of the two rows of a tile may lie outside of the image alone.
TEST(Conv2dNchw16c, RowsOfPadding) {
  std::mt19937 rng = SeededRng(13);
  for (const Ints& kernel : {Ints{1, 1, 16}, Ints{1, 3, 16}, Ints{3, 1, 16}}) {
    for (const int64_t pad : {1, 2, 3}) {
      const auto node = NodeOf({.input = {5, 4, 16, 1},
                                .kernel = kernel,
                                .pad = {0, 0, pad, 3 - pad}},
                               rng);
      ASSERT_OK(node);
      Check(*node, 1, rng);
    }
  }
}

TEST(Conv2dNchw16c, TilesOfEveryVectorWidth) {
  std::mt19937 rng = SeededRng(14);
  Sample sample(5);
  for (const int lanes : {4, 8, 16}) {
    const ir::DeviceInfo device = TestDeviceOfLanes(lanes);
    for (const int64_t width : {3, 14, 17}) {
      for (const int64_t oc : {20, 37}) {
        if (!sample.Takes()) continue;
        SCOPED_TRACE(StrCat(lanes, " lanes, width ", width, ", to ", oc));
        const auto node = NodeOf(
            {.input = {width, 5, 20, 1}, .kernel = {3, 3, oc}, .padding = 2},
            rng);
        ASSERT_OK(node);
        Check(*node, 1, rng, device);
      }
    }
  }
}

// Where there are more weights than pixels, sums of some tiles are kept while
// they share weights: several chunks of input blocks, the last one smaller, and
// items of unequal numbers of tiles.
TEST(Conv2dNchw16c, KeptSums) {
  std::mt19937 rng = SeededRng(15);
  ir::DeviceInfo device = TestDevice();
  device.compute_units = 1;
  for (const int64_t lanes : {4, 8, 16}) {
    device.float_vector_width = static_cast<int>(lanes);
    for (const Config& config :
         {Config{.input = {7, 7, 56, 1}, .kernel = {3, 3, 96}, .padding = 2},
          Config{.input = {14, 13, 56, 2},
          .kernel = {3, 3, 100},
          .padding = 1,
          .stride = {2, 2}},
          Config{.input = {9, 9, 530, 1}, .kernel = {1, 1, 200}}}) {
      SCOPED_TRACE(StrCat(lanes, " lanes, kernel ", config.kernel[0]));
      const auto node = NodeOf(config, rng);
      ASSERT_OK(node);
      const auto launches = LaunchesOf(*node, kKernel, device);
      ASSERT_OK(launches);
      const auto blocks = static_cast<int32_t>((config.input[2] + 15) / 16);
      EXPECT_THAT(*launches, ElementsAre(HasChunk(Lt(blocks))));
      Check(*node, 1, rng, device);
    }
  }
}

// Where there are more pixels than weights, the weights stay in a cache anyway;
// with few tiles for many workers there is nothing to keep.
TEST(Conv2dNchw16c, KeepsNoSumsInVain) {
  std::mt19937 rng = SeededRng(16);
  ir::DeviceInfo device = TestDevice();
  device.compute_units = 1;
  const auto large =
      NodeOf({.input = {40, 40, 64, 1}, .kernel = {3, 3, 64}}, rng);
  const auto small =
      NodeOf({.input = {7, 7, 56, 1}, .kernel = {3, 3, 64}}, rng);
  const auto one_tile =
      NodeOf({.input = {1, 1, 2048, 1}, .kernel = {1, 1, 1000}}, rng);
  ASSERT_OK(large);
  ASSERT_OK(small);
  ASSERT_OK(one_tile);
  const auto pixels = LaunchesOf(*large, kKernel, device);
  ASSERT_OK(pixels);
  EXPECT_THAT(*pixels, ElementsAre(HasChunk(4)));
  const auto alone = LaunchesOf(*one_tile, kKernel, device);
  ASSERT_OK(alone);
  EXPECT_THAT(*alone, ElementsAre(HasChunk(128)));
  const auto few_workers = LaunchesOf(*small, kKernel, device);
  ASSERT_OK(few_workers);
  EXPECT_THAT(*few_workers, ElementsAre(HasChunk(Lt(4))));
  device.compute_units = 64;
  const auto many_workers = LaunchesOf(*small, kKernel, device);
  ASSERT_OK(many_workers);
  EXPECT_THAT(*many_workers, ElementsAre(HasChunk(4)));
}

// Workers share the weights only where these are many times the pixels.
TEST(Conv2dNchw16c, SharesPlaces) {
  std::mt19937 rng = SeededRng(17);
  const std::pair<Config, bool> cases[] = {
      {{.input = {40, 40, 16, 1}, .kernel = {3, 3, 64}}, true},
      {{.input = {14, 14, 256, 1}, .kernel = {1, 1, 1024}}, true},
      {{.input = {7, 7, 512, 1}, .kernel = {1, 1, 2048}}, false}};
  for (const auto& [config, shares] : cases) {
    SCOPED_TRACE(config.kernel[2]);
    const auto node = NodeOf(config, rng);
    ASSERT_OK(node);
    const auto launches = LaunchesOf(*node, kKernel, TestDevice());
    ASSERT_OK(launches);
    ASSERT_EQ(launches->size(), 1u);
    EXPECT_EQ(launches->front().spatial_partition, shares);
  }
}

TEST(Conv2dNchw16c, PointwiseImagesAreOneRow) {
  std::mt19937 rng = SeededRng(3);
  for (const Ints& image : {Ints{7, 7}, Ints{1, 1}, Ints{5, 3}, Ints{1, 31}}) {
    for (const int64_t oc : {17, 144}) {
      const auto node = NodeOf(
          {.input = {image[0], image[1], 33, 2}, .kernel = {1, 1, oc}}, rng);
      ASSERT_OK(node);
      Check(*node, 1, rng);
    }
  }
}

// The same program, where few pixels are kept of a row.
TEST(Conv2dNchw16c, ColumnsAreRows) {
  std::mt19937 rng = SeededRng(18);
  for (const int64_t dilation : {2, 64}) {
    const Config column = {.input = {1, 300, 20, 2},
                           .kernel = {1, 3, 33},
                           .dilation = {1, dilation}};
    const Config row = {.input = {300, 1, 20, 2},
                        .kernel = {3, 1, 33},
                        .dilation = {dilation, 1}};
    const auto node = NodeOf(column, rng);
    Check(*node, 1, rng);
    if (dilation > 2) continue;
    EXPECT_EQ(
        LaunchesOf(*node, kKernel, TestDevice())->front().options,
        LaunchesOf(*NodeOf(row, rng), kKernel, TestDevice())->front().options);
  }
}

TEST(Conv2dNchw16c, StridesPadsAndDilations) {
  std::mt19937 rng = SeededRng(4);
  const auto small = [&](int64_t limit) {
    return static_cast<int64_t>(rng() % limit);
  };
  int checked = 0;
  while (checked < (RunsLongTests() ? 25 : 5)) {
    const Config config = {
        .input = {1 + small(40), 1 + small(9), 1 + small(20), 1 + small(2)},
        .kernel = {1 + small(7), 1 + small(5), 1 + small(40)},
        .padding = small(4) - 1,
        .pad = {small(5), small(5), small(5), small(5)},
        .stride = {1 + small(3), 1 + small(3)},
        .dilation = {small(4), small(3)},
        .bias = small(2) == 0};
    const auto node = NodeOf(config, rng);
    if (!node.ok()) continue;  // The kernel does not fit the input.
    SCOPED_TRACE(config.attributes().ToString() + " " +
                 node->input(0).ToString() + " " + node->input(1).ToString());
    if (!Supports(*node, kKernel).ok()) continue;  // The span is too large.
    Check(*node, config.input[2] < 16 ? 2 : 1, rng);
    ++checked;
  }
}

TEST(Conv2dNchw16c, DeclaredExtents) {
  std::mt19937 rng = SeededRng(5);
  for (const Ints& output : {Ints{20, 2}, Ints{3, 9}, Ints{1, 1}}) {
    const TensorDesc weights = F32({3, 3, 4, 20});
    const auto node = MakeNode("tim.Conv2d", {}, {F32({8, 5, 4, 1}), weights},
                               {F32({output[0], output[1], 20, 1})},
                               {{1, RandomTensor(weights, rng)}});
    ASSERT_OK(node);
    Check(*node, 2, rng);
  }
}

TEST(Conv2dNchw16c, TailLanesAreZeroForInfiniteInputs) {
  std::mt19937 rng = SeededRng(6);
  const auto node =
      NodeOf({.input = {4, 4, 3, 1}, .kernel = {1, 1, 5}, .bias = false}, rng);
  ASSERT_OK(node);
  std::vector<float> values(48, std::numeric_limits<float>::infinity());
  const std::vector<TensorData> inputs = {
      MakeTensor(F32({4, 4, 3, 1}), values)};
  // The runner fails where a tail lane is not 0.
  for (int layout = 0; layout < 2; ++layout) {
    EXPECT_OK(RunKernel(*node, kKernel, layout, inputs));
  }
}

TEST(Conv2dNchw16c, FusedEpilogues) {
  std::mt19937 rng = SeededRng(7);
  const TensorDesc output = F32({9, 6, 20, 2});
  for (const bool bias : {false, true}) {
    for (const bool add : {false, true}) {
      for (const char* activation : {"", "tim.Relu", "tim.Relu6"}) {
        SCOPED_TRACE(StrCat(bias, " ", add, " ", activation));
        auto node = NodeOf({.input = {9, 6, 5, 2},
                            .kernel = {3, 3, 20},
                            .padding = 2,
                            .bias = bias},
                           rng);
        ASSERT_OK(node);
        if (add) node = Fuse(*node, "tim.Add", {}, {F32({1, 1, 20})}, output);
        ASSERT_OK(node);
        if (*activation != '\0') node = Fuse(*node, activation, {}, {}, output);
        ASSERT_OK(node);
        Check(*node, 2, rng);
      }
    }
  }
}

TEST(Conv2dNchw16c, FusedResiduals) {
  std::mt19937 rng = SeededRng(10);
  const TensorDesc output = F32({9, 6, 37, 2});
  for (const bool add : {false, true}) {
    for (const bool relu : {false, true}) {
      SCOPED_TRACE(StrCat(add, " ", relu));
      auto node = NodeOf(
          {.input = {9, 6, 20, 2}, .kernel = {3, 3, 37}, .padding = 2}, rng);
      ASSERT_OK(node);
      if (add) node = Fuse(*node, "tim.Add", {}, {F32({1, 1, 37})}, output);
      ASSERT_OK(node);
      node = Fuse(*node, "tim.Add", {}, {output}, output);
      ASSERT_OK(node);
      if (relu) node = Fuse(*node, "tim.Relu", {}, {}, output);
      ASSERT_OK(node);
      Check(*node, 1, rng);
    }
  }
}

// Rows of a dense input of few channels may be long, as where images are cut
// into patches.
TEST(Conv2dNchw16c, Patches) {
  std::mt19937 rng = SeededRng(18);
  for (const int64_t size : {14, 16}) {
    SCOPED_TRACE(size);
    const auto node = NodeOf({.input = {size * 14, size * 2, 1, 1},
                              .kernel = {size, size, 40},
                              .padding = 1,
                              .stride = {size, size}},
                             rng);
    ASSERT_OK(node);
    // Blocks fit too where vectors, and so tiles, are short.
    Check(*node, LayoutCount(*node, kKernel), rng);
  }
}

TEST(Conv2dNchw16c, RefusesTwoResiduals) {
  std::mt19937 rng = SeededRng(11);
  const TensorDesc output = F32({4, 4, 5, 1});
  auto node = NodeOf({.input = {4, 4, 3, 1}, .kernel = {1, 1, 5}}, rng);
  node = Fuse(*node, "tim.Add", {}, {output}, output);
  node = Fuse(*node, "tim.Add", {}, {output}, output);
  ASSERT_OK(node);
  EXPECT_ERROR(Supports(*node, kKernel), "a fused Add must have one value");
}

TEST(Conv2dNchw16c, RefusesWithReason) {
  std::mt19937 rng = SeededRng(8);
  const auto refusal = [](const Result<TestNode>& node) {
    EXPECT_OK(node);
    return Supports(*node, kKernel);
  };
  const TensorDesc weights = F32({1, 1, 4, 4});
  const TensorData data = RandomTensor(weights, rng);
  const TensorDesc input = F32({3, 3, 4, 1});
  EXPECT_ERROR(refusal(MakeNode("tim.Conv2d", {}, {input, weights},
                                {Inferred(DataType::kFloat16)}, {{1, data}})),
               "must be float32, not float16");
  EXPECT_ERROR(refusal(MakeNode("tim.Conv2d", {}, {F32({3, 3, 8, 1}), weights},
                                {Inferred()}, {{1, data}})),
               "several groups of 4 and 2 channels, both must be multiples");
  EXPECT_ERROR(
      refusal(NodeOf(
          {.input = {300, 1, 16, 1}, .kernel = {4, 1, 1}, .dilation = {50, 1}},
          rng)),
      "at most 128 are kept");
  EXPECT_ERROR(
      refusal(NodeOf(
          {.input = {2400, 1, 1, 1}, .kernel = {4, 1, 1}, .dilation = {700, 1}},
          rng)),
      "at most 2048 are kept");
  // A 1x1 kernel copies nothing, however large its stride.
  EXPECT_OK(refusal(
      NodeOf({.input = {300, 1, 16, 1}, .kernel = {1, 1, 1}, .stride = {40, 1}},
             rng)));
  const auto plain = NodeOf({.input = {3, 3, 4, 1}, .kernel = {1, 1, 4}}, rng);
  ASSERT_OK(plain);
  EXPECT_ERROR(Supports(*plain, kKernel, TestDevice(ir::DeviceClass::kGpu)),
               "for CPU devices; this one takes kernels of class gpu");
}

TEST(Conv2dNchw16c, RefusesForeignEpilogues) {
  std::mt19937 rng = SeededRng(9);
  const Config config = {.input = {4, 4, 3, 1}, .kernel = {1, 1, 5}};
  const TensorDesc output = F32({4, 4, 5, 1});
  const auto plain = NodeOf(config, rng);
  ASSERT_OK(plain);
  const auto per_pixel = Fuse(*plain, "tim.Add", {}, {F32({4})}, output);
  ASSERT_OK(per_pixel);
  EXPECT_ERROR(Supports(*per_pixel, kKernel), "one value for each channel");
  const auto twice = Fuse(*Fuse(*plain, "tim.Relu", {}, {}, output),
                          "tim.Relu6", {}, {}, output);
  ASSERT_OK(twice);
  EXPECT_ERROR(Supports(*twice, kKernel), "a fused Relu6 at this place");
  const auto convolution =
      Fuse(*plain, "tim.Conv2d", {}, {F32({1, 1, 5, 5})}, output);
  ASSERT_OK(convolution);
  EXPECT_ERROR(Supports(*convolution, kKernel),
               "a fused Conv2d, which has no formula");
}

}  // namespace
}  // namespace tim::testing
