// Values of codes: labels of tensors, and conversions from and to real values.
#include "models/onnx/ops/codes.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "models/onnx/ops/compose.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/clip.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/reduce.h"
#include "tim/vx/ops/relational_operations.h"
#include "tim/vx/ops/select.h"
#include "tim/vx/ops/simple_operations.h"

namespace tim::models::onnx {
namespace {

using vx::DataType;
using vx::QuantType;

// Conversions of a model stand for operators on codes.
constexpr auto kFoldable = vx::ops::DataConvert::Folding::ALLOWED;

// The zero points of an operand; of one that is absent: 0 for each scale.
Result<std::vector<int32_t>> ZeroPointsOf(const Node& node, size_t input,
                                          DataType type, size_t count) {
  if (!node.Has(input)) return std::vector<int32_t>(count, 0);
  if (node.inputs[input].type != type) {
    return InvalidArgument("operand ", input, " is ",
                           Describe(node.inputs[input]),
                           ", another type than the codes");
  }
  const bool packed = type == DataType::INT4 || type == DataType::UINT4;
  Dims given;
  if (packed) {
    TIM_ASSIGN_OR_RETURN(given, NibblesOf(node, input));
  } else {
    TIM_ASSIGN_OR_RETURN(given, node.ConstantInts(input));
  }
  if (given.size() != count) {
    return InvalidArgument("operand ", input, " has ", given.size(),
                           " zero points for ", count, " scales");
  }
  std::vector<int32_t> zeros;
  for (const int64_t zero : given) {
    if (type == DataType::INT32 && zero != 0) {
      return Unimplemented("operand ", input, " is ", zero,
                           ", int32 codes have a zero point of 0");
    }
    zeros.push_back(static_cast<int32_t>(zero));
  }
  return zeros;
}

Status CheckScales(const std::vector<float>& scales, size_t input) {
  for (const float scale : scales) {
    if (std::isfinite(scale) && scale > 0) continue;
    return InvalidArgument("operand ", input,
                           " has a scale that is not finite and positive");
  }
  if (!scales.empty()) return OkStatus();
  return InvalidArgument("operand ", input, " has no scales");
}

// A quantization whose zero points are 0.
vx::Quantization WithoutZeroPoints(vx::Quantization quantization) {
  quantization.SetZeroPoints(
      std::vector<int32_t>(quantization.Scales().size(), 0));
  return quantization;
}

bool HasOddZeroPoint(const vx::Quantization& quantization) {
  const std::vector<int32_t>& zeros = quantization.ZeroPoints();
  return std::any_of(zeros.begin(), zeros.end(),
                     [](int32_t zero) { return zero % 2 != 0; });
}

}  // namespace

bool IsCodeType(DataType type) {
  switch (type) {
    case DataType::INT4:
    case DataType::UINT4:
    case DataType::INT8:
    case DataType::UINT8:
    case DataType::INT16:
    case DataType::UINT16:
      return true;
    default:
      return false;
  }
}

CodeRange RangeOf(DataType type) {
  switch (type) {
    case DataType::INT4:
      return {-8, 7};
    case DataType::UINT4:
      return {0, 15};
    case DataType::INT8:
      return {-128, 127};
    case DataType::UINT8:
      return {0, 255};
    case DataType::INT16:
      return {-32768, 32767};
    default:
      return {0, 65535};
  }
}

Result<Dims> NibblesOf(const Node& node, size_t input) {
  const Value& value = node.inputs[input];
  if (value.constant == nullptr) {
    return Unimplemented("operand ", input, " is not known at import");
  }
  const int64_t count = value.ElementCount();
  const int64_t columns = value.dims.empty() ? 1 : value.dims.back();
  const int64_t row_bytes = (columns + 1) / 2;
  if (count < 1 || columns < 1 ||
      static_cast<int64_t>(value.constant->bytes) <
          count / columns * row_bytes) {
    return InvalidArgument("operand ", input, " is ", Describe(value));
  }
  const auto* bytes = static_cast<const uint8_t*>(value.constant->data.get());
  Dims out;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t column = i % columns;
    const uint8_t both = bytes[i / columns * row_bytes + column / 2];
    const int nibble = column % 2 == 0 ? both & 15 : both >> 4;
    out.push_back(value.type == DataType::INT4 && nibble > 7 ? nibble - 16
                                                             : nibble);
  }
  return out;
}

Result<vx::Quantization> QuantizationOf(const Node& node, size_t scale,
                                        size_t zero_point, DataType type,
                                        const Dims& dims, int axis) {
  TIM_ASSIGN_OR_RETURN(std::vector<float> scales, node.ConstantFloats(scale));
  TIM_RETURN_IF_ERROR(CheckScales(scales, scale));
  TIM_ASSIGN_OR_RETURN(std::vector<int32_t> zeros,
                       ZeroPointsOf(node, zero_point, type, scales.size()));
  const bool several = scales.size() != 1;
  if (!several) {
    return vx::Quantization(QuantType::ASYMMETRIC, scales[0], zeros[0]);
  }
  const auto rank = static_cast<int>(dims.size());
  if (axis < 0 || axis >= rank ||
      static_cast<int64_t>(scales.size()) != dims[axis]) {
    return Unimplemented("operand ", scale, " has ", scales.size(),
                         " scales; one is taken, or one for each index of an "
                         "axis where the operator has that");
  }
  const bool symmetric = std::all_of(zeros.begin(), zeros.end(),
                                     [](int32_t zero) { return zero == 0; });
  return vx::Quantization(symmetric ? QuantType::SYMMETRIC_PER_CHANNEL
                                    : QuantType::ASYMMETRIC_PER_CHANNEL,
                          GraphAxis(axis, rank), std::move(scales),
                          std::move(zeros));
}

Result<vx::Quantization> QuantizationOf(const Node& node, size_t scale,
                                        size_t zero_point, DataType type) {
  return QuantizationOf(node, scale, zero_point, type, {}, -1);
}

Result<Value> Labelled(GraphBuilder* builder, const Value& codes,
                       const vx::Quantization& quantization) {
  if (codes.quantization == quantization) return codes;
  if (codes.constant != nullptr) {
    return builder->Constant(*codes.constant, codes.name, quantization);
  }
  const vx::TensorSpec& spec = codes.tensor->GetSpec();
  const bool is_input = (spec.attr_ & vx::INPUT) != 0;
  const bool is_read = !builder->graph()->GetConsumersOp(codes.tensor).empty();
  if (is_input && !is_read && !IsQuantized(spec.quantization_)) {
    Value labelled = codes;
    builder->SetQuantization(&labelled, quantization);
    return labelled;
  }
  return builder->Add<vx::ops::Cast>(
      {codes}, Wanted::Of(codes.type, codes.dims, quantization));
}

Result<Value> Unlabelled(GraphBuilder* builder, const Value& codes) {
  if (codes.constant != nullptr) {
    return builder->Constant(*codes.constant, codes.name);
  }
  if (!IsQuantized(codes.tensor->GetQuantization())) return codes;
  return builder->Add<vx::ops::Cast>({codes},
                                     Wanted::Of(codes.type, codes.dims));
}

namespace {

// Byte `at` of an array of 8-bit codes.
int32_t CodeAt(const HostArray& array, int64_t at) {
  return array.type == DataType::INT8
             ? static_cast<const int8_t*>(array.data.get())[at]
             : static_cast<const uint8_t*>(array.data.get())[at];
}

template <typename T>
Value CenteredConstant(const GraphBuilder& builder, const HostArray& codes,
                       const std::vector<int32_t>& differences) {
  return builder.ConstantOf(
      std::vector<T>(differences.begin(), differences.end()), codes.dims);
}

// Constant codes less a constant that broadcasts to them: of 8 bits where these
// hold them, kernels of bytes take them.
Value CenteredConstant(const GraphBuilder& builder, const HostArray& codes,
                       const HostArray& zero) {
  std::vector<int32_t> differences(static_cast<size_t>(codes.ElementCount()));
  const size_t lead = codes.dims.size() - zero.dims.size();
  Dims steps(codes.dims.size(), 0);  // In `zero`, along each axis.
  int64_t step = 1;
  for (size_t i = zero.dims.size(); i-- > 0;) {
    if (zero.dims[i] != 1) steps[lead + i] = step;
    step *= zero.dims[i];
  }
  Dims index(codes.dims.size(), 0);
  int64_t place = 0;
  int32_t least = 0;
  int32_t greatest = 0;
  for (size_t at = 0; at < differences.size(); ++at) {
    differences[at] =
        CodeAt(codes, static_cast<int64_t>(at)) - CodeAt(zero, place);
    least = std::min(least, differences[at]);
    greatest = std::max(greatest, differences[at]);
    for (size_t axis = index.size(); axis-- > 0;) {
      place += steps[axis];
      if (++index[axis] < codes.dims[axis]) break;
      place -= steps[axis] * codes.dims[axis];
      index[axis] = 0;
    }
  }
  if (least >= -128 && greatest <= 127) {
    return CenteredConstant<int8_t>(builder, codes, differences);
  }
  return least >= 0 ? CenteredConstant<uint8_t>(builder, codes, differences)
                    : CenteredConstant<int16_t>(builder, codes, differences);
}

}  // namespace

Result<Value> Centered(GraphBuilder* builder, const Value& codes,
                       const Value& zero_point) {
  if (codes.type != DataType::INT8 && codes.type != DataType::UINT8) {
    return Unimplemented("an operand is ", Describe(codes),
                         ", int8 and uint8 are taken");
  }
  TIM_ASSIGN_OR_RETURN(const Value x, Unlabelled(builder, codes));
  if (zero_point.IsAbsent()) return x;
  TIM_ASSIGN_OR_RETURN(Value zero, Unlabelled(builder, zero_point));
  if (zero.ElementCount() == 1) {
    TIM_ASSIGN_OR_RETURN(zero, builder->Reshape(zero, {}));
  }
  TIM_ASSIGN_OR_RETURN(const Dims dims, BroadcastDims(x.dims, zero.dims));
  if (dims != x.dims) {
    return InvalidArgument("a zero point ", Describe(zero_point), " for ",
                           Describe(x));
  }
  if (x.constant != nullptr && zero.constant != nullptr) {
    return CenteredConstant(*builder, *x.constant, *zero.constant);
  }
  return builder->Add<vx::ops::Sub>({x, zero},
                                    Wanted::Of(DataType::INT16, x.dims));
}

std::vector<Value> BytePieces(const GraphBuilder& builder,
                              const Value& centered) {
  if (centered.constant == nullptr) return {};
  if (IsByte(centered.type)) return {centered};
  if (centered.type != DataType::INT16) return {};
  const auto* codes =
      static_cast<const int16_t*>(centered.constant->data.get());
  const auto count = static_cast<size_t>(centered.ElementCount());
  std::vector<int16_t> rest(codes, codes + count);
  std::vector<Value> pieces;
  while (std::any_of(rest.begin(), rest.end(), [](int x) { return x != 0; })) {
    std::vector<int8_t> piece(count);
    for (size_t i = 0; i < count; ++i) {
      piece[i] = static_cast<int8_t>(std::clamp<int16_t>(rest[i], -128, 127));
      rest[i] = static_cast<int16_t>(rest[i] - piece[i]);
    }
    pieces.push_back(builder.ConstantOf(piece, centered.dims));
  }
  return pieces;
}

Result<Value> SumOverPieces(
    GraphBuilder* builder, const std::vector<Value>& pieces,
    const std::function<Result<Value>(const Value& piece)>& result) {
  Value total;
  for (const Value& piece : pieces) {
    TIM_ASSIGN_OR_RETURN(const Value sum, result(piece));
    if (total.IsAbsent()) {
      total = sum;
      continue;
    }
    TIM_ASSIGN_OR_RETURN(
        total, Binary<vx::ops::Add>(builder, DataType::INT32, total, sum));
  }
  return total;
}

Result<Value> CodesOf(Node& node, size_t codes, size_t scale,
                      size_t zero_point) {
  if (!node.Has(codes) || !node.Has(scale)) {
    return InvalidArgument("operand ", codes, " or its scale is missing");
  }
  const Value& value = node.inputs[codes];
  if (value.type != DataType::INT8 && value.type != DataType::UINT8 &&
      value.type != DataType::INT16 && value.type != DataType::UINT16) {
    return Unimplemented("operand ", codes, " is ", Describe(value),
                         ", codes of 8 and 16 bits are taken");
  }
  TIM_ASSIGN_OR_RETURN(const vx::Quantization quantization,
                       QuantizationOf(node, scale, zero_point, value.type));
  return Labelled(node.builder, value, quantization);
}

Result<Value> Quantized(GraphBuilder* builder, const Value& x, DataType type,
                        const vx::Quantization& quantization) {
  const Wanted wanted = Wanted::Of(type, x.dims, quantization);
  if (!HasOddZeroPoint(quantization)) {
    return builder->Add<vx::ops::DataConvert>({x}, wanted, kFoldable);
  }
  // DataConvert rounds after it has added the zero point: half to even would
  // be half to odd.
  const DataType wide =
      RangeOf(type).greatest > 255 || RangeOf(type).least < -128
          ? DataType::INT32
          : DataType::INT16;
  TIM_ASSIGN_OR_RETURN(
      const Value rounded,
      builder->Add<vx::ops::DataConvert>(
          {x}, Wanted::Of(wide, x.dims, WithoutZeroPoints(quantization)),
          kFoldable));
  return builder->Add<vx::ops::DataConvert>({rounded}, wanted, kFoldable);
}

Result<Value> Dequantized(GraphBuilder* builder, const Value& codes,
                          DataType type) {
  return builder->Add<vx::ops::DataConvert>(
      {codes}, Wanted::Of(type, codes.dims), kFoldable);
}

bool IsDequantizedConstant(const GraphBuilder& builder, const Value& value) {
  if (value.tensor == nullptr || !IsFloat(value.type)) return false;
  const auto producer = builder.graph()->GetProducerOp(value.tensor);
  if (producer == nullptr ||
      std::string_view(producer->Name()) != vx::ops::DataConvert::OpName()) {
    return false;
  }
  const auto constants = producer->ConstantInputsTensor();
  if (constants.empty()) return false;
  const DataType codes = constants[0]->GetDataType();
  return codes == DataType::INT8 || codes == DataType::UINT8;
}

Result<Value> QuantizedBy(GraphBuilder* builder, const Value& x,
                          const Value& scale, const Value& zero_point,
                          DataType type) {
  constexpr DataType kReal = DataType::FLOAT32;
  TIM_ASSIGN_OR_RETURN(Value code,
                       Binary<vx::ops::Div>(builder, kReal, x, scale));
  TIM_ASSIGN_OR_RETURN(code, Unary<vx::ops::Round>(builder, code));
  if (!zero_point.IsAbsent()) {
    TIM_ASSIGN_OR_RETURN(const Value zero, Unlabelled(builder, zero_point));
    TIM_ASSIGN_OR_RETURN(const Value real, builder->Cast(zero, kReal));
    TIM_ASSIGN_OR_RETURN(code,
                         Binary<vx::ops::Add>(builder, kReal, code, real));
  }
  if (code.dims != x.dims) {
    return InvalidArgument("scales that do not broadcast to ", Describe(x));
  }
  const CodeRange range = RangeOf(type);
  TIM_ASSIGN_OR_RETURN(
      code, Unary<vx::ops::Clip>(builder, code, static_cast<float>(range.least),
                                 static_cast<float>(range.greatest)));
  return builder->Add<vx::ops::Cast>({code}, Wanted::Of(type, x.dims));
}

Result<DynamicCodes> QuantizedByRange(GraphBuilder* builder, const Value& x) {
  constexpr DataType kReal = DataType::FLOAT32;
  const Value zero = ScalarOf(*builder, 0.0f);
  std::vector<int32_t> axes;
  for (int i = 0; i < std::max(x.rank(), 1); ++i) axes.push_back(i);
  const Wanted scalar = Wanted::Of(kReal, Dims());
  TIM_ASSIGN_OR_RETURN(
      Value high, builder->Add<vx::ops::ReduceMax>({x}, scalar, axes, false));
  TIM_ASSIGN_OR_RETURN(
      Value low, builder->Add<vx::ops::ReduceMin>({x}, scalar, axes, false));
  TIM_ASSIGN_OR_RETURN(high,
                       Binary<vx::ops::Maximum>(builder, kReal, high, zero));
  TIM_ASSIGN_OR_RETURN(low,
                       Binary<vx::ops::Minimum>(builder, kReal, low, zero));
  TIM_ASSIGN_OR_RETURN(const Value range,
                       Binary<vx::ops::Sub>(builder, kReal, high, low));
  DynamicCodes made;
  TIM_ASSIGN_OR_RETURN(
      made.scale,
      Binary<vx::ops::Div>(builder, kReal, range, ScalarOf(*builder, 255.0f)));
  // Zeros alone have no range: any scale tells them.
  TIM_ASSIGN_OR_RETURN(
      const Value empty,
      Binary<vx::ops::Equal>(builder, DataType::BOOL8, made.scale, zero));
  TIM_ASSIGN_OR_RETURN(
      made.scale, builder->Add<vx::ops::Select>(
                      {empty, ScalarOf(*builder, 1.0f), made.scale}, scalar));
  TIM_ASSIGN_OR_RETURN(Value shift,
                       Binary<vx::ops::Div>(builder, kReal, low, made.scale));
  TIM_ASSIGN_OR_RETURN(shift, Unary<vx::ops::Neg>(builder, shift));
  TIM_ASSIGN_OR_RETURN(shift,
                       Unary<vx::ops::Clip>(builder, shift, 0.0f, 255.0f));
  TIM_ASSIGN_OR_RETURN(shift, Unary<vx::ops::Round>(builder, shift));
  TIM_ASSIGN_OR_RETURN(made.zero_point, builder->Cast(shift, DataType::UINT8));
  TIM_ASSIGN_OR_RETURN(
      made.codes,
      QuantizedBy(builder, x, made.scale, made.zero_point, DataType::UINT8));
  return made;
}

}  // namespace tim::models::onnx
