// JSON (RFC 8259) from pieces: JsonObject().Add("bytes", JsonNumber(4)).Text().
#ifndef TIM_BASE_JSON_TEXT_H_
#define TIM_BASE_JSON_TEXT_H_

#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/str_cat.h"

namespace tim {

/// `text` in quotes and escaped; bytes that are no UTF-8 become U+FFFD.
std::string JsonString(std::string_view text);
/// The shortest form that reads back to the same value; null for a NaN and for
/// infinities, which JSON has not.
std::string JsonNumber(std::floating_point auto value) {
  return std::isfinite(value) ? StrCat(value) : "null";
}
std::string JsonNumber(std::integral auto value) { return StrCat(value); }
inline std::string JsonBool(bool value) { return value ? "true" : "false"; }

/// Members in the order in which they are added.
class JsonObject {
 public:
  /// \param value JSON.
  JsonObject& Add(std::string_view name, std::string_view value);
  JsonObject& AddText(std::string_view name, std::string_view text) {
    return Add(name, JsonString(text));
  }
  std::string Text() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

class JsonArray {
 public:
  /// \param value JSON.
  JsonArray& Add(std::string_view value);
  std::string Text() const;
  /// With a line per element.
  std::string Lines() const;

 private:
  std::vector<std::string> elements_;
};

}  // namespace tim

#endif  // TIM_BASE_JSON_TEXT_H_
