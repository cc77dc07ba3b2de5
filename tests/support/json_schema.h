// JSON texts held to JSON schemas.
#ifndef TIM_TESTS_SUPPORT_JSON_SCHEMA_H_
#define TIM_TESTS_SUPPORT_JSON_SCHEMA_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tim::testing {

/// Places where `json` breaks `schema`: "/parts/0/id: \"a\" is no integer".  Of
/// JSON Schema there are type, enum, required, properties,
/// additionalProperties and items; any other keyword but $schema and title is
/// a mistake, too.
std::vector<std::string> SchemaMistakes(const nlohmann::json& schema,
                                        const nlohmann::json& json);

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_JSON_SCHEMA_H_
