// Matches patterns without the locale that std::regex depends on.
#include "graph_api/verbose_filter.h"

#include <algorithm>
#include <cstddef>

namespace tim::graph {
namespace {

bool IsOne(char pattern, std::string_view text) {
  return !text.empty() && (pattern == '.' || pattern == text.front());
}

// The pattern from its beginning, the text from its.
bool MatchesHere(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return true;
  if (pattern == "$") return text.empty();
  const char repeat = pattern.size() > 1 ? pattern[1] : '\0';
  if (repeat != '*' && repeat != '+') {
    return IsOne(pattern[0], text) &&
           MatchesHere(pattern.substr(1), text.substr(1));
  }
  const std::string_view rest = pattern.substr(2);
  if (repeat == '*' && MatchesHere(rest, text)) return true;
  while (IsOne(pattern[0], text)) {
    text.remove_prefix(1);
    if (MatchesHere(rest, text)) return true;
  }
  return false;
}

bool MatchesAnywhere(std::string_view pattern, std::string_view text) {
  if (pattern.starts_with('^')) return MatchesHere(pattern.substr(1), text);
  for (size_t from = 0; from <= text.size(); ++from) {
    if (MatchesHere(pattern, text.substr(from))) return true;
  }
  return false;
}

}  // namespace

bool FilterTakes(std::string_view pattern, std::string_view component) {
  while (true) {
    const size_t end = std::min(pattern.find('|'), pattern.size());
    if (MatchesAnywhere(pattern.substr(0, end), component)) return true;
    if (end == pattern.size()) return false;
    pattern.remove_prefix(end + 1);
  }
}

}  // namespace tim::graph
