#include "kernels/text/c_tokens.h"

#include <algorithm>

#include "base/ascii.h"

namespace tim::kernels {

bool StartsWithSplice(std::string_view text) {
  return text.starts_with("\\\n") || text.starts_with("\\\r\n");
}

bool IsWord(std::string_view token) {
  return IsNameCharacter(token[0]) && !IsAsciiDigit(token[0]);
}

std::string_view CTokens::Next() {
  while (true) {
    while (SkipSpace() || SkipComment() || SkipLiteral()) {
    }
    const size_t directive = DirectiveLength();
    if (directive == 0) break;
    const std::string_view line = Take(directive);
    if (directives_ == Directives::kGiven) return line;
  }
  line_start_ = false;
  const auto* const end =
      std::find_if_not(rest_.begin(), rest_.end(), IsNameCharacter);
  const size_t word = end - rest_.begin();
  return Take(std::max<size_t>(word, 1));
}

std::string_view CTokens::Take(size_t length) {
  const std::string_view token = rest_.substr(0, length);
  rest_.remove_prefix(token.size());
  return token;
}

bool CTokens::SkipSpace() {
  if (rest_.empty()) return false;
  if (StartsWithSplice(rest_)) {
    rest_.remove_prefix(rest_.find('\n') + 1);
    return true;
  }
  if (!IsAsciiSpace(rest_[0])) return false;
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

size_t CTokens::DirectiveLength() const {
  if (!line_start_ || !rest_.starts_with('#')) return 0;
  CTokens line(rest_);
  while (!line.rest_.empty() && line.rest_[0] != '\n') {
    if (!line.SkipComment() && !line.SkipSpace()) line.rest_.remove_prefix(1);
  }
  return rest_.size() - line.rest_.size();
}

}  // namespace tim::kernels
