#include "ir/op_schema.h"

#include <atomic>

#include "base/fork/keep_one.h"

namespace tim::ir {
namespace {

const AttributeSpec* FindSpec(const OpSchema& schema, std::string_view name) {
  for (const AttributeSpec& spec : schema.attributes) {
    if (spec.name == name) return &spec;
  }
  for (const AttributeSpec& spec : ReservedAttributes()) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

Status CheckAttribute(const AttributeSpec& spec, const Attribute& value) {
  if (TypeOf(value) != spec.type) {
    return InvalidArgument("attribute '", spec.name, "' is of type ",
                           ToString(TypeOf(value)), ", expected ",
                           ToString(spec.type));
  }
  if (spec.values.empty()) return OkStatus();
  std::string legal;
  for (const auto& [name, number] : spec.values) {
    if (std::get<int64_t>(value) == number) return OkStatus();
    legal += StrCat(legal.empty() ? "" : ", ", number, " (", name, ")");
  }
  return InvalidArgument("attribute '", spec.name, "' is ",
                         std::get<int64_t>(value), ", expected one of ", legal);
}

std::string_view NameOfValue(const AttributeSpec& spec, int64_t value) {
  for (const auto& [name, number] : spec.values) {
    if (number == value) return name;
  }
  return "";
}

// Integers that the schema names are written by their names.
std::string ValueText(const AttributeSpec* spec, const Attribute& value) {
  const auto* number = std::get_if<int64_t>(&value);
  if (spec == nullptr || number == nullptr) return ToString(value);
  const std::string_view name = NameOfValue(*spec, *number);
  return name.empty() ? ToString(value) : std::string(name);
}

Status AddDefault(const AttributeSpec& spec, AttributeMap* attributes) {
  if (attributes->Find(spec.name) != nullptr) return OkStatus();
  if (!spec.default_value) {
    return InvalidArgument("attribute '", spec.name, "' (", ToString(spec.type),
                           ") is missing");
  }
  attributes->Set(spec.name, *spec.default_value);
  return OkStatus();
}

Status CheckCount(const char* what, size_t bound, Arity arity) {
  const int count = static_cast<int>(bound);
  if (count >= arity.required && count <= arity.limit) return OkStatus();
  const std::string expected =
      arity.required == arity.limit
          ? StrCat(arity.limit)
          : StrCat(arity.required, " to ", arity.limit);
  return InvalidArgument(count, " ", what, "s are bound, expected ", expected);
}

void DumpAttribute(const AttributeSpec& spec, std::string* out) {
  *out += StrCat("  ", spec.name, ": ", ToString(spec.type));
  if (spec.default_value) *out += StrCat(" = ", ToString(*spec.default_value));
  for (const auto& [name, number] : spec.values) {
    *out += StrCat(" ", number, ":", name);
  }
  *out += "\n";
}

}  // namespace

std::span<const AttributeSpec> ReservedAttributes() {
  using Specs = std::vector<AttributeSpec>;
  static constinit std::atomic<const Specs*> specs = nullptr;
  return KeepOne(specs, [] {
    return Specs{
        {kOverflowPolicy,
         AttributeType::kInt,
         int64_t{1},
         {{"wrap", 0}, {"saturate", 1}}},
        {kRoundingPolicy,
         AttributeType::kInt,
         int64_t{1},
         {{"to_zero", 0}, {"to_nearest_even", 1}}},
        {kRoundType,
         AttributeType::kInt,
         int64_t{1},
         {{"ceiling", 0}, {"floor", 1}}},
        {kAccumulatorBits, AttributeType::kInt, int64_t{0}},
    };
  });
}

Status CompleteAttributes(const OpSchema& schema, AttributeMap* attributes) {
  for (const auto& [name, value] : attributes->entries()) {
    const AttributeSpec* spec = FindSpec(schema, name);
    if (spec == nullptr) {
      return InvalidArgument(schema.name, " has no attribute '", name, "'");
    }
    TIM_RETURN_IF_ERROR(CheckAttribute(*spec, value));
  }
  for (const AttributeSpec& spec : schema.attributes) {
    TIM_RETURN_IF_ERROR(AddDefault(spec, attributes));
  }
  for (const AttributeSpec& spec : ReservedAttributes()) {
    TIM_RETURN_IF_ERROR(AddDefault(spec, attributes));
  }
  return OkStatus();
}

Status CheckOperandCounts(const Node& node) {
  const Arity inputs = node.schema->InputArity(node.attributes);
  const Arity outputs = node.schema->OutputArity(node.attributes);
  TIM_RETURN_IF_ERROR(CheckCount("input", node.inputs.size(), inputs));
  TIM_RETURN_IF_ERROR(CheckCount("output", node.outputs.size(), outputs));
  for (int i = 0; i < inputs.required; ++i) {
    if (node.inputs[i] == kNone) {
      return InvalidArgument("input ", i,
                             " is required, but a placeholder is bound");
    }
  }
  for (int i = 0; i < outputs.required; ++i) {
    if (node.outputs[i] == kNone) {
      return InvalidArgument("output ", i,
                             " is required, but a placeholder is bound");
    }
  }
  return OkStatus();
}

std::string AttributesText(const OpSchema& schema,
                           const AttributeMap& attributes) {
  std::string out = "{";
  for (const auto& [name, value] : attributes.entries()) {
    out += StrCat(out.size() > 1 ? ", " : "", name, ": ",
                  ValueText(FindSpec(schema, name), value));
  }
  return out + "}";
}

std::string Dump(const OpSchema& schema) {
  std::string out =
      StrCat(schema.Key(), " inputs ", schema.inputs.required, "..",
             schema.inputs.limit, " outputs ", schema.outputs.required, "..",
             schema.outputs.limit, "\n");
  for (const AttributeSpec& spec : schema.attributes) DumpAttribute(spec, &out);
  for (const AttributeSpec& spec : ReservedAttributes()) {
    DumpAttribute(spec, &out);
  }
  return out;
}

}  // namespace tim::ir
