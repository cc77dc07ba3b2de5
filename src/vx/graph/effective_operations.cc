#include "vx/graph/effective_operations.h"

#include <map>

#include "vx/failure.h"
#include "vx/lowering/composition.h"
#include "vx/operation/op_impl.h"

namespace tim::vx {
namespace {

// While it lives, new operations are collected instead of joining the graph.
class Collector {
 public:
  explicit Collector(GraphCore& core) : core_(core) {
    core_.replacements = &operations_;
  }
  ~Collector() { core_.replacements = nullptr; }
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  Operations Take() { return std::move(operations_); }

 private:
  GraphCore& core_;
  Operations operations_;
};

Status CheckUsable(const Operations& operations, const GraphCore& core) {
  for (const auto& operation : operations) {
    if (operation != nullptr) continue;
    return InvalidArgument("OpVector() of graph ", core.name,
                           " holds a null pointer");
  }
  return OkStatus();
}

// By index: Wire() may add to the list.
Status WireAll(const GraphCore& core, const Operations& operations) {
  for (size_t i = 0; i < operations.size(); ++i) {
    OpImpl& operation = *operations[i]->impl();
    if (operation.composition == nullptr) continue;
    const Status status = WireAtLast(operation);
    if (status.ok()) continue;
    return status.WithContext(StrCat("operation ", operation.InstanceName(),
                                     " of graph ", core.name));
  }
  return OkStatus();
}

class Replacer {
 public:
  explicit Replacer(GraphCore& core) : core_(core) {}

  Result<Operations> Run(const Operations& operations) {
    for (const auto& operation : operations) {
      owners_[operation->impl()->uid] = operation->impl().get();
    }
    for (const auto& operation : operations) {
      const OpImpl& impl = *operation->impl();
      if (IsPartOfReplaced(impl)) continue;
      if (FactoryOf(impl) == nullptr) {
        effective_.push_back(operation);
        continue;
      }
      const Status status = Replace(*operation);
      if (status.ok()) continue;
      return status.WithContext(StrCat("the replacement of operation ",
                                       impl.InstanceName(), " of graph ",
                                       core_.name));
    }
    return std::move(effective_);
  }

 private:
  const Graph::Replacement* FactoryOf(const OpImpl& operation) const {
    const ir::OpSchema* schema = operation.Schema();
    const std::string& name = schema != nullptr ? schema->name : operation.name;
    auto found = core_.overrides.find(name);
    if (found == core_.overrides.end()) {
      found = core_.overrides.find(name.substr(name.find('.') + 1));
    }
    return found != core_.overrides.end() ? &found->second : nullptr;
  }

  bool IsPartOfReplaced(const OpImpl& operation) const {
    for (uint32_t uid = operation.owner; uid != 0;) {
      const auto owner = owners_.find(uid);
      if (owner == owners_.end()) return false;
      if (FactoryOf(*owner->second) != nullptr) return true;
      uid = owner->second->owner;
    }
    return false;
  }

  static Status CheckReplacement(const Operation* made, const GraphCore& core) {
    if (made == nullptr) return InvalidArgument("the factory gave null");
    const OpImpl& impl = *made->impl();
    if (impl.core != nullptr && impl.core.get() != &core) {
      return InvalidArgument("the factory gave an operation of another graph");
    }
    if (!impl.inputs.empty() || !impl.outputs.empty()) {
      return InvalidArgument(
          "the factory gave an operation that is bound; its operands become "
          "those of the original");
    }
    return OkStatus();
  }

  Status Replace(const Operation& original) {
    const OpImpl& replaced = *original.impl();
    Collector collector(core_);
    std::shared_ptr<Operation> made;
    TIM_RETURN_IF_ERROR(CallUser(
        [&] { made = (*FactoryOf(replaced))(core_.graph, original); }));
    TIM_RETURN_IF_ERROR(CheckReplacement(made.get(), core_));
    OpImpl& impl = *made->impl();
    impl.Join(core_.graph != nullptr ? CoreOf(core_.graph) : nullptr);
    impl.replaced = replaced.InstanceName();
    impl.owner = replaced.owner;
    made->BindInputs(replaced.inputs).BindOutputs(replaced.outputs);
    TIM_RETURN_IF_ERROR(impl.problem);
    if (impl.composition != nullptr) TIM_RETURN_IF_ERROR(WireAtLast(impl));
    effective_.push_back(made);
    for (auto& operation : collector.Take()) {
      if (operation != made) effective_.push_back(std::move(operation));
    }
    return OkStatus();
  }

  GraphCore& core_;
  std::map<uint32_t, const OpImpl*> owners_;
  Operations effective_;
};

}  // namespace

Result<Operations> EffectiveOperations(GraphCore& core,
                                       const Operations& operations) {
  TIM_RETURN_IF_ERROR(CheckUsable(operations, core));
  TIM_RETURN_IF_ERROR(WireAll(core, operations));
  if (core.overrides.empty()) return operations;
  return Replacer(core).Run(operations);
}

}  // namespace tim::vx
