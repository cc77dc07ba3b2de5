#include "tests/ops/convolution_i8/code_convolutions.h"

#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "base/str_cat.h"

namespace tim::testing {
namespace {

using ir::DataType;
using ir::TensorDesc;

constexpr float kInputScale = 0.02f;
constexpr float kWeightsScale = 0.005f;

}  // namespace

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
  return MakeNode("tim.Conv2d", convolution.attributes(), inputs,
                  {OutputOf(convolution, types)}, std::move(constants));
}

std::vector<ir::DeviceInfo> DotForms() {
  std::vector<ir::DeviceInfo> out = {TestDevice()};
  if (out[0].has_vnni) {
    out.push_back(out[0]);
    out[1].has_vnni = false;
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

}  // namespace tim::testing
