// The operators and devices that a graph gets of its context.
#include "vx/core/context_state.h"

#include "ops/builtin.h"

namespace tim::vx {

const ir::OpRegistry& ContextState::Operators() const {
  return options.operators != nullptr ? *options.operators
                                      : tim::ops::BuiltinOperators();
}

Result<Devices> ContextState::DevicesFor(const CompileOption& compile) const {
  const uint32_t number = compile.getDeviceId();
  if (number == 0 || options.devices_of == nullptr) return devices;
  auto chosen = options.devices_of(number);
  if (chosen.ok()) return chosen;
  return chosen.status().WithContext("CompileOption::setDeviceId()");
}

}  // namespace tim::vx
