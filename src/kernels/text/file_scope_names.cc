#include "kernels/text/file_scope_names.h"

#include <algorithm>

#include "base/ascii.h"
#include "kernels/text/c_tokens.h"

namespace tim::kernels {
namespace {

void AddOnce(std::string_view name, std::vector<std::string>* names) {
  if (std::find(names->begin(), names->end(), name) == names->end()) {
    names->emplace_back(name);
  }
}

// The word that `line` starts with, spaces before it skipped and both taken
// off.
std::string_view TakeWord(std::string_view* line) {
  const size_t start = std::min(line->find_first_not_of(" \t"), line->size());
  line->remove_prefix(start);
  const auto* const end =
      std::find_if_not(line->begin(), line->end(), IsNameCharacter);
  const std::string_view word = line->substr(0, end - line->begin());
  line->remove_prefix(word.size());
  return word;
}

// The name of the type that the tokens after "typedef" declare.
Result<std::string> TypedefName(CTokens& tokens) {
  std::string name;
  int depth = 0;  // of braces and parentheses
  std::string_view previous;
  for (std::string_view token = tokens.Next(); !token.empty();
       previous = token, token = tokens.Next()) {
    const bool outside = depth == 0;
    if (outside && token == ";") return name;
    if (token == "enum" || (outside && token == "[") ||
        (outside && token == "(" && previous != "__attribute__") ||
        ((previous == "struct" || previous == "union") && token != "{" &&
         token != "__attribute__")) {
      return Unimplemented("a typedef with '", previous, " ", token, "'");
    }
    depth += (token == "{" || token == "(") - (token == "}" || token == ")");
    if (outside && IsWord(token) && token != "__attribute__") name = token;
  }
  return Unimplemented("a typedef without an end");
}

}  // namespace

Result<std::vector<std::string>> FileScopeNames(std::string_view text) {
  std::vector<std::string> names;
  CTokens tokens(text);
  int braces = 0;
  int parentheses = 0;
  std::string_view previous;
  std::string_view before_parenthesis;  // outside of functions
  for (std::string_view token = tokens.Next(); !token.empty();
       previous = token, token = tokens.Next()) {
    const bool outside = braces == 0 && parentheses == 0;
    if (outside && token == "typedef") {
      TIM_ASSIGN_OR_RETURN(const std::string type, TypedefName(tokens));
      AddOnce(type, &names);
      token = ";";
      continue;
    }
    if (outside && (token == "struct" || token == "union" || token == "enum")) {
      return Unimplemented("'", token, "' out of a typedef");
    }
    if (outside && previous == ")" && token != "{" &&
        before_parenthesis != "__attribute__") {
      return Unimplemented("'", before_parenthesis, "(...)' out of functions");
    }
    if (token == "{") {
      if (outside) AddOnce(before_parenthesis, &names);
      ++braces;
    } else if (token == "}") {
      --braces;
    } else if (token == "(") {
      if (outside) before_parenthesis = previous;
      ++parentheses;
    } else if (token == ")") {
      --parentheses;
    }
  }
  return names;
}

std::vector<std::string> MacroNames(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.starts_with('#')) continue;
    line.remove_prefix(1);
    if (TakeWord(&line) == "define") AddOnce(TakeWord(&line), &names);
  }
  return names;
}

}  // namespace tim::kernels
