// Text from pieces, without format strings: StrCat("axis ", axis, " of ", n).
#ifndef TIM_BASE_STR_CAT_H_
#define TIM_BASE_STR_CAT_H_

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tim {

/// One argument of StrCat as text.  Numbers are written in the shortest form
/// that reads back to the same value; bool as "true" or "false".
class StrPiece {
 public:
  StrPiece(const char* text) : text_(text != nullptr ? text : "(null)") {}
  StrPiece(std::string_view text) : text_(text) {}
  StrPiece(const std::string& text) : text_(text) {}
  StrPiece(char c) : text_(buffer_, 1) { buffer_[0] = c; }
  StrPiece(bool value) : text_(value ? "true" : "false") {}
  template <typename T>
  requires(std::integral<T> || std::floating_point<T>) StrPiece(T value) {
    const auto end = std::to_chars(buffer_, buffer_ + sizeof(buffer_), value);
    text_ = std::string_view(buffer_, end.ptr - buffer_);
  }
  StrPiece(const StrPiece&) = delete;
  StrPiece& operator=(const StrPiece&) = delete;

  std::string_view text() const { return text_; }

 private:
  char buffer_[32];
  std::string_view text_;
};

template <typename... Args>
std::string StrCat(const Args&... args) {
  std::string out;
  (out.append(StrPiece(args).text()), ...);
  return out;
}

/// Elements of a range joined by `separator`.
template <typename Range>
std::string StrJoin(const Range& range, std::string_view separator) {
  std::string out;
  bool first = true;
  for (const auto& element : range) {
    if (!first) out.append(separator);
    first = false;
    out.append(StrPiece(element).text());
  }
  return out;
}

}  // namespace tim

#endif  // TIM_BASE_STR_CAT_H_
