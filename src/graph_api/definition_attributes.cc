// Reads the attributes of a definition.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "graph_api/definition.h"
#include "graph_api/error.h"
#include "ir/op_schema.h"

namespace tim::graph {
namespace {

struct TypePair {
  tim_graph_attribute_type_t from;
  AttributeType to;
};
constexpr TypePair kAttributeTypes[] = {
    {tim_graph_attribute_f32, AttributeType::kFloat},
    {tim_graph_attribute_f32_list, AttributeType::kFloats},
    {tim_graph_attribute_s64, AttributeType::kInt},
    {tim_graph_attribute_s64_list, AttributeType::kInts},
    {tim_graph_attribute_bool, AttributeType::kBool},
    {tim_graph_attribute_string, AttributeType::kString}};

Result<AttributeType> ReadType(tim_graph_attribute_type_t type) {
  for (const TypePair& pair : kAttributeTypes) {
    if (pair.from == type) return pair.to;
  }
  return InvalidArgument("there is no type of attributes with the number ",
                         static_cast<int>(type));
}

template <typename T>
std::vector<T> ListOf(const tim_graph_attribute_value_t& value) {
  const T* const data = static_cast<const T*>(value.data);
  return {data, data + value.count};
}

Result<AttributeValue> ReadValue(const tim_graph_attribute_value_t& value) {
  TIM_ASSIGN_OR_RETURN(const AttributeType type, ReadType(value.type));
  if (value.count != 0) {
    TIM_RETURN_IF_ERROR(RequireNotNull(value.data, "value"));
  }
  if (type == AttributeType::kFloats) return ListOf<float>(value);
  if (type == AttributeType::kInts) return ListOf<int64_t>(value);
  if (type == AttributeType::kString) {
    return std::string(static_cast<const char*>(value.data), value.count);
  }
  if (value.count != 1) {
    return InvalidArgument(ToString(type), " has ", value.count,
                           " values, expected one");
  }
  if (type == AttributeType::kFloat) return ListOf<float>(value)[0];
  if (type == AttributeType::kInt) return ListOf<int64_t>(value)[0];
  return ListOf<uint8_t>(value)[0] != 0;
}

Status ReadDefault(const tim_graph_op_attribute_t& from,
                   NamedAttributeDef* attribute) {
  if (from.default_value == nullptr) {
    if (from.required != 0) return OkStatus();
    return InvalidArgument(
        "is not required and has no default; make it required, or give it one");
  }
  if (from.required != 0) {
    return InvalidArgument("is required and has a default; give it only one");
  }
  TIM_ASSIGN_OR_RETURN(attribute->default_value,
                       ReadValue(*from.default_value));
  if (TypeOf(*attribute->default_value) != attribute->type) {
    return InvalidArgument("has ", ToString(TypeOf(*attribute->default_value)),
                           " for a default, expected ",
                           ToString(attribute->type));
  }
  const auto* text = std::get_if<std::string>(&*attribute->default_value);
  const auto& choices = attribute->choices;
  if (text == nullptr || choices.empty() ||
      std::find(choices.begin(), choices.end(), *text) != choices.end()) {
    return OkStatus();
  }
  return InvalidArgument("has '", *text,
                         "' for a default, which is none of its choices '",
                         StrJoin(choices, "', '"), "'");
}

Status ReadAttribute(const tim_graph_op_attribute_t& from,
                     NamedAttributeDef* attribute) {
  TIM_ASSIGN_OR_RETURN(attribute->type, ReadType(from.type));
  if (from.num_choices != 0) {
    TIM_RETURN_IF_ERROR(RequireNotNull(from.choices, "list of choices"));
    if (attribute->type != AttributeType::kString) {
      return InvalidArgument("is ", ToString(attribute->type),
                             " and has choices, which strings alone have");
    }
  }
  for (size_t i = 0; i < from.num_choices; ++i) {
    attribute->choices.emplace_back(TextOf(from.choices[i]));
  }
  return ReadDefault(from, attribute);
}

}  // namespace

Status ReadAttributes(const tim_graph_op_definition_t& definition,
                      ExtendedOp* op) {
  std::set<std::string> names;
  for (const ir::AttributeSpec& spec : ir::ReservedAttributes()) {
    names.insert(spec.name);
  }
  if (definition.num_attributes != 0) {
    TIM_RETURN_IF_ERROR(
        RequireNotNull(definition.attributes, "list of attributes"));
  }
  for (size_t i = 0; i < definition.num_attributes; ++i) {
    NamedAttributeDef& attribute = op->attributes.emplace_back();
    attribute.name = TextOf(definition.attributes[i].name);
    TIM_RETURN_IF_ERROR(
        CheckIdentifier("the name of an attribute", attribute.name));
    if (!names.insert(attribute.name).second) {
      return InvalidArgument("two attributes are called '", attribute.name,
                             "', or all operators have it");
    }
    const Status status = ReadAttribute(definition.attributes[i], &attribute);
    if (!status.ok()) {
      return status.WithContext(StrCat("attribute '", attribute.name, "'"));
    }
  }
  return OkStatus();
}

}  // namespace tim::graph
