// Adds registered operators to those of contexts.
#include "vx/core/known_operators.h"

#include "ops/registered.h"

namespace tim::vx {

const ir::OpRegistry& KnownOperators(const ContextState& context) {
  return context.options.operators != nullptr ? *context.options.operators
                                              : tim::ops::KnownOperators();
}

}  // namespace tim::vx
