// Checks of operands, and constants, that families of operators share.
#include "models/onnx/ops/operands.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "tim/vx/ops/simple_operations.h"

namespace tim::models::onnx {
namespace {

using vx::DataType;

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

Status CheckFloat(const Node& node, size_t input) {
  if (IsFloat(node.inputs[input].type)) return OkStatus();
  return Unimplemented("operand ", input, " is ", Describe(node.inputs[input]),
                       ", float32 and float16 are taken");
}

Status CheckOperands(const Node& node, size_t least, size_t most) {
  for (size_t i = 0; i < least; ++i) {
    if (!node.Has(i)) return InvalidArgument("operand ", i, " is missing");
  }
  for (size_t i = most; i < node.inputs.size(); ++i) {
    if (node.Has(i)) {
      return Unimplemented("operand ", i, " is there; ", node.op,
                           " is taken with ", most, " at most");
    }
  }
  return OkStatus();
}

Status CheckAttributes(const Node& node,
                       const std::vector<std::string>& names) {
  for (const auto& [name, value] : node.attributes) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    return Unimplemented("attribute '", name, "', which ", node.op,
                         " is not known to have");
  }
  return OkStatus();
}

Status CheckOutputs(const Node& node, size_t first, const char* reason) {
  for (size_t i = first; i < node.wanted_outputs.size(); ++i) {
    if (node.wanted_outputs[i]) {
      return Unimplemented("output ", i, " is read: ", reason);
    }
  }
  return OkStatus();
}

Status CheckForm(const Node& node, size_t most,
                 std::initializer_list<std::string_view> names) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 0, most));
  return CheckAttributes(node, {names.begin(), names.end()});
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
