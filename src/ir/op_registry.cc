#include "ir/op_registry.h"

namespace tim::ir {

OpRegistry::OpRegistry(const OpRegistry* parent) : parent_(parent) {}

OpRegistry::OpRegistry(OpRegistry&& other) noexcept = default;

OpRegistry::~OpRegistry() = default;

void OpRegistry::Add(OpSchema schema) {
  const std::string key = schema.Key();
  const bool runs = schema.eval || schema.decompose || schema.user_kernel ||
                    schema.device_only;
  if (!schema.infer_shapes || !runs || !schema.compute_estimate ||
      !schema.memory_estimate) {
    problems_.push_back(StrCat(
        key, " lacks infer_shapes, eval, compute_estimate or memory_estimate"));
  }
  auto owned = std::make_unique<const OpSchema>(std::move(schema));
  const OpSchema* added = owned.get();
  if (!schemas_.emplace(key, std::move(owned)).second) {
    problems_.push_back(StrCat(key, " is registered twice"));
    return;
  }
  const OpSchema*& newest = newest_[StrCat(added->domain, ".", added->name)];
  if (newest == nullptr || newest->version < added->version) newest = added;
}

void OpRegistry::Add(KernelDef kernel) {
  for (const auto& other : kernels_) {
    if (other->name == kernel.name) {
      problems_.push_back(
          StrCat("kernel ", kernel.name, " is registered twice"));
      return;
    }
  }
  if (!kernel.analyze || !kernel.cost || !kernel.lower) {
    problems_.push_back(
        StrCat("kernel ", kernel.name, " lacks analyze, cost or lower"));
  }
  kernels_.push_back(std::make_unique<const KernelDef>(std::move(kernel)));
  by_op_.emplace(kernels_.back()->op, kernels_.back().get());
}

void OpRegistry::Add(PartDef part) {
  for (const auto& other : parts_) {
    if (other->name != part.name) continue;
    problems_.push_back(StrCat("parts ", part.name, " are registered twice"));
    return;
  }
  if (!part.claim && !part.optimize) {
    problems_.push_back(
        StrCat("parts ", part.name, " lack both claim and optimize"));
  }
  parts_.push_back(std::make_unique<const PartDef>(std::move(part)));
}

void OpRegistry::Add(RewriteRule rule) {
  for (const auto& other : rules_) {
    if (other->name != rule.name) continue;
    problems_.push_back(StrCat("rule ", rule.name, " is registered twice"));
    return;
  }
  if (rule.pattern.kind != Pattern::Kind::kOp || rule.op.empty() ||
      !rule.node) {
    problems_.push_back(
        StrCat("rule ", rule.name, " has no root, operator or node"));
  }
  rules_.push_back(std::make_unique<const RewriteRule>(std::move(rule)));
}

const OpSchema* OpRegistry::Find(std::string_view name) const {
  if (const auto it = schemas_.find(name); it != schemas_.end()) {
    return it->second.get();
  }
  if (const auto it = newest_.find(name); it != newest_.end()) {
    return it->second;
  }
  return parent_ != nullptr ? parent_->Find(name) : nullptr;
}

std::vector<const KernelDef*> OpRegistry::Kernels(
    std::string_view op, std::string_view device_kind) const {
  std::vector<const KernelDef*> out;
  const auto [first, last] = by_op_.equal_range(op);
  for (auto it = first; it != last; ++it) {
    if (it->second->device_kind == device_kind) out.push_back(it->second);
  }
  if (parent_ != nullptr) {
    for (const KernelDef* kernel : parent_->Kernels(op, device_kind)) {
      out.push_back(kernel);
    }
  }
  return out;
}

std::vector<const PartDef*> OpRegistry::Parts(
    std::string_view device_kind) const {
  std::vector<const PartDef*> out;
  for (const auto& part : parts_) {
    if (part->device_kind == device_kind) out.push_back(part.get());
  }
  if (parent_ != nullptr) {
    for (const PartDef* part : parent_->Parts(device_kind)) out.push_back(part);
  }
  return out;
}

std::vector<const OpSchema*> OpRegistry::Schemas() const {
  std::map<std::string, const OpSchema*, std::less<>> all;
  if (parent_ != nullptr) {
    for (const OpSchema* schema : parent_->Schemas())
      all[schema->Key()] = schema;
  }
  for (const auto& [key, schema] : schemas_) all[key] = schema.get();
  std::vector<const OpSchema*> out;
  for (const auto& [key, schema] : all) out.push_back(schema);
  return out;
}

std::vector<const RewriteRule*> OpRegistry::Rules() const {
  std::vector<const RewriteRule*> out;
  for (const auto& rule : rules_) out.push_back(rule.get());
  if (parent_ != nullptr) {
    for (const RewriteRule* rule : parent_->Rules()) out.push_back(rule);
  }
  return out;
}

std::vector<const KernelDef*> OpRegistry::Kernels() const {
  std::vector<const KernelDef*> out;
  for (const auto& kernel : kernels_) out.push_back(kernel.get());
  if (parent_ != nullptr) {
    for (const KernelDef* kernel : parent_->Kernels()) out.push_back(kernel);
  }
  return out;
}

Status OpRegistry::Check() const {
  if (!problems_.empty()) {
    return Status(StatusCode::kInternal, StrJoin(problems_, "; "));
  }
  return parent_ != nullptr ? parent_->Check() : OkStatus();
}

std::string OpRegistry::Dump() const {
  std::string out;
  for (const OpSchema* schema : Schemas()) out += ir::Dump(*schema);
  for (const KernelDef* kernel : Kernels()) out += ir::Dump(*kernel) + "\n";
  return out;
}

}  // namespace tim::ir
