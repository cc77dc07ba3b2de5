#include "tests/support/data/sum_types.h"

#include <algorithm>
#include <cmath>

namespace tim::testing {
namespace {

using ir::DataType;
using ir::TensorDesc;

constexpr SumType kF32 = {DataType::kFloat32, Quantized::kNo};
constexpr SumType kF16 = {DataType::kFloat16, Quantized::kNo};
constexpr SumType kU8 = {DataType::kUint8, Quantized::kPerTensor};
constexpr SumType kI8 = {DataType::kInt8, Quantized::kPerTensor};
constexpr SumType kI16 = {DataType::kInt16, Quantized::kPerTensor};
constexpr SumType kU16 = {DataType::kUint16, Quantized::kPerTensor};
constexpr SumType kI8Channel = {DataType::kInt8, Quantized::kPerChannel};
constexpr SumType kU8Channel = {DataType::kUint8, Quantized::kPerChannel};
constexpr SumType kI16Channel = {DataType::kInt16, Quantized::kPerChannel};
constexpr SumType kI8Fixed = {DataType::kInt8, Quantized::kFixed};
constexpr SumType kI16Fixed = {DataType::kInt16, Quantized::kFixed};
constexpr SumType kU4 = {DataType::kUint4, Quantized::kPerTensor};
constexpr SumType kI4 = {DataType::kInt4, Quantized::kPerTensor};
constexpr SumType kI8Plain = {DataType::kInt8, Quantized::kNo};
constexpr SumType kI32Plain = {DataType::kInt32, Quantized::kNo};
constexpr SumType kB16 = {DataType::kBFloat16, Quantized::kNo};

// Standard deviation of the real values that RandomTensor makes.
double Spread(const TensorDesc& desc) {
  if (ir::IsFloat(desc.type)) return 2.0;
  const ir::DataTypeInfo& info = ir::Info(desc.type);
  const double codes = static_cast<double>(info.max - info.min) / 3.46;
  return codes * (desc.quantized() ? desc.quantization.Scale() : 1.0);
}

float RandomScale(std::mt19937& rng) {
  return std::uniform_real_distribution<float>(0.002f, 0.05f)(rng);
}

// Zero point 0 (symmetric) or anywhere in the range.
int32_t RandomZero(DataType type, std::mt19937& rng) {
  const ir::DataTypeInfo& info = ir::Info(type);
  const bool is_unsigned = info.min == 0;
  if (!is_unsigned && rng() % 2 == 0) return 0;
  return static_cast<int32_t>(info.min + static_cast<int64_t>(rng()) %
                                             (info.max - info.min + 1));
}

ir::Quantization RandomQuantization(SumType type, int axis, int64_t channels,
                                    std::mt19937& rng) {
  ir::Quantization out;
  switch (type.quantized) {
    case Quantized::kNo:
      break;
    case Quantized::kPerTensor:
      out = ir::Quantization::PerTensor(RandomScale(rng),
                                        RandomZero(type.type, rng));
      break;
    case Quantized::kFixed:
      out.kind = ir::QuantizationKind::kFixedPoint;
      out.fl = static_cast<int>(rng() % 6) + 2;
      break;
    case Quantized::kPerChannel:
      out.kind = ir::QuantizationKind::kPerChannel;
      out.axis = axis;
      for (int64_t c = 0; c < channels; ++c) {
        out.scales.push_back(RandomScale(rng));
        out.zero_points.push_back(0);
      }
      break;
  }
  return out;
}

// Real value of 1 in an integer sum; 0 where sums are float.
double SumUnit(const SumOperands& operands, int64_t channel) {
  double unit = 1.0;
  for (const TensorDesc* desc : {&operands.input, &operands.weights}) {
    if (ir::IsFloat(desc->type)) return 0.0;
    if (desc->quantized()) unit *= desc->quantization.Scale(channel);
  }
  return unit;
}

// A scale such that `spread` covers a quarter of the codes.
void FitQuantization(double spread, TensorDesc* desc) {
  if (!desc->quantized()) return;
  const ir::DataTypeInfo& info = ir::Info(desc->type);
  const double scale = spread * 6 / static_cast<double>(info.max - info.min);
  if (desc->quantization.kind == ir::QuantizationKind::kFixedPoint) {
    desc->quantization.fl = static_cast<int>(std::floor(-std::log2(scale)));
  } else {
    desc->quantization.scales = {static_cast<float>(scale)};
  }
}

TensorDesc BiasDesc(BiasKind kind, const SumOperands& operands,
                    int64_t channels, std::mt19937& rng) {
  switch (kind) {
    case BiasKind::kFloat32:
      return Desc(DataType::kFloat32, {channels});
    case BiasKind::kFloat16:
      return Desc(DataType::kFloat16, {channels});
    case BiasKind::kInt32Plain:
      return Desc(DataType::kInt32, {channels});
    case BiasKind::kInt64:
      return Desc(DataType::kInt64, {channels});
    case BiasKind::kInt32Own:
      return Desc(DataType::kInt32, {channels}, RandomScale(rng),
                  static_cast<int32_t>(rng() % 100));
    case BiasKind::kInt32:
      break;
  }
  TensorDesc out = Desc(DataType::kInt32, {channels});
  const ir::Quantization& weights = operands.weights.quantization;
  const float input = operands.input.quantization.Scale();
  out.quantization = ir::Quantization::PerTensor(input * weights.Scale(), 0);
  if (weights.per_channel()) {
    out.quantization.kind = ir::QuantizationKind::kPerChannel;
    out.quantization.axis = 0;
    out.quantization.scales = weights.scales;
    for (float& scale : out.quantization.scales) scale *= input;
  }
  return out;
}

}  // namespace

std::vector<SumTypes> KernelSumTypes() {
  using B = BiasKind;
  return {
      {"f32", kF32, kF32, kF32, {B::kFloat32, B::kFloat16}},
      {"f16", kF16, kF16, kF16, {B::kFloat16, B::kFloat32}},
      {"f16_f32", kF16, kF16, kF32, {B::kFloat32}},
      {"u8", kU8, kU8, kU8, {B::kInt32, B::kInt32Own, B::kFloat32}},
      {"u8_plain_bias", kU8, kU8, kU8, {B::kInt32Plain}},
      {"u8_f32", kU8, kU8, kF32, {B::kInt32, B::kFloat32}},
      {"u8_f16", kU8, kU8, kF16, {B::kInt32}},
      {"i8", kI8, kI8, kI8, {B::kInt32, B::kFloat16}},
      {"i8_channel", kI8, kI8Channel, kI8, {B::kInt32, B::kInt32Own}},
      {"u8_i8_channel", kU8, kI8Channel, kU8, {B::kInt32}},
      {"u8_u8_channel", kU8, kU8Channel, kU8, {B::kInt32}},
      {"i16", kI16, kI16, kI16, {B::kInt32, B::kInt64}},
      {"u8_i8", kU8, kI8, kI8, {B::kInt32}},
      {"u8_i16", kU8, kI16, kU8, {B::kInt32}},
      {"i16_u8", kI16, kU8, kI16, {B::kInt32}},
      {"u16_i8", kU16, kI8, kU16, {B::kInt32}},
      {"i8_fixed", kI8Fixed, kI8Fixed, kI8Fixed, {B::kInt32}},
      {"i16_fixed", kI16Fixed, kI16Fixed, kI16Fixed, {B::kInt64, B::kInt32}},
      {"i16_fixed_channel", kI16Fixed, kI16Channel, kI16Fixed, {B::kInt64}},
      {"plain_i8", kI8Plain, kI8Plain, kI32Plain, {B::kInt32Plain}},
      {"plain_i8_saturated", kI8Plain, kI8Plain, kI8Plain, {B::kInt64}},
      {"f32_i8_channel", kF32, kI8Channel, kF32, {B::kFloat32}},
      {"f32_u8_out", kF32, kF32, kU8, {B::kFloat32, B::kInt32Own}},
      {"u8_f16_weights", kU8, kF16, kU8, {B::kFloat16}},
  };
}

std::vector<SumTypes> EvalSumTypes() {
  using B = BiasKind;
  return {
      {"u4", kU4, kU4, kU4, {B::kInt32}},
      {"i4", kI4, kI4, kI8, {B::kInt32}},
      {"u8_i4", kU8, kI4, kU8, {B::kInt32}},
      {"u4_i16", kU4, kI16, kI16, {B::kInt32}},
      {"bf16", kB16, kB16, kF32, {B::kFloat32}},
  };
}

SumOperands RandomSumOperands(const SumTypes& types, const SumSizes& sizes,
                              std::mt19937& rng) {
  SumOperands out;
  out.input = Desc(types.input.type, sizes.input);
  out.input.quantization = RandomQuantization(types.input, 0, 1, rng);
  out.weights = Desc(types.weights.type, sizes.weights);
  out.weights.quantization = RandomQuantization(
      types.weights, sizes.weights_axis, sizes.channels, rng);
  out.output.type = types.output.type;
  out.output.quantization = RandomQuantization(types.output, 0, 1, rng);
  FitQuantization(Spread(out.input) * Spread(out.weights) *
                      std::sqrt(static_cast<double>(sizes.terms)),
                  &out.output);
  const size_t draw = rng() % (types.biases.size() + 1);
  if (draw < types.biases.size()) {
    out.bias = BiasDesc(types.biases[draw], out, sizes.channels, rng);
  }
  return out;
}

TensorData RandomBias(const SumOperands& operands, int64_t terms,
                      std::mt19937& rng) {
  const TensorDesc& desc = *operands.bias;
  if (ir::IsFloat(desc.type)) return RandomTensor(desc, rng);
  double spread = Spread(operands.input) * Spread(operands.weights) *
                  std::sqrt(static_cast<double>(terms));
  const double unit =
      desc.quantized()
          ? desc.quantization.Scale()
          : (operands.input.quantized() ? operands.input.quantization.Scale()
                                        : 1.0) *
                operands.weights.quantization.Scale();
  std::uniform_int_distribution<int64_t> codes(
      -static_cast<int64_t>(std::min(spread / unit, 1e9)),
      static_cast<int64_t>(std::min(spread / unit, 1e9)));
  const int64_t channels = desc.shape[0];
  std::vector<int64_t> wide(channels);
  for (int64_t& code : wide) code = codes(rng);
  if (desc.type == DataType::kInt64) return MakeTensor<int64_t>(desc, wide);
  return MakeTensor<int32_t>(desc, {wide.begin(), wide.end()});
}

std::vector<double> BiasReals(const SumOperands& operands,
                              const std::vector<TensorData>& inputs) {
  if (!operands.bias) return {};
  std::vector<double> out = RealValues(inputs[2]);
  if (ir::IsFloat(operands.bias->type) || operands.bias->quantized()) {
    return out;
  }
  for (size_t c = 0; c < out.size(); ++c) {
    out[c] *= SumUnit(operands, static_cast<int64_t>(c));
  }
  return out;
}

void RealSums::Add(double sum, double sum_of_magnitudes) {
  values.push_back(sum);
  magnitude = std::max(magnitude, sum_of_magnitudes);
}

Status CheckRealSums(const SumOperands& operands, const RealSums& expected,
                     const TensorData& actual) {
  const std::vector<double> found = RealValues(actual);
  const TensorDesc& desc = actual.desc;
  if (found.size() != expected.values.size()) {
    return InvalidArgument(found.size(), " elements, expected ",
                           expected.values.size());
  }
  double slack = 1e-6 * expected.magnitude;
  if (operands.bias) {
    const int64_t channels = operands.bias->shape[0];
    double unit = 0;
    for (int64_t c = 0; c < channels; ++c) {
      unit = std::max(unit, SumUnit(operands, c));
    }
    slack += 0.5 * unit;
  }
  const ir::DataTypeInfo& info = ir::Info(desc.type);
  const double scale = desc.quantized() ? desc.quantization.Scale() : 1.0;
  const double zero = desc.quantized() ? desc.quantization.ZeroPoint() : 0.0;
  for (size_t i = 0; i < found.size(); ++i) {
    double want = expected.values[i];
    double tolerance = slack;
    if (desc.type == DataType::kFloat16) tolerance += 5e-4 * std::abs(want);
    if (!ir::IsFloat(desc.type)) {
      want = std::clamp(want, (static_cast<double>(info.min) - zero) * scale,
                        (static_cast<double>(info.max) - zero) * scale);
      tolerance += 0.501 * scale;
    }
    if (std::abs(found[i] - want) <= tolerance) continue;
    return InvalidArgument("element ", i, " is ", found[i], ", expected ", want,
                           " within ", tolerance);
  }
  return OkStatus();
}

}  // namespace tim::testing
