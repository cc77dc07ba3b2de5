#include "ops/elements/product_sum.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "ops/elements/shapes.h"
#include "ops/launch/packed.h"

namespace tim::ops {
namespace {

using ir::DataType;
using ir::TensorDesc;

constexpr DataType kFactorTypes[] = {
    DataType::kInt4,     DataType::kUint4,   DataType::kInt8,
    DataType::kUint8,    DataType::kInt16,   DataType::kUint16,
    DataType::kBFloat16, DataType::kFloat16, DataType::kFloat32};
constexpr DataType kBiasTypes[] = {DataType::kInt32, DataType::kInt64,
                                   DataType::kFloat16, DataType::kFloat32};

bool Contains(std::span<const DataType> types, DataType type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

Status CheckType(const char* operand, DataType type,
                 std::vector<DataType> legal) {
  if (Contains(legal, type)) return OkStatus();
  std::vector<std::string> names;
  for (const DataType each : legal) names.emplace_back(ir::ToString(each));
  return InvalidArgument(operand, " is ", ir::ToString(type),
                         ", expected one of ", StrJoin(names, ", "));
}

bool PerChannel(const TensorDesc& desc) {
  return desc.quantized() && desc.quantization.per_channel();
}

Status CheckPerTensor(const char* operand, const TensorDesc& desc) {
  if (!PerChannel(desc)) return OkStatus();
  return InvalidArgument(operand,
                         " is quantized per channel, only weights and bias "
                         "may be");
}

Status CheckScales(const char* operand, const TensorDesc& desc,
                   int64_t channels) {
  if (!PerChannel(desc)) return OkStatus();
  const auto count = static_cast<int64_t>(desc.quantization.scales.size());
  if (count == 1 || count == channels) return OkStatus();
  return InvalidArgument(operand, " has ", count, " scales, expected ",
                         channels, ", one for each output channel");
}

bool IsIntegerSum(const SumDescs& descs) {
  return ir::IsInteger(descs.input->type) && ir::IsInteger(descs.weights->type);
}

// Scale and zero point as they count: none for float types.
float ScaleOf(const TensorDesc& desc, int64_t channel) {
  return desc.quantized() ? desc.quantization.Scale(channel) : 1.0f;
}
int32_t ZeroOf(const TensorDesc& desc, int64_t channel) {
  return desc.quantized() ? desc.quantization.ZeroPoint(channel) : 0;
}

// Units of the sum in 1.0 of the bias; 0 where its codes have these units.
float BiasInverse(const TensorDesc& bias, int64_t channel, double sum_scale) {
  if (ir::IsInteger(bias.type)) {
    if (!bias.quantized()) return 0.0f;
    const double scale = bias.quantization.Scale(channel);
    if (std::abs(scale - sum_scale) <= 1e-5 * sum_scale) return 0.0f;
  }
  return static_cast<float>(1.0 / sum_scale);
}

int64_t Saturate(Int128 value) {
  constexpr auto kMin = std::numeric_limits<int64_t>::min();
  constexpr auto kMax = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::clamp(value, Int128{kMin}, Int128{kMax}));
}

}  // namespace

SumDescs DescsOf(const ir::EvalContext& context) {
  return {context.inputs[0].desc, context.inputs[1].desc,
          context.has_input(2) ? context.inputs[2].desc : nullptr,
          context.outputs[0].desc};
}

SumDescs DescsOf(const ir::NodeView& view) {
  return {view.inputs[0], view.inputs[1],
          view.inputs.size() > 2 ? view.inputs[2] : nullptr, view.outputs[0]};
}

SumDescs DescsOf(const ir::KernelNode& node) {
  return {&node.inputs[0], &node.inputs[1],
          AnchorHasInput(node, 2) ? &node.inputs[2] : nullptr,
          &node.anchor_output};
}

bool AnchorHasInput(const ir::KernelNode& node, int index) {
  return index < static_cast<int>(node.anchor->inputs.size()) &&
         node.has_input(index);
}

Status CheckSumTypes(const SumDescs& descs,
                     std::initializer_list<int> weight_axes,
                     std::initializer_list<DataType> more) {
  std::vector<DataType> factors(std::begin(kFactorTypes),
                                std::end(kFactorTypes));
  factors.insert(factors.end(), more.begin(), more.end());
  std::vector<DataType> results = factors;
  if (!Contains(results, DataType::kInt32)) {
    results.push_back(DataType::kInt32);
  }
  TIM_RETURN_IF_ERROR(CheckType("input 0", descs.input->type, factors));
  TIM_RETURN_IF_ERROR(CheckType("input 1", descs.weights->type, factors));
  TIM_RETURN_IF_ERROR(CheckType("the output", descs.output->type, results));
  TIM_RETURN_IF_ERROR(CheckPerTensor("input 0", *descs.input));
  TIM_RETURN_IF_ERROR(CheckPerTensor("the output", *descs.output));
  const int axis = descs.weights->quantization.axis;
  if (PerChannel(*descs.weights) &&
      std::find(weight_axes.begin(), weight_axes.end(), axis) ==
          weight_axes.end()) {
    return InvalidArgument("input 1 is quantized per channel along axis ", axis,
                           weight_axes.size() == 0
                               ? ", which is not possible here"
                               : ", expected axis ",
                           StrJoin(weight_axes, " or "));
  }
  if (descs.bias == nullptr) return OkStatus();
  TIM_RETURN_IF_ERROR(
      CheckType("the bias", descs.bias->type,
                {std::begin(kBiasTypes), std::end(kBiasTypes)}));
  if (PerChannel(*descs.bias) && descs.bias->quantization.axis != 0) {
    return InvalidArgument("the bias is quantized per channel along axis ",
                           descs.bias->quantization.axis, ", expected axis 0");
  }
  return OkStatus();
}

Status CheckSumChannels(const SumDescs& descs, int64_t channels) {
  if (channels == ir::kUnknownDim) return OkStatus();
  TIM_RETURN_IF_ERROR(CheckScales("input 1", *descs.weights, channels));
  if (descs.bias == nullptr) return OkStatus();
  TIM_RETURN_IF_ERROR(CheckScales("the bias", *descs.bias, channels));
  const auto count = descs.bias->shape.NumElements();
  if (!count || *count == channels) return OkStatus();
  return InvalidArgument("the bias ", descs.bias->shape.ToString(), " has ",
                         *count, " elements, expected ", channels,
                         ", one for each output channel");
}

SumKind SumKindOf(const SumDescs& descs, int64_t terms) {
  if (!IsIntegerSum(descs)) return SumKind::kFloat;
  const Int128 bound = MaxMagnitude(*descs.input) *
                       MaxMagnitude(*descs.weights) *
                       std::max<int64_t>(terms, 1);
  if (bound <= std::numeric_limits<int32_t>::max()) return SumKind::kInt;
  if (bound <= std::numeric_limits<int64_t>::max()) return SumKind::kLong;
  return SumKind::kWide;
}

Int128 MaxMagnitude(const TensorDesc& desc) {
  const ir::DataTypeInfo& info = ir::Info(desc.type);
  std::vector<int32_t> zeros = {0};
  if (desc.quantized()) {
    zeros = {desc.quantization.ZeroPoint()};
    if (PerChannel(desc)) zeros = desc.quantization.zero_points;
  }
  if (zeros.empty()) zeros = {0};
  Int128 magnitude = 0;
  for (const int32_t zero : zeros) {
    magnitude =
        std::max({magnitude, Int128{info.max} - zero, Int128{zero} - info.min});
  }
  return magnitude;
}

bool IsPlainSum(const SumDescs& descs) {
  return kernels::IsPlainInteger(*descs.input) &&
         kernels::IsPlainInteger(*descs.weights) &&
         kernels::IsPlainInteger(*descs.output);
}

ChannelRule RuleOf(const SumDescs& descs, int64_t channel) {
  ChannelRule rule;
  rule.weight_zero = ZeroOf(*descs.weights, channel);
  if (descs.bias != nullptr) {
    rule.bias_scale = ScaleOf(*descs.bias, channel);
    rule.bias_zero = ZeroOf(*descs.bias, channel);
  }
  if (!IsIntegerSum(descs)) {
    rule.factor = ScaleOf(*descs.weights, channel);
    return rule;
  }
  const double sum_scale = static_cast<double>(ScaleOf(*descs.input, 0)) *
                           ScaleOf(*descs.weights, channel);
  rule.factor = static_cast<float>(sum_scale / ScaleOf(*descs.output, 0));
  if (descs.bias != nullptr) {
    rule.bias_inverse = BiasInverse(*descs.bias, channel, sum_scale);
  }
  return rule;
}

std::vector<int64_t> BiasUnits(const SumDescs& descs,
                               const ir::ConstTensor& bias, int64_t channels) {
  const kernels::ElementReader reader(bias);
  std::vector<int64_t> units;
  for (int64_t c = 0; c < channels; ++c) {
    const ChannelRule rule = RuleOf(descs, c);
    units.push_back(rule.bias_inverse == 0.0f && !ir::IsFloat(descs.bias->type)
                        ? reader.Code(c) - rule.bias_zero
                        : kernels::FloatToInt64(std::nearbyintf(
                              reader.Real(c) * rule.bias_inverse)));
  }
  return units;
}

SumWriter::SumWriter(const ir::EvalContext& context, int64_t channels)
    : writer_(context.outputs[0], kernels::PolicyOf(context.attributes())) {
  const SumDescs descs = DescsOf(context);
  for (int64_t c = 0; c < channels; ++c) {
    const ChannelRule rule = RuleOf(descs, c);
    factors_.push_back(rule.factor);
    if (descs.bias == nullptr) continue;
    const kernels::ElementReader bias(context.inputs[2]);
    bias_reals_.push_back(bias.Real(c));
  }
  if (descs.bias != nullptr) {
    bias_units_ = BiasUnits(descs, context.inputs[2], channels);
  }
  plain_ = IsPlainSum(descs);
  float_output_ = ir::IsFloat(descs.output->type);
  output_zero_ = static_cast<float>(ZeroOf(*descs.output, 0));
}

void SumWriter::Store(int64_t index, int64_t channel, float sum) {
  writer_.StoreReal(index,
                    bias_reals_.empty() ? sum : sum + bias_reals_[channel]);
}

void SumWriter::Store(int64_t index, int64_t channel, Int128 sum) {
  int64_t total = Saturate(sum);
  if (!bias_units_.empty()) {
    total = Saturate(Int128{total} + bias_units_[channel]);
  }
  if (plain_) return writer_.StoreCode(index, total);
  const float product = static_cast<float>(total) * factors_[channel];
  writer_.StoreUnits(index, float_output_ ? product : product + output_zero_);
}

std::vector<int64_t> CenteredCodes(const ir::ConstTensor& tensor) {
  const kernels::ElementReader reader(tensor);
  const kernels::ChannelIndex channel(*tensor.desc);
  std::vector<int64_t> out(tensor.desc->shape.NumElements().value_or(0));
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = reader.Code(i) - ZeroOf(*tensor.desc, channel(i));
  }
  return out;
}

std::vector<float> RealValues(const ir::ConstTensor& tensor) {
  const kernels::ElementReader reader(tensor);
  std::vector<float> out(tensor.desc->shape.NumElements().value_or(0));
  for (size_t i = 0; i < out.size(); ++i) out[i] = reader.Real(i);
  return out;
}

int64_t FactorBytes(const ir::NodeView& view) {
  const SumDescs descs = DescsOf(view);
  const int64_t each = IsIntegerSum(descs) ? sizeof(int64_t) : sizeof(float);
  return each * (descs.input->shape.NumElements().value_or(0) +
                 descs.weights->shape.NumElements().value_or(0));
}

ir::ComputeEstimate SumEstimate(const ir::NodeView& view, double terms) {
  return ElementwiseEstimate(view, 2.0 * terms);
}

double SumCost(const ir::KernelNode& node, int64_t terms,
               const ir::DeviceInfo& device, const Price& price) {
  return EstimateMicroseconds(
      SumEstimate(AnchorView(node).view(), static_cast<double>(terms)), device,
      price);
}

Status CheckFloat32(const ir::KernelNode& node) {
  const SumDescs descs = DescsOf(node);
  for (const ir::TensorDesc* desc :
       {descs.input, descs.weights, descs.bias, descs.output}) {
    if (desc != nullptr && desc->type != ir::DataType::kFloat32) {
      return Unimplemented("all operands must be float32, not ",
                           ir::ToString(desc->type));
    }
  }
  return OkStatus();
}

Status CheckSumKernel(const ir::KernelNode& node, int64_t terms) {
  TIM_RETURN_IF_ERROR(CheckKernelOperands(node, {1, 2}));
  const SumDescs descs = DescsOf(node);
  if (SumKindOf(descs, terms) == SumKind::kWide &&
      SumKindOf(descs, 1) == SumKind::kWide) {
    return Unimplemented("products of ", descs.input->ToString(), " and ",
                         descs.weights->ToString(), " do not fit 64 bits");
  }
  return OkStatus();
}

void AddSumOptions(const ir::KernelNode& node, int64_t terms, Launch* launch) {
  static constexpr const char* kNames[] = {"FLOAT", "INT", "LONG", "WIDE"};
  const SumDescs descs = DescsOf(node);
  const auto kind = static_cast<int>(SumKindOf(descs, terms));
  launch->Type("IN0", *descs.input)
      .Type("IN1", *descs.weights)
      .Type("OUT", *descs.output)
      .Option(StrCat("-DSUM=", kNames[kind]))
      .Policy(node.attributes());
  if (descs.bias != nullptr) launch->Type("BIAS", *descs.bias);
  if (IsPlainSum(descs)) launch->Option("-DPLAIN");
}

ir::PackedConstant ChannelTable(const SumDescs& descs, int64_t channels) {
  std::vector<int32_t> words;
  for (int64_t c = 0; c < channels; ++c) {
    const ChannelRule rule = RuleOf(descs, c);
    words.push_back(std::bit_cast<int32_t>(rule.factor));
    words.push_back(std::bit_cast<int32_t>(rule.weight_zero));
    words.push_back(std::bit_cast<int32_t>(rule.bias_scale));
    words.push_back(std::bit_cast<int32_t>(rule.bias_zero));
    words.push_back(std::bit_cast<int32_t>(rule.bias_inverse));
  }
  return PackedTable("channel_table", std::move(words));
}

void AddSumOperands(const ir::KernelNode& node, const Epilogue& epilogue,
                    int64_t terms, int64_t channels, Launch* launch) {
  const SumDescs descs = DescsOf(node);
  AddSumOptions(node, terms, launch);
  launch->Input("input", node, 0)
      .Input("weights", node, 1)
      .Packed("channels", ChannelTable(descs, channels), 4);
  if (descs.bias != nullptr) launch->Input("bias", node, 2);
  if (epilogue.add >= 0) {
    launch->Option("-DADD").Input("add", node, epilogue.add);
  }
  launch->Output("output", node, 0)
      .InputQuantization("input", *descs.input)
      .OutputQuantization("output", *descs.output);
  AddActivation(epilogue, *descs.output, launch);
}

}  // namespace tim::ops
