#include "tests/ops/convolution_i8/code_convolutions.h"

#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "base/str_cat.h"
#include "tests/support/long_tests.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::TensorDesc;

constexpr float kInputScale = 0.02f;
constexpr float kWeightsScale = 0.005f;

Status CheckCodes(const TestNode& node, const std::string& kernel,
                  const std::vector<TensorData>& inputs,
                  const std::vector<ir::DeviceInfo>& devices) {
  TIM_ASSIGN_OR_RETURN(const auto expected, Eval(node, inputs));
  for (const ir::DeviceInfo& device : devices) {
    TIM_ASSIGN_OR_RETURN(const auto actual,
                         RunKernel(node, kernel, 0, inputs, device));
    TIM_RETURN_IF_ERROR(
        CompareTensors(expected[0], actual[0]).WithContext(device.ToString()));
  }
  return OkStatus();
}

}  // namespace

std::vector<CodeTypes> AllCodeTypes() {
  const DataType types[] = {DataType::kUint8, DataType::kInt8};
  std::vector<CodeTypes> out;
  for (const DataType input : types) {
    for (const DataType weights : types) {
      for (const DataType output : types) {
        for (const bool per_channel : {false, true}) {
          out.push_back({.input = input,
                         .input_zero = 11,
                         .weights = weights,
                         .weights_zero = weights == DataType::kUint8 ? 130 : 0,
                         .output = output,
                         .output_zero = 20,
                         .per_channel = per_channel,
                         .bias = !per_channel});
        }
      }
    }
  }
  return out;
}

std::vector<CodeTypes> ExtremeZeroPoints() {
  const std::pair<DataType, int32_t> zeros[] = {{DataType::kUint8, 0},
                                                {DataType::kUint8, 255},
                                                {DataType::kInt8, -128},
                                                {DataType::kInt8, 127}};
  std::vector<CodeTypes> out;
  for (const auto& [input, input_zero] : zeros) {
    for (const auto& [weights, weights_zero] : zeros) {
      out.push_back({.input = input,
                     .input_zero = input_zero,
                     .weights = weights,
                     .weights_zero = weights_zero,
                     .output = input,
                     .output_zero = input_zero});
    }
  }
  return out;
}

std::string CodeTypes::ToString() const {
  return StrCat(ir::ToString(input), " ", input_zero, ", ",
                ir::ToString(weights), " ", weights_zero,
                per_channel ? " per channel, " : ", ", ir::ToString(output),
                " ", output_zero, bias ? ", bias" : "");
}

TensorDesc WeightsOf(const CodeConvolution& convolution,
                     const CodeTypes& types) {
  TensorDesc desc = Desc(types.weights, convolution.kernel, kWeightsScale,
                         types.weights_zero);
  if (!types.per_channel) return desc;
  ir::Quantization& quantization = desc.quantization;
  quantization.kind = ir::QuantizationKind::kPerChannel;
  quantization.axis = convolution.kernel[3] == convolution.outputs() ? 3 : 2;
  quantization.scales.clear();
  quantization.zero_points.clear();
  for (int64_t c = 0; c < convolution.outputs(); ++c) {
    quantization.scales.push_back(kWeightsScale *
                                  (1.0f + 0.1f * static_cast<float>(c % 7)));
    quantization.zero_points.push_back(types.weights_zero);
  }
  return desc;
}

TensorDesc OutputOf(const CodeConvolution& convolution,
                    const CodeTypes& types) {
  const int64_t channels =
      convolution.multiplier > 0 ? 1 : convolution.kernel[2];
  const double terms = static_cast<double>(convolution.kernel[0] *
                                           convolution.kernel[1] * channels);
  TensorDesc desc = Inferred(types.output);
  // Codes are some 75 from the middle; a deviation of sums becomes 60 codes.
  desc.quantization = ir::Quantization::PerTensor(
      static_cast<float>(kInputScale * kWeightsScale * 75 * 75 *
                         std::sqrt(terms) / 60),
      types.output_zero);
  return desc;
}

Result<TestNode> NodeOf(const CodeConvolution& convolution,
                        const CodeTypes& types, std::mt19937& rng) {
  return NodeOf("tim.Conv2d", convolution.attributes(), convolution, types,
                OutputOf(convolution, types), rng);
}

Result<TestNode> NodeOf(const std::string& op,
                        const ir::AttributeMap& attributes,
                        const CodeConvolution& convolution,
                        const CodeTypes& types, const TensorDesc& output,
                        std::mt19937& rng) {
  const TensorDesc weights = WeightsOf(convolution, types);
  std::vector<std::optional<TensorDesc>> inputs = {
      Desc(types.input, convolution.input, kInputScale, types.input_zero),
      weights};
  std::map<int, TensorData> constants = {{1, RandomTensor(weights, rng)}};
  if (types.bias) {
    std::vector<int32_t> values(convolution.outputs());
    for (int32_t& value : values) value = static_cast<int32_t>(rng()) >> 16;
    inputs.push_back(Desc(DataType::kInt32, {convolution.outputs()}));
    constants[2] = MakeTensor(*inputs[2], values);
  }
  return MakeNode(op, attributes, inputs, {output}, std::move(constants));
}

Result<TestNode> FixedPointNode(std::mt19937& rng) {
  const TensorDesc weights = DescFixed(DataType::kInt8, {3, 3, 20, 24}, 7);
  const TensorDesc bias = DescFixed(DataType::kInt32, {24}, 12);
  TensorDesc output = Inferred(DataType::kInt8);
  output.quantization = {.kind = ir::QuantizationKind::kFixedPoint, .fl = 1};
  return MakeNode("tim.Conv2d", Conv2dAttributes(kSame),
                  {DescFixed(DataType::kInt8, {7, 5, 20, 1}, 5), weights, bias},
                  {output},
                  {{1, RandomTensor(weights, rng)},
                   {2, MakeTensor(bias, std::vector<int32_t>(24, -777))}});
}

std::vector<ir::DeviceInfo> DotForms() {
  std::vector<ir::DeviceInfo> out = {TestDevice()};
  for (bool ir::DeviceInfo::*const form :
       {&ir::DeviceInfo::has_amx, &ir::DeviceInfo::has_vnni}) {
    if (!(out.back().*form)) continue;
    out.push_back(out.back());
    out.back().*form = false;
  }
  return out;
}

std::vector<ir::DeviceInfo> WordForms() {
  std::vector<ir::DeviceInfo> out = {TestDevice(ir::DeviceClass::kGpu)};
  if (out[0].has_integer_dot) {
    out.push_back(out[0]);
    out[1].has_integer_dot = false;
  }
  return out;
}

Status CheckCodes(const TestNode& node, const std::string& kernel,
                  const ir::DeviceInfo& device, std::mt19937& rng) {
  TIM_RETURN_IF_ERROR(Supports(node, kernel, device));
  for (int run = 0; run < 2; ++run) {
    const std::vector<TensorData> inputs = RandomInputs(node, rng);
    TIM_ASSIGN_OR_RETURN(const auto expected, Eval(node, inputs));
    for (int layout = 0; layout < LayoutCount(node, kernel); ++layout) {
      TIM_ASSIGN_OR_RETURN(const auto actual,
                           RunKernel(node, kernel, layout, inputs, device));
      TIM_RETURN_IF_ERROR(
          CompareTensors(expected[0], actual[0])
              .WithContext(StrCat("layout ", layout, ", ", device.ToString())));
    }
  }
  return OkStatus();
}

Status CheckCodes(const TestNode& node, const std::string& kernel,
                  std::mt19937& rng) {
  for (const ir::DeviceInfo& device : DotForms()) {
    TIM_RETURN_IF_ERROR(CheckCodes(node, kernel, device, rng));
  }
  return OkStatus();
}

Status CheckRandomExtents(const std::string& kernel,
                          const ir::DeviceInfo& device, const MostExtents& most,
                          uint32_t seed) {
  std::mt19937 rng = SeededRng(seed);
  const auto small = [&](int64_t limit) {
    return static_cast<int64_t>(rng() % limit);
  };
  const int cases = RunsLongTests() ? 20 : 7;
  int checked = 0;
  while (checked < cases) {
    const int64_t groups = most.groups > 1 ? 1 + small(most.groups) : 1;
    const int64_t channels = 1 + small(most.inputs);
    const CodeConvolution convolution = {
        .input = {1 + small(40), 1 + small(9), channels * groups, 1 + small(2)},
        .kernel = {1 + small(7), 1 + small(5), channels,
                   groups * (1 + small(most.outputs))},
        .padding = small(4) - 1,
        .pad = {small(5), small(5), small(5), small(5)},
        .stride = {1 + small(3), 1 + small(3)},
        .dilation = {small(4), small(3)}};
    CodeTypes types = small(2) == 0 ? kUnsignedCodes : kSignedCodes;
    types.per_channel = small(2) == 0;
    types.bias = small(2) == 0;
    const auto node = NodeOf(convolution, types, rng);
    if (!node.ok()) continue;  // The kernel does not fit the input.
    TIM_RETURN_IF_ERROR(
        CheckCodes(*node, kernel, device, rng)
            .WithContext(StrCat(convolution.attributes().ToString(), " ",
                                node->input(0).ToString(), " ",
                                node->input(1).ToString())));
    ++checked;
  }
  return OkStatus();
}

Status CheckDeclaredExtents(const std::string& kernel,
                            const ir::DeviceInfo& device, uint32_t seed) {
  std::mt19937 rng = SeededRng(seed);
  const CodeConvolution convolution = {.input = {8, 5, 4, 1},
                                       .kernel = {3, 3, 4, 20}};
  const TensorDesc weights = WeightsOf(convolution, kUnsignedCodes);
  const std::vector<int64_t> declared[] = {{20, 2}, {3, 9}, {1, 1}};
  for (const std::vector<int64_t>& extents : declared) {
    TensorDesc output = OutputOf(convolution, kUnsignedCodes);
    output.shape = ir::Shape({extents[0], extents[1], 20, 1});
    TIM_ASSIGN_OR_RETURN(
        const TestNode node,
        MakeNode(
            "tim.Conv2d", {},
            {Desc(DataType::kUint8, convolution.input, 0.02f, 200), weights},
            {output}, {{1, RandomTensor(weights, rng)}}));
    TIM_RETURN_IF_ERROR(CheckCodes(node, kernel, device, rng)
                            .WithContext(output.shape.ToString()));
  }
  return OkStatus();
}

Status CheckFusedLimits(const CodeConvolution& convolution,
                        const std::string& kernel,
                        const std::vector<ir::DeviceInfo>& devices,
                        uint32_t seed) {
  std::mt19937 rng = SeededRng(seed);
  // Zero is no result of the last.
  const std::pair<const char*, ir::AttributeMap> operators[] = {
      {"tim.Relu", {}},
      {"tim.Relu1", {}},
      {"tim.Relu6", {}},
      {"tim.Clip", {{"min", 0.25f}, {"max", 0.5f}}}};
  for (const auto& [op, attributes] : operators) {
    for (const CodeTypes& types : {kUnsignedCodes, kSignedCodes}) {
      TIM_ASSIGN_OR_RETURN(const TestNode plain,
                           NodeOf(convolution, types, rng));
      TIM_ASSIGN_OR_RETURN(const TestNode node,
                           Fuse(plain, op, attributes, {}, plain.output()));
      for (const ir::DeviceInfo& device : devices) {
        TIM_RETURN_IF_ERROR(
            CheckCodes(node, kernel, device, rng)
                .WithContext(StrCat(op, " ", types.ToString())));
      }
    }
  }
  return OkStatus();
}

Status CheckExtremeCodes(const CodeConvolution& convolution,
                         const std::string& kernel,
                         const std::vector<ir::DeviceInfo>& devices) {
  for (const CodeTypes& types : {kUnsignedCodes, kSignedCodes}) {
    const TensorDesc weights = WeightsOf(convolution, types);
    const TensorDesc input =
        Desc(types.input, convolution.input, kInputScale, types.input_zero);
    const auto filled = [](const TensorDesc& desc, uint8_t code) {
      return MakeTensor(desc,
                        std::vector<uint8_t>(*desc.shape.NumElements(), code));
    };
    for (const uint8_t weight : {0x00, 0x7f, 0x80, 0xff}) {
      TIM_ASSIGN_OR_RETURN(
          const TestNode node,
          MakeNode("tim.Conv2d", convolution.attributes(), {input, weights},
                   {OutputOf(convolution, types)},
                   {{1, filled(weights, weight)}}));
      for (const uint8_t code : {0x00, 0x7f, 0x80, 0xff}) {
        TIM_RETURN_IF_ERROR(
            CheckCodes(node, kernel, {filled(input, code)}, devices)
                .WithContext(StrCat(types.ToString(), ": ", int{weight}, " * ",
                                    int{code})));
      }
    }
  }
  return OkStatus();
}

Status CheckLargeSums(const std::string& kernel,
                      const std::vector<ir::DeviceInfo>& devices) {
  const int64_t channels = 40000;
  const TensorDesc weights =
      Desc(DataType::kUint8, {1, 1, channels, 2}, 0.01f, 0);
  const TensorDesc input =
      Desc(DataType::kUint8, {2, 1, channels, 1}, 0.01f, 0);
  TensorDesc output = Inferred(DataType::kUint8);
  output.quantization = ir::Quantization::PerTensor(1000.0f, 3);
  const auto node_of = [&](uint8_t weight) {
    return MakeNode(
        "tim.Conv2d", {}, {input, weights}, {output},
        {{1, MakeTensor(weights, std::vector<uint8_t>(2 * channels, weight))}});
  };
  TIM_ASSIGN_OR_RETURN(const TestNode fits, node_of(210));
  TIM_RETURN_IF_ERROR(CheckCodes(
      fits, kernel,
      {MakeTensor(input, std::vector<uint8_t>(2 * channels, 255))}, devices));
  TIM_ASSIGN_OR_RETURN(const TestNode large, node_of(211));
  const Status refusal = Supports(large, kernel, devices[0]);
  if (refusal.ToString().find("may need more than 32 bits") !=
      std::string::npos) {
    return OkStatus();
  }
  return InvalidArgument("a sum beyond 32 bits: ", refusal.ToString());
}

}  // namespace tim::testing
