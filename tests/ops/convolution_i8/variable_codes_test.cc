// Convolutions of 8-bit codes with weights or a bias that are no constants,
// against eval.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/ops/convolution_i8/code_convolutions.h"
#include "tests/support/kernels/kernel_set.h"
#include "tests/support/long_tests.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

TIM_FOR_CPU_KERNELS();

using ir::DataType;
using ir::TensorDesc;

constexpr char kTiles[] = "conv2d_nchw16c_i8";
constexpr char kDepthwise[] = "conv2d_depthwise_nchw16c_i8";
constexpr char kWords[] = "conv2d_simt_i8";
constexpr char kStrips[] = "conv2d_depthwise_simt_i8";
constexpr char kPhases[] = "deconv_nchw16c_i8";

enum class Known { kNothing, kWeights, kBias };

struct Convolution {
  CodeConvolution extents;
  CodeTypes types;
  Known known = Known::kNothing;
  std::string op = "tim.Conv2d";
  std::vector<int64_t> stride = {2, 2};  // of tim.DeConv2d
  DataType bias = DataType::kInt32;
};

// Weights within 100 of their zero point fit a signed byte without it; of
// every second tensor all do.
TensorData RandomWeights(const TensorDesc& desc, std::mt19937& rng) {
  TensorData data = RandomTensor(desc, rng);
  if (rng() % 2 == 0) return data;
  const int32_t zero = desc.quantization.ZeroPoint();
  const bool is_signed = desc.type == DataType::kInt8;
  for (std::byte& byte : data.bytes) {
    const int32_t code = zero + static_cast<int32_t>(rng() % 201) - 100;
    byte = static_cast<std::byte>(is_signed ? std::clamp(code, -128, 127)
                                            : std::clamp(code, 0, 255));
  }
  return data;
}

TensorData RandomBias(const TensorDesc& desc, std::mt19937& rng) {
  std::vector<int32_t> values(*desc.shape.NumElements());
  for (int32_t& value : values) value = static_cast<int32_t>(rng()) >> 16;
  return MakeTensor(desc, values);
}

// The node with all of its operands, in the order of the operator.
struct Case {
  TestNode node;
  std::vector<TensorData> inputs;  // that are no constants
};

Result<Case> CaseOf(const Convolution& convolution, std::mt19937& rng) {
  const CodeConvolution& extents = convolution.extents;
  const CodeTypes& types = convolution.types;
  const TensorDesc input =
      Desc(types.input, extents.input, 0.02f, types.input_zero);
  const TensorDesc weights = WeightsOf(extents, types);
  std::vector<std::optional<TensorDesc>> descs = {input, weights};
  std::vector<TensorData> all = {RandomTensor(input, rng),
                                 RandomWeights(weights, rng)};
  if (types.bias) {
    const TensorDesc bias = Desc(convolution.bias, {extents.outputs()});
    descs.push_back(bias);
    all.push_back(convolution.bias == DataType::kInt32
                      ? RandomBias(bias, rng)
                      : RandomTensor(bias, rng));
  }
  std::map<int, TensorData> constants;
  if (convolution.known == Known::kWeights) constants.emplace(1, all[1]);
  if (convolution.known == Known::kBias && types.bias) {
    constants.emplace(2, all[2]);
  }
  const bool transposed = convolution.op == "tim.DeConv2d";
  ir::AttributeMap attributes = extents.attributes();
  if (transposed) {
    attributes = {{"stride", convolution.stride}, {"pad", extents.pad}};
  }
  TIM_ASSIGN_OR_RETURN(TestNode node,
                       MakeNode(convolution.op, attributes, descs,
                                {OutputOf(extents, types)}, constants));
  Case out = {std::move(node), {}};
  for (size_t i = 0; i < all.size(); ++i) {
    if (constants.count(static_cast<int>(i)) == 0) out.inputs.push_back(all[i]);
  }
  return out;
}

Status Check(const Case& one, const char* kernel,
             const std::vector<ir::DeviceInfo>& devices) {
  TIM_ASSIGN_OR_RETURN(const auto expected, Eval(one.node, one.inputs));
  for (const ir::DeviceInfo& device : devices) {
    TIM_RETURN_IF_ERROR(Supports(one.node, kernel, device));
    for (int layout = 0; layout < LayoutCount(one.node, kernel); ++layout) {
      TIM_ASSIGN_OR_RETURN(
          const auto actual,
          RunKernel(one.node, kernel, layout, one.inputs, device));
      TIM_RETURN_IF_ERROR(
          CompareTensors(expected[0], actual[0])
              .WithContext(StrCat("layout ", layout, ", ", device.ToString(),
                                  one.node.input(0).ToString(),
                                  one.node.input(1).ToString())));
    }
  }
  return OkStatus();
}

void CheckAll(const Convolution& convolution, const char* kernel,
              const std::vector<ir::DeviceInfo>& devices, std::mt19937& rng) {
  const auto one = CaseOf(convolution, rng);
  ASSERT_OK(one);
  EXPECT_OK(Check(*one, kernel, devices)) << convolution.types.ToString();
}

const std::vector<ir::DeviceInfo>& Gpus() {
  static const std::vector<ir::DeviceInfo> gpus = {
      TestDevice(ir::DeviceClass::kGpu)};
  return gpus;
}

TEST(VariableCodes, OfAllTypes) {
  std::mt19937 rng = SeededRng(1);
  Sample sample(5);
  for (const CodeTypes& types : AllCodeTypes()) {
    for (const Known known : {Known::kNothing, Known::kWeights, Known::kBias}) {
      if (known == Known::kWeights && !types.bias) continue;
      if (!sample.Takes()) continue;
      const Convolution convolution = {
          {.input = {5, 3, 20, 1}, .kernel = {3, 3, 20, 37}}, types, known};
      CheckAll(convolution, kTiles, {TestDevice()}, rng);
      CheckAll(convolution, kWords, Gpus(), rng);
    }
  }
}

TEST(VariableCodes, OfExtremeZeroPoints) {
  std::mt19937 rng = SeededRng(2);
  for (const CodeTypes& types : ExtremeZeroPoints()) {
    CheckAll({{.input = {5, 3, 20, 1}, .kernel = {3, 3, 20, 37}}, types},
             kTiles, DotForms(), rng);
    CheckAll({{.input = {5, 3, 20, 1}, .kernel = {3, 3, 20, 37}}, types},
             kWords, Gpus(), rng);
    const CodeConvolution depthwise = {
        .input = {12, 3, 21, 1}, .kernel = {3, 3, 21, 1}, .multiplier = 1};
    CheckAll({depthwise, types}, kDepthwise, DotForms(), rng);
    CheckAll({depthwise, types}, kStrips, Gpus(), rng);
  }
}

TEST(VariableCodes, OfRandomExtentsAndGroups) {
  std::mt19937 rng = SeededRng(3);
  const auto small = [&](int64_t limit) {
    return static_cast<int64_t>(rng() % limit);
  };
  const int cases = RunsLongTests() ? 40 : 8;
  for (int i = 0; i < cases; ++i) {
    const int64_t groups = i % 2 == 0 ? 1 : 1 + small(5);
    const int64_t channels = 1 + small(groups == 1 ? 70 : 9);
    const int64_t width = std::vector<int64_t>{1, 3, 5}[i % 3];
    CodeTypes types = small(2) == 0 ? kUnsignedCodes : kSignedCodes;
    types.weights_zero = static_cast<int32_t>(small(256)) -
                         (types.weights == DataType::kInt8 ? 128 : 0);
    types.per_channel = small(2) == 0;
    types.bias = small(2) == 0;
    const Convolution convolution = {
        {.input = {8, 2 + small(3), channels * groups, 1 + small(2)},
         .kernel = {width, 1 + small(3), channels, groups * (1 + small(40))}},
        types};
    CheckAll(convolution, kTiles, {TestDevice()}, rng);
    CheckAll(convolution, kWords, Gpus(), rng);
  }
}

TEST(VariableCodes, OfDepthwise) {
  std::mt19937 rng = SeededRng(4);
  for (int64_t width = 1; width <= 6; ++width) {
    for (const int64_t channels : {1, 16, 37}) {
      CodeTypes types = width % 2 == 0 ? kSignedCodes : kUnsignedCodes;
      if (channels == 16) types.weights_zero = width % 2 == 0 ? 0 : 128;
      const CodeConvolution depthwise = {.input = {12, 5, channels, 2},
                                         .kernel = {width, 2, channels, 1},
                                         .stride = {1 + width % 2, 1},
                                         .multiplier = 1};
      CheckAll({depthwise, types}, kDepthwise, {TestDevice()}, rng);
      CheckAll({depthwise, types, Known::kWeights}, kDepthwise, {TestDevice()},
               rng);
      CheckAll({depthwise, types}, kStrips, Gpus(), rng);
    }
  }
}

// Taps stand in another order there, by phases.
TEST(VariableCodes, OfTransposedConvolutions) {
  std::mt19937 rng = SeededRng(5);
  Sample sample(4);
  for (const int64_t stride : {1, 2, 3}) {
    for (const int64_t side : {1, 2, 4}) {
      for (const Known known :
           {Known::kNothing, Known::kWeights, Known::kBias}) {
        if (!sample.Takes()) continue;
        SCOPED_TRACE(StrCat("stride ", stride, ", side ", side));
        CodeTypes types = stride == 2 ? kSignedCodes : kUnsignedCodes;
        types.bias = known != Known::kNothing || side != 2;
        CheckAll({{.input = {6, 3, 19, 1}, .kernel = {side, side, 19, 21}},
                  types,
                  known,
                  "tim.DeConv2d",
                  {stride, 4 - stride}},
                 kPhases, {TestDevice()}, rng);
      }
    }
  }
}

// Sums of every bias are exact, or their results at a limit.
TEST(VariableCodes, OfBiasBeyondTheSums) {
  std::mt19937 rng = SeededRng(6);
  for (const DataType type : {DataType::kInt32, DataType::kInt64,
                              DataType::kFloat32, DataType::kFloat16}) {
    for (const Known known : {Known::kNothing, Known::kWeights}) {
      SCOPED_TRACE(ir::ToString(type));
      CodeTypes types = kUnsignedCodes;
      types.bias = true;
      auto one = CaseOf({{.input = {5, 3, 64, 1}, .kernel = {3, 3, 64, 32}},
                         types,
                         known,
                         "tim.Conv2d",
                         {},
                         type},
                        rng);
      ASSERT_OK(one);
      TensorData& bias = one->inputs.back();
      if (type == DataType::kInt32) {
        std::vector<int32_t> values(32, 5);
        values[0] = values[20] = std::numeric_limits<int32_t>::max();
        values[1] = values[17] = std::numeric_limits<int32_t>::min();
        for (int i = 4; i < 16; ++i) values[i] = 1 << (i + 14);
        for (int i = 24; i < 32; ++i) values[i] = -(1 << (i - 2));
        bias = MakeTensor(bias.desc, values);
      } else if (type == DataType::kInt64) {
        std::vector<int64_t> values(32, -5);
        values[0] = std::numeric_limits<int64_t>::max();
        values[1] = std::numeric_limits<int64_t>::min();
        for (int i = 2; i < 30; ++i) values[i] = int64_t{1} << (2 * i);
        bias = MakeTensor(bias.desc, values);
      } else if (type == DataType::kFloat32) {
        std::vector<float> values(32, 0.25f);
        values[0] = std::numeric_limits<float>::infinity();
        values[1] = -std::numeric_limits<float>::infinity();
        values[2] = std::numeric_limits<float>::quiet_NaN();
        values[3] = 3e38f;
        bias = MakeTensor(bias.desc, values);
      }
      EXPECT_OK(Check(*one, kTiles, {TestDevice()}));
      EXPECT_OK(Check(*one, kWords, Gpus()));
    }
  }
}

TEST(VariableCodes, WithWhatIsFused) {
  std::mt19937 rng = SeededRng(7);
  for (const CodeTypes& types : {kUnsignedCodes, kSignedCodes}) {
    const Convolution convolution = {
        {.input = {5, 3, 20, 1}, .kernel = {3, 3, 20, 32}}, types};
    auto one = CaseOf(convolution, rng);
    ASSERT_OK(one);
    const TensorDesc output = one->node.output();
    auto node = Fuse(one->node, "tim.Add", {}, {output}, output);
    ASSERT_OK(node);
    node = Fuse(*node, "tim.Relu6", {}, {}, output);
    ASSERT_OK(node);
    const Case fused = {*node, RandomInputs(*node, rng)};
    EXPECT_OK(Check(fused, kTiles, {TestDevice()}));
    node = Fuse(one->node, "tim.Relu", {}, {}, output);
    ASSERT_OK(node);
    const Case limited = {*node, RandomInputs(*node, rng)};
    EXPECT_OK(Check(limited, kWords, Gpus()));
  }
}

// The greatest code of every factor, of as many terms as fit.
TEST(VariableCodes, RefuseWhatMayNeedMoreThan32Bits) {
  const auto node_of = [&](int64_t channels, float scale,
                           std::optional<int32_t> constant) {
    TensorDesc output = Inferred(DataType::kUint8);
    output.quantization = ir::Quantization::PerTensor(scale, 3);
    const TensorDesc bias = Desc(DataType::kInt32, {2});
    std::map<int, TensorData> constants;
    if (constant) {
      constants[2] = MakeTensor(bias, std::vector<int32_t>(2, *constant));
    }
    return MakeNode(
        "tim.Conv2d", {},
        {Desc(DataType::kUint8, {1, 1, channels, 1}, 0.01f, 0),
         Desc(DataType::kUint8, {1, 1, channels, 2}, 0.01f, 0), bias},
        {output}, constants);
  };
  const auto refusal = [&](auto... arguments) {
    const auto node = node_of(arguments...);
    EXPECT_OK(node);
    return Supports(*node, kTiles);
  };
  EXPECT_ERROR(refusal(40000, 1.0f, 0),
               "sums of 40000 products may need more than 32 bits");
  EXPECT_OK(refusal(30000, 1.0f, 0));
  EXPECT_ERROR(refusal(30000, 1.0f, 1 << 30), "the bias of channel 0 makes");
  // Twice the greatest sum leaves no room for one that saturates.
  EXPECT_ERROR(refusal(30000, 1.0f, std::nullopt),
               "with a bias that is not constant the sum of channel 0");
  EXPECT_OK(refusal(300, 1.0f, std::nullopt));
  EXPECT_ERROR(refusal(300, 1e6f, std::nullopt), "does not saturate before");
}

}  // namespace
}  // namespace tim::testing
