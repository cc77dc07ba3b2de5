// Numbers, texts and specs as C++14 writes them.
#include "vx/check/literals.h"

#include <cstring>
#include <limits>

#include "base/cpp_literals.h"
#include "base/str_cat.h"

namespace tim::vx::check {
namespace {

std::string HalfBits(uint16_t bits) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "0x";
  for (int shift = 12; shift >= 0; shift -= 4) {
    text += kDigits[(bits >> shift) & 15];
  }
  return text;
}

std::string Unsigned64Literal(uint64_t value) { return StrCat(value, "u"); }

template <typename T, typename Literal>
std::string Join(const void* data, size_t bytes, const Literal& literal) {
  std::string text = "{";
  size_t line = 0;
  for (size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
    T value;
    std::memcpy(&value, static_cast<const char*>(data) + at, sizeof(T));
    const std::string one = literal(value);
    const bool wrap = line + one.size() > 70;
    if (at > 0) text += wrap ? ",\n    " : ", ";
    line = wrap ? one.size() : line + one.size() + 2;
    text += one;
  }
  return text + "}";
}

template <typename T>
std::string Integers(const void* data, size_t bytes) {
  return Join<T>(data, bytes, [](T value) {
    if constexpr (std::is_same_v<T, int64_t>) return Int64Literal(value);
    if constexpr (std::is_same_v<T, uint64_t> || std::is_same_v<T, uint32_t>) {
      return Unsigned64Literal(value);
    }
    return StrCat(static_cast<int64_t>(value));
  });
}

std::string ScalarLiteral(const ops::Param& param) {
  using Wide = ops::Param::Wide;
  if (param.wide == Wide::kUint64) {
    return StrCat("uint64_t{", Unsigned64Literal(param.data.ul), "}");
  }
  if (param.wide == Wide::kDouble) return DoubleLiteral(param.data.d);
  switch (param.type) {
    case DataType::FLOAT32:
      return FloatLiteral(param.data.f);
    case DataType::FLOAT16:
      return StrCat("Half(", FloatLiteral(param.data.f), ")");
    case DataType::BOOL8:
      return param.data.b ? "true" : "false";
    case DataType::INT64:
      return StrCat("int64_t{", Int64Literal(param.data.l), "}");
    case DataType::INT8:
      return StrCat("static_cast<int8_t>(", param.data.i, ")");
    case DataType::INT16:
      return StrCat("static_cast<int16_t>(", param.data.i, ")");
    case DataType::UINT8:
      return StrCat("static_cast<uint8_t>(", param.data.ui, ")");
    case DataType::UINT16:
      return StrCat("static_cast<uint16_t>(", param.data.ui, ")");
    case DataType::UINT32:
      return StrCat("uint32_t{", param.data.ui, "u}");
    default:
      return StrCat("static_cast<int32_t>(", Int64Literal(param.data.i), ")");
  }
}

std::string ScalarType(const ops::Param& param) {
  using Wide = ops::Param::Wide;
  if (param.wide == Wide::kUint64) return "uint64_t";
  if (param.wide == Wide::kDouble) return "double";
  switch (param.type) {
    case DataType::FLOAT32:
      return "float";
    case DataType::FLOAT16:
      return "Half";
    case DataType::BOOL8:
      return "bool";
    case DataType::INT64:
      return "int64_t";
    case DataType::INT8:
      return "int8_t";
    case DataType::INT16:
      return "int16_t";
    case DataType::UINT8:
      return "uint8_t";
    case DataType::UINT16:
      return "uint16_t";
    case DataType::UINT32:
      return "uint32_t";
    default:
      return "int32_t";
  }
}

const char* QuantTypeName(QuantType type) {
  switch (type) {
    case QuantType::ASYMMETRIC:
      return "QuantType::ASYMMETRIC";
    case QuantType::SYMMETRIC_PER_CHANNEL:
      return "QuantType::SYMMETRIC_PER_CHANNEL";
    case QuantType::ASYMMETRIC_PER_CHANNEL:
      return "QuantType::ASYMMETRIC_PER_CHANNEL";
    case QuantType::DYNAMIC_FIXED_POINT:
      return "QuantType::DYNAMIC_FIXED_POINT";
    default:
      return "QuantType::NONE";
  }
}

}  // namespace

// The least one has no literal: its digits are beyond the type.
std::string Int64Literal(int64_t value) {
  if (value == std::numeric_limits<int64_t>::min()) {
    return "std::numeric_limits<int64_t>::min()";
  }
  return StrCat(value);
}

std::string RawString(const std::string& text) {
  std::string delimiter = "CL";
  for (int i = 0; text.find(StrCat(")", delimiter, "\"")) != std::string::npos;
       ++i) {
    delimiter = StrCat("CL", i);
  }
  return StrCat("R\"", delimiter, "(", text, ")", delimiter, "\"");
}

const char* ElementType(ir::DataType type) {
  switch (type) {
    case ir::DataType::kInt8:
      return "int8_t";
    case ir::DataType::kInt16:
      return "int16_t";
    case ir::DataType::kUint16:
    case ir::DataType::kFloat16:
      return "uint16_t";
    case ir::DataType::kInt32:
      return "int32_t";
    case ir::DataType::kUint32:
      return "uint32_t";
    case ir::DataType::kInt64:
      return "int64_t";
    case ir::DataType::kUint64:
      return "uint64_t";
    case ir::DataType::kFloat32:
      return "float";
    case ir::DataType::kFloat64:
      return "double";
    default:
      return "uint8_t";
  }
}

std::string Elements(ir::DataType type, const void* data, size_t bytes) {
  switch (type) {
    case ir::DataType::kInt8:
      return Integers<int8_t>(data, bytes);
    case ir::DataType::kInt16:
      return Integers<int16_t>(data, bytes);
    case ir::DataType::kUint16:
      return Integers<uint16_t>(data, bytes);
    case ir::DataType::kFloat16:
      return Join<uint16_t>(data, bytes, HalfBits);
    case ir::DataType::kInt32:
      return Integers<int32_t>(data, bytes);
    case ir::DataType::kUint32:
      return Integers<uint32_t>(data, bytes);
    case ir::DataType::kInt64:
      return Integers<int64_t>(data, bytes);
    case ir::DataType::kUint64:
      return Integers<uint64_t>(data, bytes);
    case ir::DataType::kFloat32:
      return Join<float>(data, bytes, FloatLiteral);
    case ir::DataType::kFloat64:
      return Join<double>(data, bytes, DoubleLiteral);
    default:
      return Integers<uint8_t>(data, bytes);
  }
}

std::string TypeLiteral(DataType type) {
  static constexpr const char* kNames[] = {
      "UNKNOWN", "INT8",    "UINT8",   "INT16", "UINT16", "INT32", "UINT32",
      "INT64",   "FLOAT16", "FLOAT32", "BOOL8", "INT4",   "UINT4"};
  return StrCat("DataType::", kNames[static_cast<int>(type)]);
}

std::string ShapeLiteral(const ShapeType& shape) {
  return StrCat("{", StrJoin(shape, ", "), "}");
}

std::string QuantizationLiteral(const Quantization& quantization) {
  const QuantType type = quantization.Type();
  if (type == QuantType::NONE) return "Quantization()";
  if (type == QuantType::DYNAMIC_FIXED_POINT) {
    return StrCat("Quantization(", QuantTypeName(type),
                  ", static_cast<int8_t>(", int{quantization.Fl()}, "))");
  }
  std::vector<std::string> scales;
  for (const float scale : quantization.Scales()) {
    scales.push_back(FloatLiteral(scale));
  }
  return StrCat("Quantization(", QuantTypeName(type), ", ",
                quantization.ChannelDim(), ", std::vector<float>{",
                StrJoin(scales, ", "), "}, std::vector<int32_t>{",
                StrJoin(quantization.ZeroPoints(), ", "), "})");
}

std::vector<std::string> ScalarLiterals(
    const std::vector<ops::Param>& scalars) {
  std::vector<std::string> literals;
  for (size_t i = 0; i < scalars.size();) {
    const size_t lanes = scalars[i].lanes;
    if (lanes <= 1) {
      literals.push_back(ScalarLiteral(scalars[i++]));
      continue;
    }
    std::vector<std::string> parts;
    for (size_t lane = 0; lane < lanes && i < scalars.size(); ++lane) {
      parts.push_back(ScalarLiteral(scalars[i++]));
    }
    literals.push_back(StrCat("std::array<", ScalarType(scalars[i - lanes]),
                              ", ", lanes, ">{{", StrJoin(parts, ", "), "}}"));
  }
  return literals;
}

}  // namespace tim::vx::check
