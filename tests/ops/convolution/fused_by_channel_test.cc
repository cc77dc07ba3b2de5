// Formulas of two operands behind convolutions, of which the second has a
// number per channel: Prelu, and what else stands in a network there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/data/conv2d_attributes.h"
#include "tests/support/kernels/kernel_runner.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

TIM_FOR_CPU_KERNELS();

using ir::AttributeMap;
using ir::TensorDesc;
using ::testing::HasSubstr;
using Ints = std::vector<int64_t>;

constexpr char kBlocked[] = "conv2d_nchw16c";
constexpr char kDepthwise[] = "conv2d_depthwise_nchw16c";
constexpr Tolerance kTolerance = {1e-4, 1e-5};

// 3x3 of 9x6 pixels, `channels` of each of two images, to as many.
Result<TestNode> Convolution(bool depthwise, int64_t channels,
                             std::mt19937& rng) {
  AttributeMap attributes = {{"padding", int64_t{2}}};
  if (depthwise) attributes.Set("multiplier", int64_t{1});
  const TensorDesc weights =
      depthwise ? F32({3, 3, channels, 1}) : F32({3, 3, channels, channels});
  return MakeNode("tim.Conv2d", attributes,
                  {F32({9, 6, channels, 2}), weights, F32({channels})},
                  {Inferred()}, {{1, RandomTensor(weights, rng)}});
}

TensorDesc OutputOf(int64_t channels) { return F32({9, 6, channels, 2}); }

void ExpectEval(const TestNode& node, const char* kernel, std::mt19937& rng) {
  ASSERT_OK(Supports(node, kernel));
  const std::vector<TensorData> inputs = RandomInputs(node, rng);
  const auto expected = Eval(node, inputs);
  ASSERT_OK(expected);
  const auto actual = RunKernel(node, kernel, 0, inputs);
  ASSERT_OK(actual);
  EXPECT_OK(CompareTensors((*expected)[0], (*actual)[0], kTolerance));
}

TEST(FusedByChannel, GivesWhatEvalGives) {
  std::mt19937 rng = SeededRng(1);
  Sample sample(5);
  for (const int64_t channels : {8, 16, 37}) {
    for (const bool depthwise : {false, true}) {
      for (const char* op : {"tim.Prelu", "tim.Multiply", "tim.Minimum"}) {
        if (!sample.Takes()) continue;
        SCOPED_TRACE(StrCat(op, " of ", channels, " channels"));
        AttributeMap attributes;
        if (std::string(op) == "tim.Prelu") attributes.Set("axis", int64_t{2});
        const auto node = Convolution(depthwise, channels, rng);
        ASSERT_OK(node);
        const auto fused = Fuse(*node, op, attributes, {F32({1, 1, channels})},
                                OutputOf(channels));
        ASSERT_OK(fused);
        ExpectEval(*fused, depthwise ? kDepthwise : kBlocked, rng);
      }
    }
  }
}

// The formula is the last step; what is added comes before it.
TEST(FusedByChannel, FollowsWhatIsAdded) {
  std::mt19937 rng = SeededRng(2);
  const TensorDesc output = OutputOf(20);
  for (const TensorDesc& summand : {F32({1, 1, 20}), output}) {
    auto node = Convolution(false, 20, rng);
    ASSERT_OK(node);
    node = Fuse(*node, "tim.Add", {}, {summand}, output);
    ASSERT_OK(node);
    node = Fuse(*node, "tim.Prelu", {{"axis", int64_t{2}}}, {F32({1, 1, 20})},
                output);
    ASSERT_OK(node);
    ExpectEval(*node, kBlocked, rng);
    const auto more = Fuse(*node, "tim.Relu", {}, {}, output);
    ASSERT_OK(more);
    EXPECT_THAT(Supports(*more, kBlocked).message(),
                HasSubstr("a fused Relu at this place"));
  }
}

void ExpectRefusal(const char* op, const AttributeMap& attributes,
                   const TensorDesc& operand, const std::string& reason) {
  SCOPED_TRACE(StrCat(op, " with ", operand.ToString()));
  std::mt19937 rng = SeededRng(3);
  const auto node = Convolution(false, 20, rng);
  ASSERT_OK(node);
  const auto fused = Fuse(*node, op, attributes, {operand}, OutputOf(20));
  ASSERT_OK(fused);
  EXPECT_THAT(Supports(*fused, kBlocked).message(), HasSubstr(reason));
}

TEST(FusedByChannel, RefusesWithReason) {
  ExpectRefusal("tim.Multiply", {{"scale", 2.0}}, F32({1, 1, 20}),
                "a fused Multiply with a scale");
  ExpectRefusal("tim.Pow", {}, F32({1, 1, 20}),
                "a fused Pow, which takes long for an element");
  ExpectRefusal("tim.Multiply", {}, F32({9, 1, 1}),
                "one value for each channel of [9, 6, 20, 2], not [9, 1, 1]");
  ExpectRefusal("tim.Prelu", {{"axis", int64_t{2}}}, F32({20}),
                "one value for each channel of [9, 6, 20, 2], not [20]");
}

TEST(FusedByChannel, OtherKernelsRefuse) {
  std::mt19937 rng = SeededRng(4);
  const auto node = Convolution(false, 20, rng);
  ASSERT_OK(node);
  const auto fused = Fuse(*node, "tim.Prelu", {{"axis", int64_t{2}}},
                          {F32({1, 1, 20})}, OutputOf(20));
  ASSERT_OK(fused);
  for (const char* kernel : {"conv2d", "conv2d_winograd_nchw16c"}) {
    EXPECT_THAT(Supports(*fused, kernel).message(),
                HasSubstr("a fused Prelu, which has no formula of one input"))
        << kernel;
  }
}

}  // namespace
}  // namespace tim::testing
