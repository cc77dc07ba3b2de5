// The list of built-in operators for clients.
#include "tim/vx/operators.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/guarded.h"
#include "ops/builtin.h"
#include "vx/core/failure.h"

namespace tim::vx {
namespace {

// None for a type that no operation of a client can have.
std::optional<NamedAttribute::Type> ToVx(ir::AttributeType type) {
  using Type = NamedAttribute::Type;
  switch (type) {
    case ir::AttributeType::kBool:
      return Type::kBool;
    case ir::AttributeType::kInt:
      return Type::kInt;
    case ir::AttributeType::kFloat:
      return Type::kFloat;
    case ir::AttributeType::kString:
      return Type::kString;
    case ir::AttributeType::kInts:
      return Type::kInts;
    case ir::AttributeType::kFloats:
      return Type::kFloats;
    case ir::AttributeType::kStrings:
      return Type::kStrings;
    case ir::AttributeType::kTensor:
    case ir::AttributeType::kGraph:
      break;
  }
  return std::nullopt;
}

bool Append(const ir::AttributeSpec& spec, OperatorInfo* info) {
  const auto type = ToVx(spec.type);
  if (!type) return false;
  const bool required = !spec.default_value.has_value();
  info->attributes.push_back(
      {spec.name, *type, required,
       required ? std::string() : ir::ToString(*spec.default_value),
       spec.values});
  return true;
}

// None for an operator that only the compiler makes.
std::optional<OperatorInfo> Describe(const ir::OpSchema& schema) {
  if (schema.domain != "tim") return std::nullopt;
  OperatorInfo info;
  info.name = schema.name;
  info.least_inputs = static_cast<uint32_t>(schema.inputs.required);
  info.most_inputs = static_cast<uint32_t>(schema.inputs.limit);
  info.least_outputs = static_cast<uint32_t>(schema.outputs.required);
  info.most_outputs = static_cast<uint32_t>(schema.outputs.limit);
  for (const ir::AttributeSpec& spec : schema.attributes) {
    if (!Append(spec, &info)) return std::nullopt;
  }
  for (const ir::AttributeSpec& spec : ir::ReservedAttributes()) {
    Append(spec, &info);
  }
  return info;
}

}  // namespace

std::vector<OperatorInfo> Operators() {
  std::vector<OperatorInfo> all;
  const Status status = GuardedCall([&] {
    for (const ir::OpSchema* schema : ops::BuiltinOperators().Schemas()) {
      if (auto info = Describe(*schema)) all.push_back(std::move(*info));
    }
    std::sort(all.begin(), all.end(),
              [](const OperatorInfo& a, const OperatorInfo& b) {
                return a.name < b.name;
              });
    return OkStatus();
  });
  if (!status.ok()) Fail(status);
  return all;
}

}  // namespace tim::vx
