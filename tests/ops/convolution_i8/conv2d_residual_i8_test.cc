// Convolutions of 8-bit codes that add a tensor of their output's shape before
// they store.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/ops/convolution_i8/code_convolutions.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

TIM_FOR_CPU_KERNELS();

using ir::AttributeMap;
using ir::DataType;
using ir::TensorDesc;

constexpr char kKernel[] = "conv2d_nchw16c_i8";

// A convolution of 20 or 32 channels, limited or not, and Add of codes with
// another quantization.
struct ResidualCase {
  CodeTypes types;
  int64_t channels = 20;
  const char* before = nullptr;
  const char* after = "tim.Relu";
  AttributeMap after_attributes = {};
  float residual_scale = 0.031f;
  int32_t residual_zero = 5;
  float scale = 0.047f;
  int32_t zero = -9;
};

TensorDesc Like(const TensorDesc& desc, float scale, int32_t zero) {
  TensorDesc out = desc;
  const bool is_unsigned = desc.type == DataType::kUint8;
  out.quantization =
      ir::Quantization::PerTensor(scale, zero + (is_unsigned ? 128 : 0));
  return out;
}

Result<TestNode> NodeOf(const ResidualCase& config, std::mt19937& rng) {
  TIM_ASSIGN_OR_RETURN(
      TestNode node,
      NodeOf({.input = {15, 6, 16, 2}, .kernel = {3, 3, 16, config.channels}},
             config.types, rng));
  const TensorDesc sums = node.output();
  if (config.before != nullptr) {
    TIM_ASSIGN_OR_RETURN(node, Fuse(node, config.before, {}, {}, sums));
  }
  const TensorDesc result = Like(sums, config.scale, config.zero);
  TIM_ASSIGN_OR_RETURN(
      node,
      Fuse(node, "tim.Add", {},
           {Like(sums, config.residual_scale, config.residual_zero)}, result));
  if (config.after == nullptr) return node;
  return Fuse(node, config.after, config.after_attributes, {}, result);
}

TEST(Conv2dResidualI8, BetweenLimits) {
  std::mt19937 rng = SeededRng(18);
  Sample sample(5);
  for (const CodeTypes& types : {kUnsignedCodes, kSignedCodes}) {
    for (const char* before : {static_cast<const char*>(nullptr), "tim.Relu"}) {
      for (const char* after :
           {static_cast<const char*>(nullptr), "tim.Relu", "tim.Relu6"}) {
        if (!sample.Takes()) continue;
        const auto node =
            NodeOf({.types = types, .before = before, .after = after}, rng);
        ASSERT_OK(node);
        EXPECT_OK(CheckCodes(*node, kKernel, rng));
      }
    }
  }
}

// Results whose codes few operations do not give, the most of them at a limit,
// and a residual that is all that counts.
TEST(Conv2dResidualI8, OfAnyScale) {
  std::mt19937 rng = SeededRng(19);
  for (const auto& [residual, scale] :
       {std::pair(0.031f, 1e-9f), std::pair(1e6f, 1e6f),
        std::pair(1e-7f, 0.047f), std::pair(3e38f, 3e38f),
        std::pair(0.02f, 0.01f)}) {
    for (const CodeTypes& types : {kUnsignedCodes, kSignedCodes}) {
      SCOPED_TRACE(StrCat(residual, " to ", scale, " ", types.ToString()));
      const auto node = NodeOf({.types = types,
                                .after = "tim.Relu6",
                                .residual_scale = residual,
                                .scale = scale},
                               rng);
      ASSERT_OK(node);
      EXPECT_OK(CheckCodes(*node, kKernel, TestDevice(), rng));
    }
  }
}

TEST(Conv2dResidualI8, RefusesWithReason) {
  std::mt19937 rng = SeededRng(20);
  const AttributeMap above = {{"min", 0.25f}, {"max", 0.5f}};
  ResidualCase config = {
      .types = kSignedCodes, .after = "tim.Clip", .after_attributes = above};
  auto node = NodeOf(config, rng);
  ASSERT_OK(node);
  EXPECT_ERROR(Supports(*node, kKernel),
               "limits behind a fused Add that exclude 0");
  config.channels = 32;
  node = NodeOf(config, rng);
  ASSERT_OK(node);
  EXPECT_OK(CheckCodes(*node, kKernel, TestDevice(), rng));

  const auto plain = NodeOf({.input = {5, 4, 16, 1}, .kernel = {1, 1, 16, 16}},
                            kSignedCodes, rng);
  ASSERT_OK(plain);
  const TensorDesc sums = plain->output();
  const auto refusal = [&](const TensorDesc& other, const TensorDesc& result,
                           AttributeMap attributes = {}) {
    const auto fused =
        Fuse(*plain, "tim.Add", std::move(attributes), {other}, result);
    EXPECT_OK(fused);
    return Supports(*fused, kKernel);
  };
  EXPECT_OK(refusal(sums, sums));
  TensorDesc one = sums;
  one.shape = ir::Shape({1, 1, 16, 1});
  EXPECT_ERROR(refusal(one, sums), "must have operands of the shape");
  TensorDesc other = sums;
  other.type = DataType::kUint8;
  EXPECT_ERROR(refusal(other, sums), "a fused Add must be of int8 only");
  EXPECT_ERROR(refusal(sums, other), "a fused Add must be of int8 only");
  EXPECT_ERROR(refusal(sums, sums, {{ir::kOverflowPolicy, int64_t{0}}}),
               "needs the policies saturate and to nearest even");
  TensorDesc channels = sums;
  channels.quantization = {.kind = ir::QuantizationKind::kPerChannel,
                           .axis = 2,
                           .scales = std::vector<float>(16, 0.1f),
                           .zero_points = {0}};
  EXPECT_ERROR(refusal(channels, sums), "quantized per channel");
  const auto twice = Fuse(*plain, "tim.Add", {}, {sums}, sums);
  ASSERT_OK(twice);
  const auto again = Fuse(*twice, "tim.Add", {}, {sums}, sums);
  ASSERT_OK(again);
  EXPECT_ERROR(Supports(*again, kKernel), "a fused Add must be float32");
}

}  // namespace
}  // namespace tim::testing
