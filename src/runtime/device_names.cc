// Reads names of devices.
#include "runtime/device_names.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/ascii.h"

namespace tim::runtime {
namespace {

constexpr char kForms[] =
    "expected host, opencl, opencl:<n>, opencl:<n>/<k>, opencl:<n>/numa, "
    "opencl:<n>/<k>.<s>, <kind>:<n> of a plug-in, auto or all, with ',' "
    "between several";

std::optional<int> ReadNumber(std::string_view text) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < 0) return std::nullopt;
  return number;
}

// The rest behind `separator`, taken off `text`; nothing where there is no
// separator.
std::optional<std::string_view> TakeBehind(char separator,
                                           std::string_view* text) {
  const size_t at = text->find(separator);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view behind = text->substr(at + 1);
  *text = text->substr(0, at);
  return behind;
}

bool IsKind(std::string_view kind) {
  return !kind.empty() && kind[0] >= 'a' && kind[0] <= 'z' &&
         std::all_of(kind.begin(), kind.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || IsAsciiDigit(c) || c == '_';
         });
}

// Nothing where the text is no name.
std::optional<DeviceName> ReadName(std::string_view text) {
  DeviceName name;
  auto division = TakeBehind('/', &text);
  const auto number = TakeBehind(':', &text);
  if (!IsKind(text)) return std::nullopt;
  name.kind = text;
  if (number) {
    name.number = ReadNumber(*number);
    if (!name.number) return std::nullopt;
  }
  const bool alone = text == "host" || text == "auto" || text == "all";
  if (alone && (number || division)) return std::nullopt;
  if (!division) return name;
  if (text != "opencl" || !number) return std::nullopt;
  const auto part = TakeBehind('.', &*division);
  if (part) {
    name.part = ReadNumber(*part);
    if (!name.part) return std::nullopt;
  }
  name.by_memory = *division == "numa";
  if (name.by_memory) return name;
  const auto parts = ReadNumber(*division);
  if (!parts || *parts < 1) return std::nullopt;
  name.parts = *parts;
  return name;
}

}  // namespace

Result<std::vector<DeviceName>> ParseDeviceNames(std::string_view list) {
  std::vector<DeviceName> names;
  for (bool more = true; more;) {
    const size_t end = list.find(',');
    const std::string_view text = list.substr(0, end);
    more = end != std::string_view::npos;
    if (more) list.remove_prefix(end + 1);
    const auto name = ReadName(text);
    if (!name) {
      return InvalidArgument("'", text, "' names no device; ", kForms);
    }
    names.push_back(*name);
  }
  return names;
}

}  // namespace tim::runtime
