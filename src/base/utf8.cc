// Finds what is no UTF-8.
#include "base/utf8.h"

#include <cstdint>

namespace tim {
namespace {

bool Continues(unsigned char byte) { return (byte & 0xC0) == 0x80; }

// Bytes of the character at the start of `text`, 0 where there is none: too
// long forms, surrogates and numbers beyond Unicode are none.
size_t CharacterLength(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const uint32_t first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  if (first < 0xE0) return Continues(byte(1)) ? 2 : 0;
  if (first < 0xF0) {
    const uint32_t least = first == 0xE0 ? 0xA0 : 0x80;
    const uint32_t most = first == 0xED ? 0x9F : 0xBF;
    const bool fits = byte(1) >= least && byte(1) <= most;
    return fits && Continues(byte(2)) ? 3 : 0;
  }
  const uint32_t least = first == 0xF0 ? 0x90 : 0x80;
  const uint32_t most = first == 0xF4 ? 0x8F : 0xBF;
  const bool fits = byte(1) >= least && byte(1) <= most;
  return fits && Continues(byte(2)) && Continues(byte(3)) ? 4 : 0;
}

}  // namespace

std::string ValidUtf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    out += length > 0 ? text.substr(0, length) : "\xEF\xBF\xBD";
    text.remove_prefix(length > 0 ? length : 1);
  }
  return out;
}

}  // namespace tim
