// Checks of JSON values by the keywords of JSON Schema that ours have.
#include "tests/support/json_schema.h"

#include <algorithm>
#include <utility>

#include "base/str_cat.h"

namespace tim::testing {
namespace {

using nlohmann::json;

bool IsOfType(const json& value, const std::string& type) {
  const std::pair<const char*, bool> types[] = {
      {"object", value.is_object()}, {"array", value.is_array()},
      {"string", value.is_string()}, {"integer", value.is_number_integer()},
      {"number", value.is_number()}, {"boolean", value.is_boolean()},
      {"null", value.is_null()},
  };
  return std::any_of(std::begin(types), std::end(types), [&](const auto& one) {
    return type == one.first && one.second;
  });
}

class Checker {
 public:
  void Check(const json& schema, const json& value, const std::string& place) {
    for (const auto& [keyword, rule] : schema.items()) {
      if (keyword == "type") {
        CheckType(rule, value, place);
      } else if (keyword == "enum") {
        const bool has =
            std::find(rule.begin(), rule.end(), value) != rule.end();
        if (!has) Add(place, value, StrCat("none of ", rule.dump()));
      } else if (keyword == "required") {
        for (const json& name : rule) {
          if (!value.is_object() || value.contains(name)) continue;
          mistakes_.push_back(StrCat(place, ": there is no ", name.dump()));
        }
      } else if (keyword == "properties") {
        CheckProperties(rule, value, place);
      } else if (keyword == "additionalProperties") {
        CheckOthers(schema, rule, value, place);
      } else if (keyword == "items") {
        if (!value.is_array()) continue;
        for (size_t i = 0; i < value.size(); ++i) {
          Check(rule, value[i], StrCat(place, "/", i));
        }
      } else if (keyword != "$schema" && keyword != "title") {
        mistakes_.push_back(StrCat(place, ": unknown keyword ", keyword));
      }
    }
  }

  std::vector<std::string> Take() { return std::move(mistakes_); }

 private:
  void Add(const std::string& place, const json& value,
           const std::string& what) {
    mistakes_.push_back(StrCat(place, ": ", value.dump(), " is ", what));
  }

  // A type, or a list of which one must do.
  void CheckType(const json& rule, const json& value,
                 const std::string& place) {
    const json types = rule.is_array() ? rule : json::array({rule});
    const bool fits =
        std::any_of(types.begin(), types.end(), [&](const json& type) {
          return IsOfType(value, type.get<std::string>());
        });
    if (!fits) Add(place, value, StrCat("no ", rule.dump()));
  }

  void CheckProperties(const json& rules, const json& value,
                       const std::string& place) {
    if (!value.is_object()) return;
    for (const auto& [name, rule] : rules.items()) {
      if (value.contains(name)) Check(rule, value[name], place + "/" + name);
    }
  }

  void CheckOthers(const json& schema, const json& rule, const json& value,
                   const std::string& place) {
    if (!value.is_object()) return;
    for (const auto& [name, other] : value.items()) {
      if (schema.contains("properties") &&
          schema["properties"].contains(name)) {
        continue;
      }
      if (rule == json(false)) {
        mistakes_.push_back(StrCat(place, ": unknown property ", name));
      } else if (rule.is_object()) {
        Check(rule, other, place + "/" + name);
      }
    }
  }

  std::vector<std::string> mistakes_;
};

}  // namespace

std::vector<std::string> SchemaMistakes(const json& schema, const json& value) {
  Checker checker;
  checker.Check(schema, value, "");
  return checker.Take();
}

}  // namespace tim::testing
