// Convolutions of 8-bit codes for GPUs, which the device of the tests runs
// whatever its class.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "tests/ops/convolution_i8/code_convolutions.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::AttributeMap;
using ir::DataType;
using ir::TensorDesc;
using Ints = std::vector<int64_t>;

constexpr char kKernel[] = "conv2d_simt_i8";

// With few compute units tiles are large, with many they are small.
ir::DeviceInfo Gpu(int units = 2) {
  ir::DeviceInfo gpu = TestDevice(ir::DeviceClass::kGpu);
  gpu.compute_units = units;
  return gpu;
}

// In the device's own form.
Status CheckOnce(const CodeConvolution& convolution, const CodeTypes& types,
                 std::mt19937& rng, const ir::DeviceInfo& device = Gpu()) {
  TIM_ASSIGN_OR_RETURN(const TestNode node, NodeOf(convolution, types, rng));
  return CheckCodes(node, kKernel, device, rng);
}

Status CheckForms(const TestNode& node, std::mt19937& rng) {
  for (const ir::DeviceInfo& device : WordForms()) {
    TIM_RETURN_IF_ERROR(CheckCodes(node, kKernel, device, rng));
  }
  return OkStatus();
}

// In all forms.
Status Check(const CodeConvolution& convolution, const CodeTypes& types,
             std::mt19937& rng) {
  TIM_ASSIGN_OR_RETURN(const TestNode node, NodeOf(convolution, types, rng));
  return CheckForms(node, rng).WithContext(types.ToString());
}

TEST(Conv2dSimtI8, AllTypes) {
  std::mt19937 rng = SeededRng(1);
  for (const CodeTypes& types : AllCodeTypes()) {
    EXPECT_OK(
        Check({.input = {9, 4, 7, 2}, .kernel = {3, 3, 7, 21}}, types, rng));
  }
}

// Pixels that do not exist are the zero point, whatever it is; weights may be
// too far from theirs for a signed byte.
TEST(Conv2dSimtI8, ExtremeZeroPoints) {
  std::mt19937 rng = SeededRng(2);
  for (const CodeTypes& types : ExtremeZeroPoints()) {
    EXPECT_OK(
        Check({.input = {5, 4, 6, 1}, .kernel = {3, 3, 6, 18}}, types, rng));
  }
}

TEST(Conv2dSimtI8, ExtremeCodes) {
  EXPECT_OK(
      CheckExtremeCodes({.input = {5, 3, 12, 1}, .kernel = {3, 3, 12, 16}},
                        kKernel, WordForms()));
}

TEST(Conv2dSimtI8, FixedPoint) {
  std::mt19937 rng = SeededRng(3);
  const auto node = FixedPointNode(rng);
  ASSERT_OK(node);
  EXPECT_OK(CheckForms(*node, rng));
}

TEST(Conv2dSimtI8, ChannelsThatDoNotFillAWordOrATile) {
  std::mt19937 rng = SeededRng(4);
  for (const int64_t ic : {1, 2, 3, 4, 5, 31, 67}) {
    for (const int64_t oc : {1, 31, 33, 65}) {
      EXPECT_OK(CheckOnce({.input = {9, 3, ic, 2}, .kernel = {3, 2, ic, oc}},
                          oc == 33 ? kSignedCodes : kUnsignedCodes, rng))
          << ic << " to " << oc;
    }
  }
}

TEST(Conv2dSimtI8, PixelsThatDoNotFillATile) {
  std::mt19937 rng = SeededRng(5);
  for (const int64_t width : {1, 31, 32, 33, 65}) {
    for (const int64_t batch : {1, 3}) {
      EXPECT_OK(
          CheckOnce({.input = {width, 3, 5, batch}, .kernel = {1, 1, 5, 7}},
                    batch == 1 ? kUnsignedCodes : kSignedCodes, rng))
          << width << " x 3, " << batch;
    }
  }
}

TEST(Conv2dSimtI8, TilesOfEverySize) {
  std::mt19937 rng = SeededRng(6);
  for (const int units : {1, 4, 8, 16, 100}) {
    for (const Ints& sizes :
         {Ints{9, 9, 70}, Ints{13, 13, 20}, Ints{4, 4, 80}}) {
      EXPECT_OK(CheckOnce(
          {.input = {sizes[0], sizes[1], 6, 1}, .kernel = {3, 3, 6, sizes[2]}},
          kUnsignedCodes, rng, Gpu(units)))
          << units << " units, " << sizes[0] << " " << sizes[2];
    }
  }
}

TEST(Conv2dSimtI8, Groups) {
  std::mt19937 rng = SeededRng(7);
  struct Case {
    int64_t groups;
    Ints kernel;
  };
  for (const auto& [groups, kernel] :
       {Case{4, {3, 3, 16, 64}}, Case{2, {3, 3, 9, 70}}, Case{8, {3, 1, 4, 32}},
        Case{4, {1, 1, 3, 40}}, Case{32, {3, 3, 1, 64}}}) {
    for (const CodeTypes& types : {kUnsignedCodes, kSignedCodes}) {
      EXPECT_OK(
          CheckOnce({.input = {6, 5, kernel[2] * groups, 2}, .kernel = kernel},
                    types, rng))
          << groups << " groups of " << kernel[2];
    }
  }
}

TEST(Conv2dSimtI8, StridesPadsAndDilations) {
  EXPECT_OK(CheckRandomExtents(kKernel, Gpu(),
                               {.groups = 3, .inputs = 9, .outputs = 40}, 8));
}

TEST(Conv2dSimtI8, DeclaredExtents) {
  EXPECT_OK(CheckDeclaredExtents(kKernel, Gpu(), 9));
}

TEST(Conv2dSimtI8, RoundsTowardsZeroIfAsked) {
  std::mt19937 rng = SeededRng(10);
  const CodeConvolution config = {.input = {6, 5, 16, 1},
                                  .kernel = {3, 3, 16, 16}};
  const TensorDesc weights = WeightsOf(config, kSignedCodes);
  AttributeMap attributes = config.attributes();
  attributes.Set(ir::kRoundingPolicy, int64_t{0});
  const auto node = MakeNode(
      "tim.Conv2d", attributes,
      {Desc(DataType::kInt8, config.input, 0.02f, -9), weights},
      {OutputOf(config, kSignedCodes)}, {{1, RandomTensor(weights, rng)}});
  ASSERT_OK(node);
  EXPECT_OK(CheckForms(*node, rng));
}

TEST(Conv2dSimtI8, FusedActivations) {
  EXPECT_OK(CheckFusedLimits({.input = {9, 6, 5, 2}, .kernel = {3, 3, 5, 20}},
                             kKernel, {Gpu()}, 11));
}

TEST(Conv2dSimtI8, LargeSums) {
  EXPECT_OK(CheckLargeSums(kKernel, WordForms()));
}

TEST(Conv2dSimtI8, RefusesWithReason) {
  std::mt19937 rng = SeededRng(12);
  const CodeConvolution config = {.input = {4, 3, 8, 1},
                                  .kernel = {1, 1, 8, 4}};
  const auto node = NodeOf(config, kUnsignedCodes, rng);
  ASSERT_OK(node);
  EXPECT_OK(Supports(*node, kKernel, Gpu()));
  EXPECT_ERROR(Supports(*node, kKernel, TestDevice(ir::DeviceClass::kCpu)),
               "for GPU devices; this one takes kernels of class cpu");
  ir::DeviceInfo device = Gpu();
  device.max_work_group_size = 128;
  EXPECT_ERROR(Supports(*node, kKernel, device),
               "needs work-groups of 16 x 16 items, the device has 128");
  const TensorDesc weights = WeightsOf(config, kUnsignedCodes);
  const TensorDesc input = Desc(DataType::kUint8, config.input, 0.02f, 3);
  const auto real = MakeNode("tim.Conv2d", {}, {input, weights}, {Inferred()},
                             {{1, RandomTensor(weights, rng)}});
  ASSERT_OK(real);
  EXPECT_ERROR(Supports(*real, kKernel, Gpu()),
               "must be int8 or uint8, not float32");
}

}  // namespace
}  // namespace tim::testing
