#include "vx/operation/op_impl.h"

#include "vx/core/failure.h"
#include "vx/core/given_name.h"
#include "vx/core/known_operators.h"

namespace tim::vx {
namespace {

ir::Attribute ToIr(const NamedAttribute& attribute) {
  switch (attribute.type()) {
    case NamedAttribute::Type::kBool:
      return attribute.number() != 0;
    case NamedAttribute::Type::kInt:
      return attribute.number();
    case NamedAttribute::Type::kFloat:
      return attribute.real();
    case NamedAttribute::Type::kString:
      return attribute.text();
    case NamedAttribute::Type::kInts:
      return attribute.numbers();
    case NamedAttribute::Type::kFloats:
      return attribute.reals();
    case NamedAttribute::Type::kStrings:
      return attribute.texts();
  }
  return int64_t{0};
}

}  // namespace

OpKind CopyOf(const OpKind& kind) {
  if (std::holds_alternative<Composition>(kind)) return Builtin();
  return kind;
}

std::optional<uint32_t> OpImpl::Number() const {
  const auto* builtin = As<Builtin>();
  return builtin != nullptr ? builtin->number : std::nullopt;
}

const ir::OpSchema* OpImpl::Schema() const {
  if (core == nullptr) return nullptr;
  const ir::OpRegistry& registry = core->context->Operators();
  if (const auto number = Number()) {
    const auto schemas = registry.Schemas();
    return *number < schemas.size() ? schemas[*number] : nullptr;
  }
  const bool has_domain = name.find('.') != std::string::npos;
  if (!has_domain) return registry.Find(StrCat("tim.", name));
  return KnownOperators(*core->context).Find(name);
}

std::string OpImpl::InstanceName() const {
  const auto number = Number();
  const std::string label = number         ? StrCat("kind ", *number)
                            : name.empty() ? "operation"
                                           : name;
  const std::string name_here = Named(StrCat(label, "#", uid), given_name);
  if (replaced.empty()) return name_here;
  return StrCat(name_here, " in place of ", replaced);
}

void OpImpl::SetAttributes(std::initializer_list<NamedAttribute> given) {
  for (const NamedAttribute& attribute : given) {
    attributes.Set(attribute.name(), ToIr(attribute));
  }
}

void OpImpl::Join(std::shared_ptr<GraphCore> graph) {
  if (core != nullptr || graph == nullptr) return;
  core = std::move(graph);
  uid = ++core->last_uid;
  if (!problem.ok()) core->logged.push_back(problem.message());
}

void OpImpl::Refuse(const Status& mistake) {
  const Status status = mistake.WithContext(InstanceName());
  if (core != nullptr) {
    Fail(*core, status);
  } else {
    Fail(status);
  }
  if (!problem.ok()) return;
  problem = AsFinal(mistake);
  if (core != nullptr) core->logged.push_back(problem.message());
}

}  // namespace tim::vx
