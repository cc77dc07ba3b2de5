#include "kernels/text/kernel_text.h"

#include <optional>

#include "kernels/text/c_tokens.h"

namespace tim::kernels {
namespace {

using Parameters = std::vector<std::vector<std::string_view>>;

// Of the tokens after the opening parenthesis, up to the closing one.
Parameters ReadParameters(CTokens& tokens) {
  Parameters parameters;
  int depth = 1;
  for (std::string_view token = tokens.Next(); !token.empty();
       token = tokens.Next()) {
    if (token == "(") ++depth;
    if (token == ")" && --depth == 0) break;
    if (parameters.empty()) parameters.emplace_back();
    if (token == "," && depth == 1) {
      parameters.emplace_back();
    } else {
      parameters.back().push_back(token);
    }
  }
  return parameters;
}

// Of the tokens after the opening brace, up to the closing one; null where that
// is missing.
std::string_view ReadBody(CTokens& tokens, std::string_view brace) {
  const char* const begin = brace.data() + brace.size();
  int depth = 1;
  for (std::string_view token = tokens.Next(); !token.empty();
       token = tokens.Next()) {
    if (token == "{") ++depth;
    if (token != "}" || --depth > 0) continue;
    return {begin, static_cast<size_t>(token.data() - begin)};
  }
  return {};
}

}  // namespace

std::vector<KernelText> DefinitionsOf(std::string_view function,
                                      std::string_view text) {
  std::vector<KernelText> definitions;
  CTokens tokens(text);
  std::string_view previous;
  std::optional<Parameters> parameters;  // of `function`, its body to come
  for (std::string_view token = tokens.Next(); !token.empty();
       previous = token, token = tokens.Next()) {
    if (token == "(" && previous == function) {
      parameters = ReadParameters(tokens);
    } else if (token == "{") {
      const std::string_view body = ReadBody(tokens, token);
      if (parameters && body.data() != nullptr) {
        definitions.push_back({*std::move(parameters), body});
      }
      parameters.reset();
    } else if (token == ";") {
      parameters.reset();
    }
  }
  return definitions;
}

}  // namespace tim::kernels
