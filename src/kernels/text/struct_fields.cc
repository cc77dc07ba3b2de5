// Reads definitions of structs, as far as they are plain.
#include "kernels/text/struct_fields.h"

#include <utility>

#include "kernels/text/c_tokens.h"

namespace tim::kernels {
namespace {

using Fields = std::vector<StructField>;

// The tokens after the opening brace, up to the closing one.
Result<Fields> ReadFields(CTokens& tokens) {
  Fields fields;
  for (std::string_view type = tokens.Next(); type != "}";
       type = tokens.Next()) {
    if (type != "int" && type != "float") {
      return Unimplemented("a struct has a field of '", type,
                           "', takes int and float only");
    }
    for (std::string_view end = ","; end == ",";) {
      const std::string_view name = tokens.Next();
      end = tokens.Next();
      if (!IsWord(name) || (end != "," && end != ";")) {
        return Unimplemented("a struct has a field '", type, " ", name, end,
                             "', takes plain ones only");
      }
      fields.push_back({std::string(type), std::string(name)});
    }
  }
  return fields;
}

}  // namespace

Result<Fields> FieldsOf(std::string_view name, std::string_view text) {
  for (size_t at = text.find("typedef struct"); at != std::string_view::npos;
       at = text.find("typedef struct", at + 1)) {
    CTokens tokens(text.substr(at));
    tokens.Next();
    tokens.Next();
    if (tokens.Next() != "{") continue;
    CTokens rest = tokens;
    for (std::string_view token = rest.Next(); token != "}" && !token.empty();
         token = rest.Next()) {
    }
    if (rest.Next() == name) return ReadFields(tokens);
  }
  return Fields();
}

}  // namespace tim::kernels
