#include "vx/core/given_name.h"

#include "base/str_cat.h"

namespace tim::vx {

std::string Named(const std::string& id, const std::string& given) {
  if (given.empty()) return id;
  std::string line;
  for (const char c : given) {
    const bool plain = static_cast<unsigned char>(c) >= ' ' && c != 127;
    line += plain && c != '\'' ? c : '_';
  }
  return StrCat(id, " '", line, "'");
}

std::string GivenIn(const std::string& name) {
  const size_t open = name.find(" '");
  if (open == std::string::npos || !name.ends_with('\'')) return name;
  return name.substr(open + 2, name.size() - open - 3);
}

}  // namespace tim::vx
