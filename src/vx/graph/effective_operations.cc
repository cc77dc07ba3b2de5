#include "vx/graph/effective_operations.h"

#include <map>

#include "vx/core/failure.h"
#include "vx/operation/composition.h"
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
    const Status status = WireAtLast(operation);
    if (status.ok()) continue;
    return status.WithContext(StrCat("operation ", operation.InstanceName(),
                                     " of graph ", core.name));
  }
  return OkStatus();
}

const Graph::Replacement* Find(const Factories& factories,
                               const std::string& name) {
  auto found = factories.find(name);
  if (found == factories.end()) {
    found = factories.find(name.substr(name.find('.') + 1));
  }
  return found != factories.end() ? &found->second : nullptr;
}

const std::string& OperatorOf(const OpImpl& operation) {
  const ir::OpSchema* schema = operation.Schema();
  return schema != nullptr ? schema->name : operation.name;
}

class Replacer {
 public:
  explicit Replacer(GraphCore& core)
      : core_(core),
        graph_(core.overrides.factories()),
        context_(core.context->overrides->factories()) {}

  Result<Operations> Run(const Operations& operations) {
    if (graph_.empty() && context_.empty()) return operations;
    for (const auto& operation : operations) {
      operations_[operation->impl()->uid] = operation.get();
    }
    Operations effective;
    for (const auto& operation : operations) {
      const OpImpl& impl = *operation->impl();
      TIM_ASSIGN_OR_RETURN(const bool is_part, IsPartOfReplaced(impl));
      if (is_part) continue;
      TIM_ASSIGN_OR_RETURN(const Operations* made, ReplacementOf(*operation));
      if (made->empty()) {
        effective.push_back(operation);
      } else {
        effective.insert(effective.end(), made->begin(), made->end());
      }
    }
    return effective;
  }

 private:
  const Graph::Replacement* FactoryOf(const OpImpl& operation) const {
    const std::string& name = OperatorOf(operation);
    const Graph::Replacement* factory = Find(graph_, name);
    return factory != nullptr ? factory : Find(context_, name);
  }

  /// Owners come first: what a replaced one consists of is not asked for.
  Result<bool> IsPartOfReplaced(const OpImpl& operation) {
    const auto owner = operations_.find(operation.owner);
    if (operation.owner == 0 || owner == operations_.end()) return false;
    TIM_ASSIGN_OR_RETURN(const bool is_part,
                         IsPartOfReplaced(*owner->second->impl()));
    if (is_part) return true;
    TIM_ASSIGN_OR_RETURN(const Operations* made, ReplacementOf(*owner->second));
    return !made->empty();
  }

  /// Empty: the original stays.
  Result<const Operations*> ReplacementOf(const Operation& original) {
    const auto [entry, added] = made_.try_emplace(&original);
    const Graph::Replacement* factory = FactoryOf(*original.impl());
    if (!added || factory == nullptr) return &entry->second;
    const Status status = Replace(original, *factory, &entry->second);
    if (status.ok()) return &entry->second;
    return status.WithContext(StrCat("the replacement of operation ",
                                     original.impl()->InstanceName(),
                                     " of graph ", core_.name));
  }

  static Status CheckReplacement(const Operation& made, const GraphCore& core) {
    const OpImpl& impl = *made.impl();
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

  Status Replace(const Operation& original, const Graph::Replacement& factory,
                 Operations* operations) {
    const OpImpl& replaced = *original.impl();
    Collector collector(core_);
    std::shared_ptr<Operation> made;
    TIM_RETURN_IF_ERROR(
        CallUser([&] { made = factory(core_.graph, original); }));
    if (made == nullptr) return OkStatus();
    TIM_RETURN_IF_ERROR(CheckReplacement(*made, core_));
    OpImpl& impl = *made->impl();
    impl.Join(core_.graph != nullptr ? CoreOf(core_.graph) : nullptr);
    impl.replaced = replaced.InstanceName();
    impl.owner = replaced.owner;
    made->BindInputs(replaced.inputs).BindOutputs(replaced.outputs);
    TIM_RETURN_IF_ERROR(impl.problem);
    TIM_RETURN_IF_ERROR(WireAtLast(impl));
    operations->push_back(made);
    for (auto& operation : collector.Take()) {
      if (operation != made) operations->push_back(std::move(operation));
    }
    return OkStatus();
  }

  GraphCore& core_;
  const Factories graph_;
  const Factories context_;
  std::map<uint32_t, const Operation*> operations_;  ///< By uid.
  std::map<const Operation*, Operations> made_;
};

}  // namespace

Status WireOperations(const GraphCore& core, const Operations& operations) {
  TIM_RETURN_IF_ERROR(CheckUsable(operations, core));
  return WireAll(core, operations);
}

bool IsOverridden(const Operation& operation, const Overrides& overrides) {
  return Find(overrides.factories(), OperatorOf(*operation.impl())) != nullptr;
}

Result<Operations> EffectiveOperations(GraphCore& core,
                                       const Operations& operations) {
  TIM_RETURN_IF_ERROR(WireOperations(core, operations));
  return Replacer(core).Run(operations);
}

}  // namespace tim::vx
