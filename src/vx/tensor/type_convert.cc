#include "vx/tensor/type_convert.h"

#include <algorithm>

namespace tim::vx {
namespace {

struct TypePair {
  DataType vx;
  ir::DataType ir;
};

constexpr TypePair kTypes[] = {
    {DataType::UNKNOWN, ir::DataType::kUnknown},
    {DataType::INT8, ir::DataType::kInt8},
    {DataType::UINT8, ir::DataType::kUint8},
    {DataType::INT16, ir::DataType::kInt16},
    {DataType::UINT16, ir::DataType::kUint16},
    {DataType::INT32, ir::DataType::kInt32},
    {DataType::UINT32, ir::DataType::kUint32},
    {DataType::INT64, ir::DataType::kInt64},
    {DataType::FLOAT16, ir::DataType::kFloat16},
    {DataType::FLOAT32, ir::DataType::kFloat32},
    {DataType::BOOL8, ir::DataType::kBool8},
    {DataType::INT4, ir::DataType::kInt4},
    {DataType::UINT4, ir::DataType::kUint4},
};

ir::Quantization PerTensor(const Quantization& from) {
  ir::Quantization to{.kind = ir::QuantizationKind::kPerTensor};
  if (!from.Scales().empty()) to.scales = {from.Scales()[0]};
  if (!from.ZeroPoints().empty()) to.zero_points = {from.ZeroPoints()[0]};
  return to;
}

ir::Quantization PerChannel(const Quantization& from) {
  if (from.Scales().size() == 1 && from.ZeroPoints().size() <= 1) {
    return PerTensor(from);
  }
  return {.kind = ir::QuantizationKind::kPerChannel,
          .axis = from.ChannelDim(),
          .scales = from.Scales(),
          .zero_points = from.ZeroPoints()};
}

}  // namespace

std::optional<ir::DataType> ToIr(DataType type) {
  for (const TypePair& pair : kTypes) {
    if (pair.vx == type) return pair.ir;
  }
  return std::nullopt;
}

DataType ToVx(ir::DataType type) {
  for (const TypePair& pair : kTypes) {
    if (pair.ir == type) return pair.vx;
  }
  return DataType::UNKNOWN;
}

ir::Quantization ToIr(const Quantization& quantization) {
  switch (quantization.Type()) {
    case QuantType::ASYMMETRIC:
      return PerTensor(quantization);
    case QuantType::SYMMETRIC_PER_CHANNEL:
    case QuantType::ASYMMETRIC_PER_CHANNEL:
      return PerChannel(quantization);
    case QuantType::DYNAMIC_FIXED_POINT:
      return {.kind = ir::QuantizationKind::kFixedPoint,
              .fl = quantization.Fl()};
    case QuantType::NONE:
      break;
  }
  return {};
}

Quantization ToVx(const ir::Quantization& quantization) {
  const std::vector<int32_t>& zeros = quantization.zero_points;
  switch (quantization.kind) {
    case ir::QuantizationKind::kPerTensor:
      return Quantization(QuantType::ASYMMETRIC, quantization.Scale(),
                          quantization.ZeroPoint());
    case ir::QuantizationKind::kPerChannel: {
      const bool symmetric =
          std::all_of(zeros.begin(), zeros.end(), [](int z) { return z == 0; });
      return Quantization(symmetric ? QuantType::SYMMETRIC_PER_CHANNEL
                                    : QuantType::ASYMMETRIC_PER_CHANNEL,
                          quantization.axis, quantization.scales, zeros);
    }
    case ir::QuantizationKind::kFixedPoint:
      return Quantization(QuantType::DYNAMIC_FIXED_POINT,
                          static_cast<int8_t>(quantization.fl));
    case ir::QuantizationKind::kNone:
      break;
  }
  return {};
}

Result<ir::TensorDesc> ToIr(const TensorSpec& spec) {
  const auto type = ToIr(spec.datatype_);
  if (!type) {
    return InvalidArgument("data type ", static_cast<int>(spec.datatype_),
                           " does not exist");
  }
  ir::TensorDesc desc;
  desc.type = *type;
  desc.shape =
      ir::Shape(std::vector<int64_t>(spec.shape_.begin(), spec.shape_.end()));
  if (!ir::IsFloat(*type)) desc.quantization = ToIr(spec.quantization_);
  return desc;
}

}  // namespace tim::vx
