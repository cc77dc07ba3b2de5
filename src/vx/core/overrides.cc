// Keeps the factories as they are while others read them.
#include "vx/core/overrides.h"

#include "base/fork/fork.h"

namespace tim::vx {

Status Overrides::Set(const char* operator_name, Graph::Replacement factory) {
  if (operator_name == nullptr) {
    return InvalidArgument("Override(): OpName() is null");
  }
  if (operator_name[0] == '\0') {
    return InvalidArgument("Override(): the name of the operator is empty");
  }
  Change([&](Factories* factories) {
    if (factory == nullptr) {
      factories->erase(operator_name);
    } else {
      (*factories)[operator_name] = factory;
    }
  });
  return OkStatus();
}

void Overrides::Inherit(const Overrides& other) {
  const auto inherited = other.Current();
  Change([&](Factories* factories) {
    factories->insert(inherited->begin(), inherited->end());
  });
}

Factories Overrides::factories() const { return *Current(); }

std::shared_ptr<const Factories> Overrides::Current() const {
  const std::lock_guard lock(ForkMutex());
  return factories_;
}

void Overrides::Change(const std::function<void(Factories*)>& change) {
  while (true) {
    const auto before = Current();
    auto after = std::make_shared<Factories>(*before);
    change(after.get());
    const std::lock_guard lock(ForkMutex());
    if (factories_ != before) continue;  // another thread was first
    factories_ = std::move(after);
    ++revision_;
    return;
  }
}

}  // namespace tim::vx
