// Definitions and expansion of macros.
#include "kernels/text/macro_table.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "kernels/text/c_tokens.h"

namespace tim::kernels {
namespace {

constexpr std::string_view kPaste = "##";

// The arguments between the parentheses that begin at tokens[*at], which is
// then behind them; none where the parentheses do not end.
std::vector<TextTokens> ArgumentsAt(std::span<const std::string> tokens,
                                    size_t* at) {
  std::vector<TextTokens> arguments(1);
  int depth = 0;
  for (size_t i = *at; i < tokens.size(); ++i) {
    const std::string& token = tokens[i];
    if (token == "(" && depth++ == 0) continue;
    if (token == ")" && --depth == 0) {
      *at = i + 1;
      return arguments;
    }
    if (token == "," && depth == 1) {
      arguments.emplace_back();
    } else {
      arguments.back().push_back(token);
    }
  }
  return {};
}

TextTokens Pasted(TextTokens tokens) {
  TextTokens out;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] != kPaste) {
      out.push_back(std::move(tokens[i]));
    } else if (!out.empty() && i + 1 < tokens.size()) {
      out.back() += tokens[++i];
    }
  }
  return out;
}

}  // namespace

TextTokens TokensOf(std::string_view text) {
  TextTokens found;
  CTokens tokens(text);
  for (std::string_view token = tokens.Next(); !token.empty();
       token = tokens.Next()) {
    if (token == "#" && !found.empty() && found.back() == "#") {
      found.back() = kPaste;
    } else {
      found.emplace_back(token);
    }
  }
  return found;
}

void MacroTable::Define(std::string_view definition) {
  const auto* const end =
      std::find_if_not(definition.begin(), definition.end(), IsNameCharacter);
  const std::string_view name =
      definition.substr(0, static_cast<size_t>(end - definition.begin()));
  definition.remove_prefix(name.size());
  Macro macro;
  const size_t close = definition.find(')');
  if (definition.starts_with('(') && close != std::string_view::npos) {
    macro.has_parameters = true;
    macro.parameters = TokensOf(definition.substr(1, close - 1));
    std::erase(macro.parameters, ",");
    definition.remove_prefix(close + 1);
  }
  macro.body = TokensOf(definition);
  macros_.insert_or_assign(std::string(name), std::move(macro));
}

void MacroTable::Define(std::string_view name, std::string_view value) {
  macros_.insert_or_assign(std::string(name), Macro{.body = TokensOf(value)});
}

void MacroTable::Undefine(std::string_view name) {
  const auto found = macros_.find(name);
  if (found != macros_.end()) macros_.erase(found);
}

TextTokens MacroTable::Expand(std::span<const std::string> tokens) const {
  TextTokens out;
  Names open;
  Expand(tokens, open, &out);
  return out;
}

// `open`: macros whose bodies are being expanded, which stay as they are.
void MacroTable::Expand(std::span<const std::string> tokens, Names& open,
                        TextTokens* out) const {
  size_t i = 0;
  while (i < tokens.size()) {
    const std::string& token = tokens[i++];
    const auto found = macros_.find(token);
    if (found == macros_.end() || open.contains(found->first)) {
      out->push_back(token);
      continue;
    }
    const Macro& macro = found->second;
    std::vector<TextTokens> arguments;
    if (macro.has_parameters) {
      const bool called = i < tokens.size() && tokens[i] == "(";
      if (called) arguments = ArgumentsAt(tokens, &i);
      if (arguments.empty()) {
        out->push_back(token);
        continue;
      }
    }
    const TextTokens body = Substitute(macro, arguments, open);
    open.insert(found->first);
    Expand(body, open, out);
    open.erase(found->first);
  }
}

// The body with its arguments, which are expanded first but beside "##".
TextTokens MacroTable::Substitute(const Macro& macro,
                                  const std::vector<TextTokens>& arguments,
                                  Names& open) const {
  TextTokens out;
  const TextTokens& body = macro.body;
  for (size_t i = 0; i < body.size(); ++i) {
    const auto parameter =
        std::find(macro.parameters.begin(), macro.parameters.end(), body[i]);
    const auto index =
        static_cast<size_t>(parameter - macro.parameters.begin());
    if (index >= std::min(macro.parameters.size(), arguments.size())) {
      out.push_back(body[i]);
      continue;
    }
    const bool pasted = (i > 0 && body[i - 1] == kPaste) ||
                        (i + 1 < body.size() && body[i + 1] == kPaste);
    if (pasted) {
      out.insert(out.end(), arguments[index].begin(), arguments[index].end());
    } else {
      Expand(arguments[index], open, &out);
    }
  }
  return Pasted(std::move(out));
}

}  // namespace tim::kernels
