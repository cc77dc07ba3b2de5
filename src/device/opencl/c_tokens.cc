#include "device/opencl/c_tokens.h"

#include <algorithm>
#include <cctype>

namespace tim::device {
namespace {

bool IsSpace(char c) { return std::isspace(static_cast<unsigned char>(c)); }

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// A backslash that joins two lines.
bool StartsWithSplice(std::string_view text) {
  return text.starts_with("\\\n") || text.starts_with("\\\r\n");
}

}  // namespace

std::string_view CTokens::Next() {
  while (SkipSpace() || SkipComment() || SkipLiteral() || SkipDirective()) {
  }
  line_start_ = false;
  const auto* const end =
      std::find_if_not(rest_.begin(), rest_.end(), IsWordCharacter);
  const size_t word = end - rest_.begin();
  const size_t length = std::min(std::max<size_t>(word, 1), rest_.size());
  const std::string_view token = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return token;
}

bool CTokens::SkipSpace() {
  if (rest_.empty()) return false;
  if (StartsWithSplice(rest_)) {
    rest_.remove_prefix(rest_.find('\n') + 1);
    return true;
  }
  if (!IsSpace(rest_[0])) return false;
  line_start_ |= rest_[0] == '\n';
  rest_.remove_prefix(1);
  return true;
}

bool CTokens::SkipComment() {
  if (rest_.starts_with("/*")) {
    const size_t end = rest_.find("*/", 2);
    rest_.remove_prefix(std::min(end, rest_.size() - 2) + 2);
    return true;
  }
  if (!rest_.starts_with("//")) return false;
  while (!rest_.empty() && rest_[0] != '\n') {
    if (!SkipSpace()) rest_.remove_prefix(1);
  }
  return true;
}

bool CTokens::SkipLiteral() {
  if (rest_.empty() || (rest_[0] != '"' && rest_[0] != '\'')) return false;
  line_start_ = false;
  size_t end = 1;
  while (end < rest_.size() && rest_[end] != rest_[0] && rest_[end] != '\n') {
    end += rest_[end] == '\\' ? 2 : 1;
  }
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  return true;
}

bool CTokens::SkipDirective() {
  if (!line_start_ || !rest_.starts_with('#')) return false;
  while (!rest_.empty() && rest_[0] != '\n') {
    if (!SkipComment() && !SkipSpace()) rest_.remove_prefix(1);
  }
  return true;
}

}  // namespace tim::device
