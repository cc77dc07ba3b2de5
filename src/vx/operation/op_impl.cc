#include "vx/operation/op_impl.h"

#include "vx/failure.h"

namespace tim::vx {

const ir::OpSchema* OpImpl::Schema() const {
  if (core == nullptr) return nullptr;
  const ir::OpRegistry& registry = core->context->Operators();
  if (kind) {
    const auto schemas = registry.Schemas();
    return *kind < schemas.size() ? schemas[*kind] : nullptr;
  }
  const bool has_domain = name.find('.') != std::string::npos;
  return registry.Find(has_domain ? name : StrCat("tim.", name));
}

std::string OpImpl::InstanceName() const {
  const std::string label = kind           ? StrCat("kind ", *kind)
                            : name.empty() ? "operation"
                                           : name;
  if (replaced.empty()) return StrCat(label, "#", uid);
  return StrCat(label, "#", uid, " in place of ", replaced);
}

void OpImpl::Join(std::shared_ptr<GraphCore> graph) {
  if (core != nullptr || graph == nullptr) return;
  core = std::move(graph);
  uid = ++core->last_uid;
}

void OpImpl::Refuse(const Status& mistake) {
  const Status status = mistake.WithContext(InstanceName());
  if (core != nullptr) {
    Fail(*core, status);
  } else {
    Fail(status);
  }
  if (problem.ok()) problem = AsFinal(mistake);
}

}  // namespace tim::vx
