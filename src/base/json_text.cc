// Names and messages, which may hold any bytes, as strings of JSON.
#include "base/json_text.h"

#include <cstddef>
#include <cstdint>

namespace tim {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

bool Continues(char c) { return (static_cast<uint8_t>(c) & 0xC0) == 0x80; }

// Bytes of the character that begins `text`, which is not empty; 0 where it is
// no UTF-8: overlong, a surrogate, beyond U+10FFFF or cut off.
size_t LengthOfCharacter(std::string_view text) {
  const auto first = static_cast<uint8_t>(text[0]);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!Continues(text[i])) return 0;
  }
  const auto second = static_cast<uint8_t>(text[1]);
  const bool legal =
      (first != 0xE0 || second >= 0xA0) && (first != 0xED || second < 0xA0) &&
      (first != 0xF0 || second >= 0x90) && (first != 0xF4 || second < 0x90);
  return legal ? length : 0;
}

void AppendAscii(char c, std::string* out) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  if (c == '"' || c == '\\') {
    *out += '\\';
    *out += c;
  } else if (c == '\n') {
    *out += "\\n";
  } else if (c == '\t') {
    *out += "\\t";
  } else if (c >= ' ' && c != '\x7F') {
    *out += c;
  } else {
    *out += "\\u00";
    *out += kHex[static_cast<size_t>(c) >> 4];
    *out += kHex[static_cast<size_t>(c) & 15];
  }
}

}  // namespace

std::string JsonString(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const size_t length = LengthOfCharacter(text);
    if (length == 1) {
      AppendAscii(text[0], &out);
    } else {
      out += length == 0 ? kReplacement : text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
  return out;
}

}  // namespace tim
