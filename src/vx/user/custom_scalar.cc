#include "vx/user/custom_scalar.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

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

// The Param at `first` and those of its vector.
Status CheckVector(const std::vector<Param>& params, size_t first,
                   const Kind& kind) {
  static constexpr int kLanes[] = {1, 2, 3, 4, 8, 16};
  const int lanes = params[first].lanes;
  if (std::count(std::begin(kLanes), std::end(kLanes), lanes) == 0 ||
      (lanes > 1 && kind.type == DataType::BOOL8)) {
    return InvalidArgument("param_list_[", first, "] begins a vector of ",
                           lanes, " ", kind.name,
                           "; there are those of 2, 3, 4, 8 and 16 numbers");
  }
  for (size_t lane = 1; lane < static_cast<size_t>(lanes); ++lane) {
    const size_t i = first + lane;
    if (i < params.size() && params[i].lanes == 0 && Find(params[i]) == &kind) {
      continue;
    }
    return InvalidArgument("param_list_[", i, "] does not go on with the ",
                           "vector of ", lanes, " ", kind.name,
                           " that begins at ", first);
  }
  return OkStatus();
}

}  // namespace

Result<std::vector<ir::UserScalarArg>> ToScalars(
    const std::vector<Param>& params) {
  std::vector<ir::UserScalarArg> scalars;
  for (size_t i = 0; i < params.size();) {
    const Param& param = params[i];
    const std::string name = StrCat("scalar ", scalars.size());
    const Kind* kind = Find(param);
    if (kind == nullptr) {
      return InvalidArgument(name, " of param_list_ has the type ",
                             static_cast<int>(param.type),
                             ", which is no scalar");
    }
    TIM_RETURN_IF_ERROR(CheckVector(params, i, *kind).WithContext(name));
    const size_t lanes = param.lanes;
    ir::UserScalarArg scalar{
        .value = kind->read(param),
        .type = lanes == 1
                    ? std::string(kind->name)
                    : StrCat("std::array<", kind->name, ", ", lanes, ">"),
        .name = name};
    for (size_t lane = 1; lane < lanes; ++lane) {
      scalar.more.push_back(kind->read(params[i + lane]));
    }
    scalars.push_back(std::move(scalar));
    i += lanes;
  }
  return scalars;
}

}  // namespace tim::vx
