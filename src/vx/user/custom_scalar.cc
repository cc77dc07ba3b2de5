#include "vx/user/custom_scalar.h"

#include <optional>

namespace tim::vx {
namespace {

using ops::Param;
using Value = decltype(ir::UserScalarArg::value);

struct Kind {
  DataType type;
  Param::Wide wide;
  const char* name;  // of the C++ type
  Value (*read)(const Param&);
};

Value ReadSigned(const Param& param) { return int64_t{param.data.i}; }
Value ReadUnsigned(const Param& param) { return uint64_t{param.data.ui}; }
Value ReadFloat(const Param& param) { return double{param.data.f}; }

constexpr Kind kKinds[] = {
    {DataType::INT8, Param::Wide::kNone, "int8_t", ReadSigned},
    {DataType::INT16, Param::Wide::kNone, "int16_t", ReadSigned},
    {DataType::INT32, Param::Wide::kNone, "int32_t", ReadSigned},
    {DataType::INT64, Param::Wide::kNone, "int64_t",
     [](const Param& param) -> Value { return param.data.l; }},
    {DataType::UINT8, Param::Wide::kNone, "uint8_t", ReadUnsigned},
    {DataType::UINT16, Param::Wide::kNone, "uint16_t", ReadUnsigned},
    {DataType::UINT32, Param::Wide::kNone, "uint32_t", ReadUnsigned},
    {DataType::BOOL8, Param::Wide::kNone, "bool",
     [](const Param& param) -> Value { return uint64_t{param.data.b}; }},
    {DataType::FLOAT16, Param::Wide::kNone, "tim::vx::Half", ReadFloat},
    {DataType::FLOAT32, Param::Wide::kNone, "float", ReadFloat},
    {DataType::UNKNOWN, Param::Wide::kUint64, "uint64_t",
     [](const Param& param) -> Value { return param.data.ul; }},
    {DataType::UNKNOWN, Param::Wide::kDouble, "double",
     [](const Param& param) -> Value { return param.data.d; }},
};

const Kind* Find(const Param& param) {
  for (const Kind& kind : kKinds) {
    if (kind.wide != param.wide) continue;
    if (param.wide != Param::Wide::kNone || kind.type == param.type) {
      return &kind;
    }
  }
  return nullptr;
}

}  // namespace

Result<std::vector<ir::UserScalarArg>> ToScalars(
    const std::vector<Param>& params) {
  std::vector<ir::UserScalarArg> scalars;
  for (const Param& param : params) {
    const std::string name = StrCat("scalar ", scalars.size());
    const Kind* kind = Find(param);
    if (kind == nullptr) {
      return InvalidArgument(name, " of param_list_ has the type ",
                             static_cast<int>(param.type),
                             ", which is no scalar");
    }
    scalars.push_back(
        {.value = kind->read(param), .type = kind->name, .name = name});
  }
  return scalars;
}

}  // namespace tim::vx
