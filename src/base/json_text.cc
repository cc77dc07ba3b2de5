// Escapes and brackets of JSON.
#include "base/json_text.h"

#include "base/utf8.h"

namespace tim {

std::string JsonString(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : ValidUtf8(text)) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < ' ' || c == '\x7F') {
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

JsonObject& JsonObject::Add(std::string_view name, std::string_view value) {
  if (!members_.empty()) members_ += ", ";
  members_ += StrCat(JsonString(name), ": ", value);
  return *this;
}

JsonArray& JsonArray::Add(std::string_view value) {
  elements_.emplace_back(value);
  return *this;
}

std::string JsonArray::Text() const {
  return StrCat("[", StrJoin(elements_, ", "), "]");
}

std::string JsonArray::Lines() const {
  if (elements_.empty()) return "[]";
  return StrCat("[\n  ", StrJoin(elements_, ",\n  "), "\n]");
}

}  // namespace tim
