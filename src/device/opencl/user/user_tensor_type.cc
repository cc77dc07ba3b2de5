#include "device/opencl/user/user_tensor_type.h"

#include <algorithm>
#include <array>
#include <string>

#include "kernels/text/c_type.h"

namespace tim::device {
namespace {

using ir::DataType;

struct Pointees {
  DataType type;
  std::array<std::string_view, 3> names;
};

constexpr Pointees kPointees[] = {
    {DataType::kInt4, {"uchar"}},  // two elements per byte
    {DataType::kUint4, {"uchar"}},
    {DataType::kInt8, {"char"}},
    {DataType::kUint8, {"uchar"}},
    {DataType::kInt16, {"short"}},
    {DataType::kUint16, {"ushort"}},
    {DataType::kInt32, {"int"}},
    {DataType::kUint32, {"uint"}},
    {DataType::kInt64, {"long"}},
    {DataType::kUint64, {"ulong"}},
    {DataType::kBool8, {"char", "uchar", "bool"}},
    {DataType::kFloat16, {"half", "ushort"}},
    {DataType::kFloat32, {"float"}},
    {DataType::kFloat64, {"double"}},
};

std::string NamesText(const Pointees& pointees) {
  std::string text;
  for (const std::string_view name : pointees.names) {
    if (!name.empty()) text += StrCat(text.empty() ? "" : ", ", name, "*");
  }
  return text;
}

}  // namespace

Status CheckPointee(DataType type, std::string_view written,
                    std::string_view resolved) {
  const auto* const row =
      std::find_if(std::begin(kPointees), std::end(kPointees),
                   [&](const Pointees& p) { return p.type == type; });
  if (row == std::end(kPointees)) {
    return InvalidArgument("a tensor type the kernel does not take: no kernel ",
                           "takes ", ToString(type));
  }
  const std::string_view element = kernels::ElementOfVector(resolved);
  const bool listed = std::find(row->names.begin(), row->names.end(),
                                element) != row->names.end();
  if (listed || element == "void") return OkStatus();
  return InvalidArgument(
      "a tensor type the kernel does not take: ", ToString(type), " fits ",
      NamesText(*row), ", vectors of these or void*, not ", written, "*");
}

}  // namespace tim::device
