// Checks of operands, and constants, that families of operators share.
#include "models/onnx/ops/operands.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "models/onnx/element_type.h"
#include "tim/vx/ops/simple_operations.h"

namespace tim::models::onnx {
namespace {

using vx::DataType;

/// TensorProto's INT4.
constexpr int64_t kLastType = 22;

Status WrongType(size_t input, DataType type, const char* taken) {
  return Unimplemented("operand ", input, " is ", TypeText(type), "; ", taken,
                       " are taken");
}

}  // namespace

bool IsInteger(DataType type) {
  switch (type) {
    case DataType::INT8:
    case DataType::UINT8:
    case DataType::INT16:
    case DataType::UINT16:
    case DataType::INT32:
    case DataType::UINT32:
    case DataType::INT64:
      return true;
    default:
      return false;
  }
}

bool IsUnsigned(DataType type) {
  return type == DataType::UINT8 || type == DataType::UINT16 ||
         type == DataType::UINT32;
}

std::string TypeText(DataType type) {
  for (int64_t number = 0; number <= kLastType; ++number) {
    const Result<DataType> named = DataTypeOf(number);
    if (named.ok() && *named == type) return TypeName(number);
  }
  return "of an unknown type";
}

Result<Value> PlainOperand(Node& node, size_t input) {
  if (!node.Has(input)) return InvalidArgument("operand ", input, " is absent");
  Value value = node.inputs[input];
  if (value.quantization.Type() == vx::QuantType::NONE) return value;
  if (value.constant != nullptr) {
    value.quantization = {};
    value.tensor = nullptr;
    return value;
  }
  return node.builder->Add<vx::ops::Cast>({value},
                                          Wanted::Of(value.type, value.dims));
}

Result<Value> FloatOperand(Node& node, size_t input) {
  TIM_ASSIGN_OR_RETURN(Value value, PlainOperand(node, input));
  if (IsFloat(value.type)) return value;
  return WrongType(input, value.type, "float32 and float16");
}

Result<Value> NumberOperand(Node& node, size_t input) {
  TIM_ASSIGN_OR_RETURN(Value value, PlainOperand(node, input));
  if (IsFloat(value.type) || IsInteger(value.type)) return value;
  return WrongType(input, value.type,
                   "float32, float16 and integers of 8 to 64 bits");
}

Result<Value> BoolOperand(Node& node, size_t input) {
  TIM_ASSIGN_OR_RETURN(Value value, PlainOperand(node, input));
  if (IsBool(value.type)) return value;
  return WrongType(input, value.type, "truth values (bool)");
}

Status CheckForm(const Node& node, size_t most,
                 std::initializer_list<std::string_view> names) {
  for (size_t i = most; i < node.inputs.size(); ++i) {
    if (!node.Has(i)) continue;
    return InvalidArgument("operand ", i, " is there; ", node.op, " has ", most,
                           " at most");
  }
  for (const auto& [name, value] : node.attributes) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    return Unimplemented("attribute '", name, "', which ", node.op,
                         " is not known to have");
  }
  return OkStatus();
}

Status SameType(const Value& a, const Value& b) {
  if (a.type == b.type) return OkStatus();
  return InvalidArgument("operands of types ", TypeText(a.type), " and ",
                         TypeText(b.type), "; ONNX wants one type");
}

Result<HostArray> FilledArray(DataType type, const Dims& dims,
                              const void* element) {
  const int64_t bytes = ByteSizeOf(type, dims);
  if (bytes < 0 || bytes > kMostMadeBytes) {
    return Unimplemented("a constant of the extents [", StrJoin(dims, ","),
                         "], which is larger than ", kMostMadeBytes, " bytes");
  }
  const auto size = static_cast<size_t>(ByteSizeOf(type, {1}));
  // Elements of 64 bits, so that the memory is aligned for all types.
  const auto memory = std::make_shared<std::vector<int64_t>>(bytes / 8 + 1);
  auto* const target = reinterpret_cast<unsigned char*>(memory->data());
  for (size_t at = 0; at < static_cast<size_t>(bytes); at += size) {
    std::memcpy(target + at, element, size);
  }
  HostArray array;
  array.type = type;
  array.dims = dims;
  array.bytes = static_cast<size_t>(bytes);
  array.data = std::shared_ptr<const void>(memory, memory->data());
  return array;
}

}  // namespace tim::models::onnx
