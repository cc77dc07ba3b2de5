// Characters of source text and of names.  Those of <cctype> follow the
// process's locale, which belongs to the client.
#ifndef TIM_BASE_ASCII_H_
#define TIM_BASE_ASCII_H_

#include <algorithm>
#include <string_view>

namespace tim {

/// The white space of the "C" locale.
inline constexpr std::string_view kAsciiSpace = " \t\n\v\f\r";

constexpr bool IsAsciiSpace(char c) {
  return kAsciiSpace.find(c) != std::string_view::npos;
}

constexpr bool IsAsciiDigit(char c) { return c >= '0' && c <= '9'; }

constexpr bool IsAsciiLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

constexpr bool IsAsciiControl(char c) {
  return (c >= 0 && c < ' ') || c == '\x7F';
}

/// Whether names in C may have `c`.
constexpr bool IsNameCharacter(char c) {
  return IsAsciiLetter(c) || IsAsciiDigit(c) || c == '_';
}

/// Whether `text` is a name in C.
constexpr bool IsIdentifier(std::string_view text) {
  return !text.empty() && !IsAsciiDigit(text[0]) &&
         std::all_of(text.begin(), text.end(), IsNameCharacter);
}

constexpr char AsciiLower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// The first word of `text`, taken off it with the white space before it; ""
/// where there is none.
inline std::string_view TakeWord(std::string_view* text) {
  text->remove_prefix(
      std::min(text->find_first_not_of(kAsciiSpace), text->size()));
  const std::string_view word =
      text->substr(0, text->find_first_of(kAsciiSpace));
  text->remove_prefix(word.size());
  return word;
}

}  // namespace tim

#endif  // TIM_BASE_ASCII_H_
