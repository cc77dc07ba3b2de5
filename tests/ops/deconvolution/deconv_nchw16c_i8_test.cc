// The kernel of DeConv2d on 8-bit codes in blocks of 16 channels, against eval.
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <vector>

#include "tests/ops/convolution_i8/code_convolutions.h"
#include "tests/ops/deconvolution/deconv_extents.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

TIM_FOR_CPU_KERNELS();

using ir::DataType;
using ir::TensorDesc;

constexpr char kKernel[] = "deconv_nchw16c_i8";

CodeConvolution ConvolutionOf(const DeconvExtents& extents) {
  return {.input = extents.input,
          .kernel = {extents.kernel[0], extents.kernel[1], extents.input[2],
                     extents.kernel[2]}};
}

Result<TestNode> NodeOf(const DeconvExtents& extents, std::mt19937& rng,
                        const CodeTypes& types = kUnsignedCodes) {
  const CodeConvolution convolution = ConvolutionOf(extents);
  TensorDesc output = OutputOf(convolution, types);
  if (!extents.declared.empty()) {
    output.shape = {extents.declared[0], extents.declared[1], extents.kernel[2],
                    extents.input[3]};
  }
  return NodeOf("tim.DeConv2d",
                {{"stride", extents.stride}, {"pad", extents.pad}}, convolution,
                types, output, rng);
}

void Check(const DeconvExtents& extents,
           const CodeTypes& types = kUnsignedCodes) {
  SCOPED_TRACE(extents.ToString());
  std::mt19937 rng = SeededRng(1);
  const auto node = NodeOf(extents, rng, types);
  ASSERT_OK(node);
  EXPECT_OK(CheckCodes(*node, kKernel, rng));
}

void CheckAll(const std::vector<DeconvExtents>& all,
              const CodeTypes& types = kUnsignedCodes) {
  for (const DeconvExtents& extents : all) Check(extents, types);
}

TEST(DeconvNchw16cI8, Types) {
  Sample sample(3);
  for (const CodeTypes& types : AllCodeTypes()) {
    if (!sample.Takes()) continue;
    SCOPED_TRACE(types.ToString());
    Check({}, types);
  }
}

TEST(DeconvNchw16cI8, ZeroPointsAtTheLimits) {
  Sample sample(3);
  for (const CodeTypes& types : ExtremeZeroPoints()) {
    if (!sample.Takes()) continue;
    SCOPED_TRACE(types.ToString());
    Check({.input = {5, 4, 6, 1}, .kernel = {3, 3, 18}}, types);
  }
}

TEST(DeconvNchw16cI8, PhasesOfEveryStride) {
  CheckAll(PhasesOfEveryStride(), kSignedCodes);
}

TEST(DeconvNchw16cI8, TilesMoveBackIntoTheRow) { CheckAll(RowsOfManyWidths()); }

TEST(DeconvNchw16cI8, PadsMoveThePhases) { CheckAll(ManyPads()); }

TEST(DeconvNchw16cI8, NegativePads) {
  CheckAll(NegativePads());
  CheckAll(NegativePads(), kSignedCodes);
}

TEST(DeconvNchw16cI8, DeclaredExtents) { CheckAll(DeclaredExtents()); }

TEST(DeconvNchw16cI8, LimitsAndResiduals) {
  std::mt19937 rng = SeededRng(7);
  for (const char* activation : {"", "tim.Relu", "tim.Relu6"}) {
    for (const bool residual : {false, true}) {
      SCOPED_TRACE(StrCat(activation, residual ? " residual" : ""));
      auto node = NodeOf({.input = {15, 3, 20, 1}}, rng);
      ASSERT_OK(node);
      TensorDesc result = node->output();
      if (residual) {
        TensorDesc other = result;
        other.quantization = ir::Quantization::PerTensor(0.05f, 100);
        result.quantization = ir::Quantization::PerTensor(0.07f, 120);
        node = Fuse(*node, "tim.Add", {}, {other}, result);
        ASSERT_OK(node);
      }
      if (*activation != '\0') {
        node = Fuse(*node, activation, {}, {}, result);
        ASSERT_OK(node);
      }
      EXPECT_OK(CheckCodes(*node, kKernel, rng));
    }
  }
}

// A pixel that two tiles make is stored by one of them.
TEST(DeconvNchw16cI8, ResidualsInPlace) {
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

TEST(DeconvNchw16cI8, RefusesWithReason) {
  std::mt19937 rng = SeededRng(9);
  const TensorDesc input = Desc(DataType::kUint8, {3, 3, 4, 1}, 0.1f, 3);
  TensorDesc output = Inferred(DataType::kUint8);
  output.quantization = ir::Quantization::PerTensor(1.0f, 3);
  const TensorDesc depthwise = Desc(DataType::kUint8, {2, 2, 4, 1}, 0.1f, 3);
  const auto grouped =
      MakeNode("tim.DeConv2d", {{"group", int64_t{4}}}, {input, depthwise},
               {output}, {{1, RandomTensor(depthwise, rng)}});
  ASSERT_OK(grouped);
  EXPECT_ERROR(Supports(*grouped, kKernel), "one group only, not 4");
  const auto wide = NodeOf({.input = {300, 1, 1, 1},
                            .kernel = {300, 1, 1},
                            .stride = {1, 1},
                            .pad = {0, 0, 0, 0}},
                           rng);
  ASSERT_OK(wide);
  EXPECT_ERROR(Supports(*wide, kKernel), "at most 256 are kept");
  // Few weights of its own, but many phases with channels in blocks.
  for (const int64_t channels : {1, 17}) {
    const auto sparse = NodeOf({.input = {2, 2, channels, 1},
                                .kernel = {1, 1, channels},
                                .stride = {1100, 1100},
                                .pad = {0, 0, 0, 0}},
                               rng);
    ASSERT_OK(sparse);
    EXPECT_ERROR(Supports(*sparse, kKernel), "weights, at most 268435456");
  }
  const auto plain = NodeOf({}, rng);
  ASSERT_OK(plain);
  EXPECT_ERROR(Supports(*plain, kKernel, TestDevice(ir::DeviceClass::kGpu)),
               "for CPU devices");
}

}  // namespace
}  // namespace tim::testing
