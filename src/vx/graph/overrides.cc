#include "vx/graph/overrides.h"

namespace tim::vx {

Status Overrides::Set(const char* operator_name, Graph::Replacement factory) {
  if (operator_name == nullptr) {
    return InvalidArgument("Override(): OpName() is null");
  }
  if (operator_name[0] == '\0') {
    return InvalidArgument("Override(): the name of the operator is empty");
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  ++revision_;
  if (factory == nullptr) {
    factories_.erase(operator_name);
  } else {
    factories_[operator_name] = std::move(factory);
  }
  return OkStatus();
}

void Overrides::Inherit(const Overrides& other) {
  Factories inherited = other.factories();
  const std::lock_guard<std::mutex> lock(mutex_);
  ++revision_;
  factories_.merge(inherited);
}

Factories Overrides::factories() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return factories_;
}

uint64_t Overrides::revision() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return revision_;
}

}  // namespace tim::vx
