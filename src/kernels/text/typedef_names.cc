#include "kernels/text/typedef_names.h"

#include "kernels/text/c_tokens.h"
#include "kernels/text/c_type.h"

namespace tim::kernels {
namespace {

// The words between "typedef" and ";".
struct Declaration {
  std::string type;  // "unsigned char", "" for what is more than a type's name
  std::string name;
};

// Of the tokens after "typedef".  The body of a struct may hold semicolons.
Declaration ReadDeclaration(CTokens& tokens) {
  Declaration declaration;
  bool plain = true;
  int depth = 0;
  for (std::string_view token = tokens.Next(); !token.empty();
       token = tokens.Next()) {
    if (token == ";" && depth == 0) break;
    if (token == "{") ++depth;
    if (token == "}") --depth;
    if (!IsWord(token) || token == "struct") plain = false;
    if (IsWord(token) && depth == 0) {
      declaration.type += declaration.name + " ";
      declaration.name = token;
    }
  }
  if (!plain) declaration.type.clear();
  return declaration;
}

}  // namespace

TypedefNames::TypedefNames(std::string_view program) {
  CTokens tokens(program);
  for (std::string_view token = tokens.Next(); !token.empty();
       token = tokens.Next()) {
    if (token != "typedef") continue;
    const Declaration declaration = ReadDeclaration(tokens);
    Declare(declaration.name, declaration.type);
  }
}

void TypedefNames::Declare(const std::string& name, const std::string& type) {
  std::string resolved = Resolve(PlainTypeName(type));
  if (!IsBuiltinType(resolved)) resolved.clear();
  const auto [it, added] = types_.emplace(name, resolved);
  if (!added && it->second != resolved) it->second.clear();
}

std::string TypedefNames::Resolve(std::string_view name) const {
  const auto found = types_.find(name);
  const bool known = found != types_.end() && !found->second.empty();
  return known ? found->second : std::string(name);
}

}  // namespace tim::kernels
