// Reads JSON liberally about how numbers are written, and says where it is not
// what a reader expects.
#include "tools/timcl/json_place.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace tim::tool {
namespace {

using nlohmann::json;

constexpr int kMostNesting = 64;
constexpr size_t kMostShown = 40;

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Line and column of a byte, both from 1.
std::string LineAndColumn(std::string_view text, size_t at) {
  size_t line = 1, column = 1;
  for (const char c : text.substr(0, at)) {
    column = c == '\n' ? 1 : column + 1;
    line += c == '\n' ? 1 : 0;
  }
  return StrCat("line ", line, ", column ", column);
}

/// Reads a text once, without what stands in quotes.
class Outside {
 public:
  explicit Outside(std::string_view text) : text_(text) {}

  /// Moves to the next character that is in no string; false: there is none.
  bool Next() {
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (!in_string_ && c != '"') return true;
      if (c == '\\' && in_string_) {
        ++at_;
      } else if (c == '"') {
        in_string_ = !in_string_;
      }
    }
    return false;
  }
  size_t at() const { return at_; }
  void MoveTo(size_t at) { at_ = at; }

 private:
  std::string_view text_;
  size_t at_ = static_cast<size_t>(-1);
  bool in_string_ = false;
};

Status CheckNesting(std::string_view text) {
  Outside outside(text);
  int depth = 0;
  while (outside.Next()) {
    const char c = text[outside.at()];
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > kMostNesting) {
      return InvalidArgument(LineAndColumn(text, outside.at()),
                             ": nested more than ", kMostNesting,
                             " deep, which no graph is");
    }
  }
  return OkStatus();
}

// "inf" and other words that are none of JSON's, with a sign, in quotes.
std::string WithWordsQuoted(std::string_view text) {
  std::string quoted;
  size_t copied = 0;
  Outside outside(text);
  while (outside.Next()) {
    const size_t begin = outside.at();
    size_t end = begin;
    if (text[end] == '-' || text[end] == '+') ++end;
    const size_t word = end;
    while (end < text.size() && IsLetter(text[end])) ++end;
    if (end == word) continue;
    const std::string_view found = text.substr(begin, end - begin);
    // An exponent belongs to its number.
    const char before = begin == 0 ? ' ' : text[begin - 1];
    const bool in_number = (before >= '0' && before <= '9') || before == '.';
    if (!in_number && found != "true" && found != "false" && found != "null") {
      quoted += text.substr(copied, begin - copied);
      quoted += StrCat('"', found, '"');
      copied = end;
    }
    outside.MoveTo(end - 1);
  }
  quoted += text.substr(copied);
  return quoted;
}

// A short text of what is found, on one line.
std::string Shown(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) {
    return StrCat("an array of ", value.size(), " elements");
  }
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > kMostShown) text = text.substr(0, kMostShown) + "...";
  return text;
}

std::string_view TextIn(const json& value) {
  return value.get_ref<const std::string&>();
}

// All of the text as a number.
template <typename T>
std::optional<T> Parsed(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  T number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || text.empty()) return std::nullopt;
  return number;
}

std::optional<int64_t> WholeNumber(double number) {
  constexpr double kLimit = 9223372036854775808.0;
  if (!(number >= -kLimit && number < kLimit)) return std::nullopt;
  if (number != std::trunc(number)) return std::nullopt;
  return static_cast<int64_t>(number);
}

}  // namespace

Result<json> ParseJson(std::string_view text) {
  TIM_RETURN_IF_ERROR(CheckNesting(text));
  json value = json::parse(text, nullptr, false);
  if (!value.is_discarded()) return value;
  const std::string quoted = WithWordsQuoted(text);
  value = json::parse(quoted, nullptr, false);
  if (!value.is_discarded()) return value;
  try {
    value = json::parse(text);
  } catch (const json::parse_error& error) {
    const size_t at = error.byte == 0 ? 0 : error.byte - 1;
    // "[json.exception.parse_error.101] parse error at line ...: syntax error
    // while parsing value - unexpected ..."
    std::string reason = error.what();
    const size_t from = reason.find(": ");
    if (from != std::string::npos) reason = reason.substr(from + 2);
    return InvalidArgument(LineAndColumn(text, at), ": no JSON: ", reason);
  } catch (const json::exception& error) {
    // A number that no double holds.
    return InvalidArgument("no JSON: ", error.what());
  }
  return value;
}

std::optional<JsonPlace> JsonPlace::Find(const char* name) const {
  if (!value_->is_object()) return std::nullopt;
  const auto found = value_->find(name);
  if (found == value_->end() || found->is_null()) return std::nullopt;
  return JsonPlace(*found, path_.empty() ? name : StrCat(path_, ".", name));
}

Result<JsonPlace> JsonPlace::Member(const char* name) const {
  TIM_RETURN_IF_ERROR(RequireObject());
  const auto found = Find(name);
  if (found) return *found;
  return InvalidArgument(path_.empty() ? "the file" : path_,
                         ": expected a member \"", name, "\", found none");
}

JsonPlace JsonPlace::At(size_t index) const {
  return {(*value_)[index], StrCat(path_, "[", index, "]")};
}

JsonPlace JsonPlace::At(const std::string& name) const {
  return {*value_->find(name), StrCat(path_, ".", name)};
}

Status JsonPlace::RequireObject() const {
  return value_->is_object() ? OkStatus() : Refuse("an object");
}

Status JsonPlace::RequireArray() const {
  return value_->is_array() ? OkStatus() : Refuse("an array");
}

Result<int64_t> JsonPlace::Integer() const {
  const json& value = *value_;
  std::optional<int64_t> number;
  if (value.is_number_unsigned()) {
    const auto large = value.get<uint64_t>();
    if (large <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      number = static_cast<int64_t>(large);
    }
  } else if (value.is_number_integer()) {
    number = value.get<int64_t>();
  } else if (value.is_number_float()) {
    number = WholeNumber(value.get<double>());
  } else if (value.is_string()) {
    number = Parsed<int64_t>(TextIn(value));
  }
  if (!number) return Refuse("an integer of 64 bits");
  return *number;
}

Result<size_t> JsonPlace::Id() const {
  const json& value = *value_;
  if (value.is_number_unsigned()) return value.get<size_t>();
  if (value.is_string()) {
    const auto number = Parsed<size_t>(TextIn(value));
    if (number) return *number;
  }
  const Result<int64_t> number = Integer();
  if (!number.ok() || *number < 0) {
    return Refuse("an id, which is a whole number from 0 on");
  }
  return static_cast<size_t>(*number);
}

Result<float> JsonPlace::Float() const {
  const json& value = *value_;
  if (value.is_number()) return static_cast<float>(value.get<double>());
  if (value.is_string()) {
    // Through double, for numbers that are too small or too large for a float.
    const auto number = Parsed<double>(TextIn(value));
    if (number) return static_cast<float>(*number);
  }
  return Refuse("a number");
}

Result<bool> JsonPlace::Bool() const {
  const json& value = *value_;
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_string()) {
    const std::string_view text = TextIn(value);
    if (text == "true") return true;
    if (text == "false") return false;
  }
  const Result<int64_t> number = Integer();
  if (!number.ok() || *number < 0 || *number > 1) {
    return Refuse("true, false, 1 or 0");
  }
  return *number == 1;
}

Result<std::string> JsonPlace::Text() const {
  if (!value_->is_string()) return Refuse("a text");
  return value_->get<std::string>();
}

Status JsonPlace::Refuse(std::string_view expected) const {
  return InvalidArgument(path_.empty() ? "the file" : path_, ": expected ",
                         expected, ", found ", Shown(*value_));
}

}  // namespace tim::tool
