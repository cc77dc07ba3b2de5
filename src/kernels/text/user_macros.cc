#include "kernels/text/user_macros.h"

#include <algorithm>
#include <vector>

#include "kernels/text/c_tokens.h"

namespace tim::kernels {
namespace {

// What compilers are given: space separates, but not within quotes.
std::vector<std::string> Words(std::string_view options) {
  std::vector<std::string> words(1);
  char quote = 0;
  for (const char c : options) {
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else if (quote == 0 && c == ' ') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  std::erase(words, "");
  return words;
}

}  // namespace

UserMacros::UserMacros(std::string_view text, std::string_view options) {
  CTokens tokens(text, Directives::kGiven);
  for (std::string_view token = tokens.Next(); !token.empty();
       token = tokens.Next()) {
    if (!token.starts_with('#')) continue;
    CTokens line(token.substr(1));
    if (line.Next() != "define") continue;
    const std::string_view name = line.Next();
    if (name.empty()) continue;
    Define(name, token.substr(name.data() + name.size() - token.data()));
  }
  const std::vector<std::string> words = Words(options);
  for (size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("-D")) continue;
    const bool apart = words[i] == "-D" && i + 1 < words.size();
    const std::string macro = apart ? words[i + 1] : words[i].substr(2);
    const size_t equal = std::min(macro.find('='), macro.size());
    Define(macro.substr(0, equal), std::string_view(macro).substr(equal));
  }
}

void UserMacros::Define(std::string_view name, std::string_view body) {
  std::set<std::string>& words = words_[std::string(name)];
  CTokens tokens(body);
  int parentheses = 0;
  for (std::string_view token = tokens.Next(); !token.empty();
       token = tokens.Next()) {
    if (token == "(") ++parentheses;
    if (token == ")") --parentheses;
    if (parentheses == 0) words.emplace(token);
  }
}

bool UserMacros::Means(std::string_view token,
                       std::span<const std::string_view> words) const {
  std::set<std::string_view> seen = {token};
  std::vector<std::string_view> open = {token};
  while (!open.empty()) {
    const std::string_view word = open.back();
    open.pop_back();
    if (std::find(words.begin(), words.end(), word) != words.end()) return true;
    const auto macro = words_.find(word);
    if (macro == words_.end()) continue;
    for (const std::string& next : macro->second) {
      if (seen.insert(next).second) open.push_back(next);
    }
  }
  return false;
}

}  // namespace tim::kernels
