#include "kernels/text/c_type.h"

#include <array>
#include <limits>

#include "base/ascii.h"

namespace tim::kernels {
namespace {

template <typename T>
constexpr CType Integer(const char* name) {
  using Limits = std::numeric_limits<T>;
  return {name, sizeof(T), false, static_cast<int64_t>(Limits::min()),
          static_cast<uint64_t>(Limits::max())};
}

constexpr std::array kTypes = {
    Integer<int8_t>("char"),        Integer<uint8_t>("uchar"),
    Integer<int16_t>("short"),      Integer<uint16_t>("ushort"),
    Integer<int32_t>("int"),        Integer<uint32_t>("uint"),
    Integer<int64_t>("long"),       Integer<uint64_t>("ulong"),
    CType{"half", 2, true, 0, 0},   CType{"float", 4, true, 0, 0},
    CType{"double", 8, true, 0, 0},
};

constexpr std::string_view kQualifiers[] = {"const", "volatile", "restrict",
                                            "struct"};

bool IsQualifier(std::string_view word) {
  for (const std::string_view qualifier : kQualifiers) {
    if (word == qualifier) return true;
  }
  return false;
}

}  // namespace

std::string PlainTypeName(std::string_view spelled) {
  std::string name;
  bool is_signed = false;
  bool is_unsigned = false;
  for (std::string_view word = TakeWord(&spelled); !word.empty();
       word = TakeWord(&spelled)) {
    if (word == "unsigned") {
      is_unsigned = true;
    } else if (word == "signed") {
      is_signed = true;
    } else if (word == "int" && (name == "short" || name == "long")) {
      continue;  // "short int"
    } else if (!IsQualifier(word)) {
      name += word;
    }
  }
  // A pointee comes as "unsigned *" or "unsigned char*".
  const bool bare = name.empty() || name[0] == '*';
  if (bare && (is_signed || is_unsigned)) name = "int" + name;
  return is_unsigned ? "u" + name : name;
}

const CType* FindCType(std::string_view name) {
  for (const CType& type : kTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

std::string_view ElementOfVector(std::string_view name) {
  for (const std::string_view lanes : {"16", "2", "3", "4", "8"}) {
    if (!name.ends_with(lanes)) continue;
    const std::string_view element = name.substr(0, name.size() - lanes.size());
    if (FindCType(element) != nullptr) return element;
  }
  return name;
}

bool IsBuiltinType(std::string_view name) {
  return name == "void" || name == "bool" ||
         FindCType(ElementOfVector(name)) != nullptr;
}

}  // namespace tim::kernels
