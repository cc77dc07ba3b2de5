// Arguments of operations as C++ text.
#include <cxxabi.h>

#include <cstdlib>
#include <limits>
#include <memory>

#include "base/cpp_literals.h"
#include "base/str_cat.h"
#include "models/build/source_recorder.h"

namespace tim::models {
namespace {

// The entry of `names` at `index`, in its enumeration; a cast beyond them.
template <typename Enum, size_t count>
std::string Enumerator(const char* type, const char* const (&names)[count],
                       Enum value, int first = 0) {
  const int index = static_cast<int>(value) - first;
  if (index >= 0 && static_cast<size_t>(index) < count) {
    return StrCat(type, "::", names[index]);
  }
  return StrCat("static_cast<", type, ">(", static_cast<int>(value), ")");
}

std::string Demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? text.get() : name;
}

}  // namespace

std::string Literal(bool value) { return value ? "true" : "false"; }
std::string Literal(int8_t value) { return StrCat(int{value}); }
std::string Literal(int32_t value) {
  if (value == std::numeric_limits<int32_t>::min()) return "(-2147483647 - 1)";
  return StrCat(value);
}
std::string Literal(uint32_t value) { return StrCat(value, "u"); }
std::string Literal(int64_t value) {
  if (value == std::numeric_limits<int64_t>::min()) {
    return "std::numeric_limits<int64_t>::min()";
  }
  return StrCat("int64_t{", value, "}");
}
std::string Literal(float value) { return FloatLiteral(value); }
std::string Literal(double value) { return DoubleLiteral(value); }

std::string Literal(const std::string& value) {
  static constexpr char kDigits[] = "01234567";
  std::string text = "\"";
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte < 127 && c != '"' && c != '\\' && c != '?') {
      text += c;
      continue;
    }
    text +=
        {'\\', kDigits[byte >> 6], kDigits[(byte >> 3) & 7], kDigits[byte & 7]};
  }
  return text + "\"";
}
std::string Literal(const char* value) {
  return value != nullptr ? Literal(std::string(value)) : "nullptr";
}

std::string Literal(vx::DataType value) {
  static constexpr const char* kNames[] = {
      "UNKNOWN", "INT8",    "UINT8",   "INT16", "UINT16", "INT32", "UINT32",
      "INT64",   "FLOAT16", "FLOAT32", "BOOL8", "INT4",   "UINT4"};
  return Enumerator("DataType", kNames, value);
}
std::string Literal(vx::QuantType value) {
  static constexpr const char* kNames[] = {
      "NONE", "ASYMMETRIC", "SYMMETRIC_PER_CHANNEL", "ASYMMETRIC_PER_CHANNEL",
      "DYNAMIC_FIXED_POINT"};
  return Enumerator("QuantType", kNames, value);
}
std::string Literal(vx::PadType value) {
  static constexpr const char* kNames[] = {"NONE", "AUTO", "VALID", "SAME"};
  return Enumerator("PadType", kNames, value, -1);
}
std::string Literal(vx::PoolType value) {
  static constexpr const char* kNames[] = {"MAX", "AVG", "L2", "AVG_ANDROID",
                                           "AVG_PADDED"};
  return Enumerator("PoolType", kNames, value);
}
std::string Literal(vx::RoundType value) {
  static constexpr const char* kNames[] = {"CEILING", "FLOOR"};
  return Enumerator("RoundType", kNames, value);
}
std::string Literal(vx::ResizeType value) {
  static constexpr const char* kNames[] = {"NEAREST_NEIGHBOR", "BILINEAR",
                                           "AREA"};
  return Enumerator("ResizeType", kNames, value);
}
std::string Literal(vx::DataLayout value) {
  static constexpr const char* kNames[] = {
      "ANY", "WHCN",  "CWHN",  "IcWHOc",  "OcIcWH", "IcOcWH", "WHIcOc",
      "WCN", "WIcOc", "WHDCN", "WHDIcOc", "CWHDN",  "OcIcWHD"};
  return Enumerator("DataLayout", kNames, value);
}

std::string Literal(const vx::Quantization& value) {
  if (value.Type() == vx::QuantType::NONE) return "Quantization()";
  if (value.Type() == vx::QuantType::DYNAMIC_FIXED_POINT) {
    return StrCat("Quantization(", Literal(value.Type()),
                  ", static_cast<int8_t>(", Literal(value.Fl()), "))");
  }
  return StrCat("Quantization(", Literal(value.Type()), ", ",
                Literal(value.ChannelDim()), ", ", Literal(value.Scales()),
                ", ", Literal(value.ZeroPoints()), ")");
}

std::string Literal(const std::shared_ptr<vx::Tensor>& value) {
  if (value == nullptr || value->IsPlaceHolder()) return "none";
  return StrCat("t[", value->GetId(), "]");
}

std::string ClassName(const std::type_info& type) {
  static constexpr std::string_view kNamespace = "tim::vx::";
  if (type == typeid(int32_t)) return "int32_t";
  if (type == typeid(uint32_t)) return "uint32_t";
  if (type == typeid(int64_t)) return "int64_t";
  if (type == typeid(std::string)) return "std::string";
  std::string name = Demangled(type.name());
  if (name.rfind(kNamespace, 0) == 0) name.erase(0, kNamespace.size());
  return name;
}

std::string ListLiteral(const std::string& type,
                        const std::vector<std::string>& elements) {
  const std::string list = StrJoin(elements, ", ");
  const bool is_array = type.rfind("std::array", 0) == 0;
  return is_array ? StrCat(type, "{{", list, "}}")
                  : StrCat(type, "{", list, "}");
}

}  // namespace tim::models
