// Convolutions of 8-bit codes that look up another operator's result before
// they store.
#include <gtest/gtest.h>

#include <string>

#include "tests/ops/convolution_i8/code_convolutions.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using ir::AttributeMap;
using ir::DataType;
using ir::TensorDesc;

constexpr char kDirect[] = "conv2d_nchw16c_i8";
constexpr char kDepthwise[] = "conv2d_depthwise_nchw16c_i8";

struct TableCase {
  std::string op = "tim.HardSwish";
  AttributeMap attributes = {};
  CodeTypes types = kUnsignedCodes;
  DataType result = DataType::kUint8;
  int64_t channels = 32;
  int64_t width = 15;
  bool depthwise = false;
  const char* before = nullptr;  ///< Sets limits first.

  const char* kernel() const { return depthwise ? kDepthwise : kDirect; }
};

Result<TestNode> NodeOf(const TableCase& config, std::mt19937& rng) {
  CodeConvolution convolution = {
      .input = {config.width, 6, config.channels, 2},
      .kernel = {3, 3, config.channels, config.channels}};
  if (config.depthwise) {
    convolution.kernel = {3, 3, config.channels, 1};
    convolution.multiplier = 1;
  }
  TIM_ASSIGN_OR_RETURN(TestNode node, NodeOf(convolution, config.types, rng));
  TensorDesc result = node.output();
  if (config.before != nullptr) {
    TIM_ASSIGN_OR_RETURN(node, Fuse(node, config.before, {}, {}, result));
  }
  result.type = config.result;
  result.quantization = ir::Quantization::PerTensor(
      0.031f, config.result == DataType::kUint8 ? 60 : -61);
  return Fuse(node, config.op, config.attributes, {}, result);
}

// On processors that pick many bytes of a table at once, and where the kernel
// does so one by one.
void Check(const TableCase& config) {
  std::mt19937 rng = SeededRng(4);
  const auto node = NodeOf(config, rng);
  ASSERT_OK(node);
  for (ir::DeviceInfo device : DotForms()) {
    device.float_vector_width = 16;
    EXPECT_OK(CheckCodes(*node, config.kernel(), device, rng));
  }
}

TEST(Conv2dTableI8, Operators) {
  for (const bool depthwise : {false, true}) {
    for (const char* op :
         {"tim.HardSwish", "tim.Sigmoid", "tim.Tanh", "tim.Relu6", "tim.Abs"}) {
      SCOPED_TRACE(StrCat(op, depthwise ? " depthwise" : ""));
      Check({.op = op, .depthwise = depthwise});
    }
    Check({.op = "tim.LeakyRelu",
           .attributes = {{"alpha", 0.1}},
           .depthwise = depthwise});
  }
}

TEST(Conv2dTableI8, TypesOfSumsAndResults) {
  for (const bool depthwise : {false, true}) {
    for (const DataType result : {DataType::kUint8, DataType::kInt8}) {
      for (const CodeTypes& types : {kUnsignedCodes, kSignedCodes}) {
        if (depthwise && types.per_channel) continue;
        SCOPED_TRACE(StrCat(types.ToString(), " to ", ir::ToString(result)));
        Check({.types = types, .result = result, .depthwise = depthwise});
      }
    }
  }
}

TEST(Conv2dTableI8, TilesOfEveryWidth) {
  for (const bool depthwise : {false, true}) {
    for (const int64_t width : {1, 2, 3, 5, 13, 29}) {
      SCOPED_TRACE(width);
      Check({.width = width, .depthwise = depthwise});
    }
  }
}

TEST(Conv2dTableI8, LimitsComeFirst) {
  Check({.op = "tim.Tanh", .before = "tim.Relu"});
  Check({.op = "tim.Tanh", .depthwise = true, .before = "tim.Relu6"});
}

// Channels that do not exist hold the value 0 before and after.
TEST(Conv2dTableI8, KeepsChannelsThatDoNotExist) {
  Check({.channels = 20});
  Check({.channels = 20, .depthwise = true});
  std::mt19937 rng = SeededRng(5);
  const auto sigmoid = NodeOf({.op = "tim.Sigmoid", .channels = 20}, rng);
  ASSERT_OK(sigmoid);
  EXPECT_ERROR(Supports(*sigmoid, kDirect), "makes another value of 0");
}

TEST(Conv2dTableI8, RefusesWithReason) {
  std::mt19937 rng = SeededRng(6);
  const auto node = NodeOf({}, rng);
  ASSERT_OK(node);
  EXPECT_ERROR(Supports(*node, kDirect, TestDeviceOfLanes(8)),
               "must keep the type and quantization");
  auto plain = NodeOf({.input = {5, 5, 16, 1}, .kernel = {1, 1, 16, 16}},
                      kUnsignedCodes, rng);
  ASSERT_OK(plain);
  TensorDesc result = plain->output();
  result.type = DataType::kInt16;
  const auto wide = Fuse(*plain, "tim.HardSwish", {}, {}, result);
  ASSERT_OK(wide);
  EXPECT_ERROR(Supports(*wide, kDirect), "must give 8-bit elements");
  const TensorDesc sums = plain->output();
  plain = Fuse(*plain, "tim.Add", {}, {sums}, sums);
  ASSERT_OK(plain);
  const auto behind = Fuse(*plain, "tim.HardSwish", {}, {}, sums);
  ASSERT_OK(behind);
  EXPECT_ERROR(Supports(*behind, kDirect), "a fused HardSwish of uint8");
}

}  // namespace
}  // namespace tim::testing
