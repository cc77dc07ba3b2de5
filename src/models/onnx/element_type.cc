// The element types of ONNX, which of them graphs have, and their names.
#include "models/onnx/element_type.h"

namespace tim::models::onnx {
namespace {

struct TypeRow {
  const char* name;
  vx::DataType type;
};

constexpr vx::DataType kNone = vx::DataType::UNKNOWN;

// Types by their number in TensorProto.DataType.
constexpr TypeRow kTypes[] = {
    {"undefined", kNone},
    {"float32", vx::DataType::FLOAT32},
    {"uint8", vx::DataType::UINT8},
    {"int8", vx::DataType::INT8},
    {"uint16", vx::DataType::UINT16},
    {"int16", vx::DataType::INT16},
    {"int32", vx::DataType::INT32},
    {"int64", vx::DataType::INT64},
    {"string", kNone},
    {"bool", vx::DataType::BOOL8},
    {"float16", vx::DataType::FLOAT16},
    {"float64", kNone},
    {"uint32", vx::DataType::UINT32},
    {"uint64", kNone},
    {"complex64", kNone},
    {"complex128", kNone},
    {"bfloat16", kNone},
    {"float8e4m3fn", kNone},
    {"float8e4m3fnuz", kNone},
    {"float8e5m2", kNone},
    {"float8e5m2fnuz", kNone},
    {"uint4", vx::DataType::UINT4},
    {"int4", vx::DataType::INT4},
    {"float4e2m1", kNone},
};

bool IsKnown(int64_t type) {
  return type >= 0 && type < static_cast<int64_t>(std::size(kTypes));
}

}  // namespace

Result<vx::DataType> DataTypeOf(int64_t type) {
  if (IsKnown(type) && kTypes[type].type != kNone) return kTypes[type].type;
  return Unimplemented("tensors of ", TypeName(type),
                       " are not taken; float32, float16, int8 to int64, ",
                       "uint8 to uint32, bool, int4 and uint4 are");
}

std::string TypeName(int64_t type) {
  return IsKnown(type) ? kTypes[type].name : StrCat("type ", type);
}

}  // namespace tim::models::onnx
