// The kernel of DeConv2d in blocks of 16 channels, against eval.
#include <gtest/gtest.h>

#include "tests/ops/deconvolution/deconv_extents.h"
#include "tests/support/data/conv2d_attributes.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

TIM_FOR_CPU_KERNELS();

using ir::TensorDesc;
using Ints = std::vector<int64_t>;

constexpr const char* kKernel = "deconv_nchw16c";

Result<TestNode> NodeOf(const DeconvExtents& config, std::mt19937& rng,
                        bool bias = false) {
  const TensorDesc weights = F32(
      {config.kernel[0], config.kernel[1], config.input[2], config.kernel[2]});
  std::vector<std::optional<TensorDesc>> inputs = {F32(config.input), weights};
  if (bias) inputs.emplace_back(F32({config.kernel[2]}));
  TensorDesc output = Inferred();
  if (!config.declared.empty()) {
    output = F32({config.declared[0], config.declared[1], config.kernel[2],
                  config.input[3]});
  }
  return MakeNode("tim.DeConv2d",
                  {{"stride", config.stride}, {"pad", config.pad}}, inputs,
                  {output}, {{1, RandomTensor(weights, rng)}});
}

// For vectors of every width that tiles are made for.
void Check(const TestNode& node, std::mt19937& rng) {
  const auto inputs = RandomInputs(node, rng);
  const auto expected = Eval(node, inputs);
  ASSERT_OK(expected);
  ASSERT_EQ(LayoutCount(node, kKernel), 1);
  for (const int lanes : {4, 8, 16}) {
    SCOPED_TRACE(StrCat(lanes, " lanes"));
    const auto actual =
        RunKernel(node, kKernel, 0, inputs, TestDeviceOfLanes(lanes));
    ASSERT_OK(actual);
    EXPECT_OK(CompareTensors((*expected)[0], (*actual)[0], {1e-4, 1e-5}));
  }
}

void CheckAll(const std::vector<DeconvExtents>& all, bool bias = false) {
  for (const DeconvExtents& extents : all) {
    SCOPED_TRACE(extents.ToString());
    std::mt19937 rng = SeededRng(1);
    const auto node = NodeOf(extents, rng, bias);
    ASSERT_OK(node);
    Check(*node, rng);
  }
}

TEST(DeconvNchw16c, PhasesOfEveryStride) {
  CheckAll(PhasesOfEveryStride(), true);
}

TEST(DeconvNchw16c, TilesMoveBackIntoTheRow) { CheckAll(RowsOfManyWidths()); }

TEST(DeconvNchw16c, PadsMoveThePhases) { CheckAll(ManyPads()); }

TEST(DeconvNchw16c, NegativePads) { CheckAll(NegativePads(), true); }

TEST(DeconvNchw16c, DeclaredExtents) { CheckAll(DeclaredExtents(), true); }

TEST(DeconvNchw16c, FusedEpilogues) {
  std::mt19937 rng = SeededRng(7);
  Sample sample(5);
  for (const bool add : {false, true}) {
    for (const bool residual : {false, true}) {
      for (const char* activation : {"", "tim.Relu6", "tim.Sigmoid"}) {
        if (!sample.Takes()) continue;
        SCOPED_TRACE(StrCat(add, " ", residual, " ", activation));
        auto node = NodeOf({}, rng, true);
        ASSERT_OK(node);
        const TensorDesc output = node->output();
        if (add) node = Fuse(*node, "tim.Add", {}, {F32({1, 1, 37})}, output);
        ASSERT_OK(node);
        if (residual) node = Fuse(*node, "tim.Add", {}, {output}, output);
        ASSERT_OK(node);
        if (*activation != '\0') {
          node = Fuse(*node, activation, {}, {}, output);
        }
        ASSERT_OK(node);
        Check(*node, rng);
      }
    }
  }
}

// A pixel that two tiles make is stored by one of them.
TEST(DeconvNchw16c, ResidualsInPlace) {
  std::mt19937 rng = SeededRng(8);
  auto node = NodeOf({.input = {15, 3, 4, 1}, .kernel = {2, 2, 20}}, rng);
  ASSERT_OK(node);
  const TensorDesc output = node->output();
  node = Fuse(*node, "tim.Add", {}, {output}, output);
  ASSERT_OK(node);
  const auto pairs = InPlacePairs(*node, kKernel, 0);
  ASSERT_OK(pairs);
  ASSERT_EQ(pairs->size(), 1u);
  const auto inputs = RandomInputs(*node, rng);
  const auto apart = RunKernel(*node, kKernel, 0, inputs);
  const auto in_place = RunKernel(*node, kKernel, 0, inputs,
                                  KernelRun{.in_place = pairs->front()});
  ASSERT_OK(apart);
  ASSERT_OK(in_place);
  EXPECT_EQ((*apart)[0].bytes, (*in_place)[0].bytes);
}

TEST(DeconvNchw16c, GroupsOfWholeBlocks) {
  std::mt19937 rng = SeededRng(10);
  struct Case {
    int64_t groups;
    int64_t channels;
    int64_t outputs;
  };
  for (const auto& [groups, channels, outputs] :
       {Case{4, 16, 16}, Case{2, 48, 32}, Case{3, 32, 80}}) {
    SCOPED_TRACE(StrCat(groups, " groups of ", channels, " to ", outputs));
    const TensorDesc weights = F32({3, 4, channels, outputs * groups});
    const auto node = MakeNode(
        "tim.DeConv2d",
        {{"stride", Ints{2, 2}}, {"pad", Ints{1, 1, 1, 1}}, {"group", groups}},
        {F32({6, 3, channels * groups, 2}), weights, F32({outputs * groups})},
        {Inferred()}, {{1, RandomTensor(weights, rng)}});
    ASSERT_OK(node);
    Check(*node, rng);
  }
}

TEST(DeconvNchw16c, RefusesWithReason) {
  std::mt19937 rng = SeededRng(9);
  const TensorDesc input = F32({3, 3, 4, 1});
  const TensorDesc weights = F32({2, 2, 4, 4});
  const TensorDesc depthwise = F32({2, 2, 4, 1});
  const auto grouped =
      MakeNode("tim.DeConv2d", {{"group", int64_t{4}}}, {input, depthwise},
               {Inferred()}, {{1, RandomTensor(depthwise, rng)}});
  ASSERT_OK(grouped);
  EXPECT_ERROR(Supports(*grouped, kKernel),
               "several groups of 1 and 1 channels, both must be multiples");
  const auto wide = NodeOf({.input = {40, 1, 1, 1},
                            .kernel = {140, 1, 1},
                            .stride = {1, 1},
                            .pad = {0, 0, 0, 0}},
                           rng);
  ASSERT_OK(wide);
  EXPECT_ERROR(Supports(*wide, kKernel), "at most 128 are kept");
  const auto plain = NodeOf({}, rng);
  ASSERT_OK(plain);
  EXPECT_ERROR(Supports(*plain, kKernel, TestDevice(ir::DeviceClass::kGpu)),
               "for CPU devices");
}

}  // namespace
}  // namespace tim::testing
