// Operators of a context, with those that were registered meanwhile.
#ifndef TIM_VX_CORE_KNOWN_OPERATORS_H_
#define TIM_VX_CORE_KNOWN_OPERATORS_H_

#include "ir/op_registry.h"
#include "vx/core/context_state.h"

namespace tim::vx {

/// ContextState::Operators(); where those are the built-in ones, with all that
/// were registered so far.  It stays as it is while the context's graphs live.
const ir::OpRegistry& KnownOperators(const ContextState& context);

}  // namespace tim::vx

#endif  // TIM_VX_CORE_KNOWN_OPERATORS_H_
