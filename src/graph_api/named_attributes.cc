// Brings attributes to where their kind has them, and checks those that have
// names alone.
#include "graph_api/named_attributes.h"

#include <algorithm>
#include <string>
#include <utility>

namespace tim::graph {
namespace {

const NamedAttributeDef* Find(const OpDef& def, const std::string& name) {
  const auto found = std::find_if(
      def.named_attributes.begin(), def.named_attributes.end(),
      [&](const NamedAttributeDef& one) { return one.name == name; });
  return found == def.named_attributes.end() ? nullptr : &*found;
}

template <typename T>
AttributeValue Fitted(const T& scalar, AttributeType list, AttributeType type) {
  if (type == list) return std::vector<T>{scalar};
  return scalar;
}

// The value in the form that `type` has: a list of one for a scalar, or a
// scalar.
AttributeValue Fitted(AttributeValue value, AttributeType type) {
  if (const auto* number = std::get_if<int64_t>(&value)) {
    return Fitted(*number, AttributeType::kInts, type);
  }
  if (const auto* number = std::get_if<float>(&value)) {
    return Fitted(*number, AttributeType::kFloats, type);
  }
  const auto* ints = std::get_if<Dims>(&value);
  if (ints != nullptr && ints->size() == 1 && type == AttributeType::kInt) {
    return ints->front();
  }
  const auto* floats = std::get_if<Floats>(&value);
  if (floats != nullptr && floats->size() == 1 &&
      type == AttributeType::kFloat) {
    return floats->front();
  }
  return value;
}

}  // namespace

void ResolveNamedAttributes(const OpDef& def, Op* op) {
  for (auto it = op->named.begin(); it != op->named.end();) {
    const tim_graph_op_attr_t attribute = AttributeOf(it->first);
    if (Find(def, it->first) == nullptr && def.Find(attribute) != nullptr) {
      op->attributes[attribute] =
          Fitted(std::move(it->second), TypeOf(attribute));
      it = op->named.erase(it);
    } else {
      ++it;
    }
  }
  for (auto it = op->attributes.begin(); it != op->attributes.end();) {
    const char* const name = NameOf(it->first);
    if (def.Find(it->first) == nullptr && Find(def, name) != nullptr) {
      op->named.emplace(name, std::move(it->second));
      it = op->attributes.erase(it);
    } else {
      ++it;
    }
  }
  for (const NamedAttributeDef& attribute : def.named_attributes) {
    if (attribute.default_value) {
      op->named.emplace(attribute.name, *attribute.default_value);
    }
    const auto given = op->named.find(attribute.name);
    if (given == op->named.end()) continue;
    given->second = Fitted(std::move(given->second), attribute.type);
  }
}

Status CheckNamedAttributes(const OpDef& def, const Op& op) {
  for (const NamedAttributeDef& attribute : def.named_attributes) {
    const auto found = op.named.find(attribute.name);
    if (found == op.named.end()) {
      return InvalidArgument("attribute '", attribute.name,
                             "' is required and was not set");
    }
    if (TypeOf(found->second) != attribute.type) {
      return InvalidArgument("attribute '", attribute.name, "' is ",
                             ToString(TypeOf(found->second)), ", expected ",
                             ToString(attribute.type));
    }
    const auto* text = std::get_if<std::string>(&found->second);
    const auto& choices = attribute.choices;
    if (text == nullptr || choices.empty() ||
        std::find(choices.begin(), choices.end(), *text) != choices.end()) {
      continue;
    }
    return InvalidArgument("attribute '", attribute.name, "' is '", *text,
                           "', expected one of '", StrJoin(choices, "', '"),
                           "'");
  }
  for (const auto& [name, value] : op.named) {
    if (Find(def, name) != nullptr) continue;
    return InvalidArgument("attribute '", name,
                           "' is not one that the kind has");
  }
  return OkStatus();
}

}  // namespace tim::graph
