// All built-in operators.
#ifndef TIM_OPS_BUILTIN_H_
#define TIM_OPS_BUILTIN_H_

#include "ir/op_registry.h"

namespace tim::ops {

/// Made at first use; any thread.
const ir::OpRegistry& BuiltinOperators();

/// Calls every Register_<stem>; the build generates its body from the list of
/// ops/*.cc.
void RegisterAllOperators(ir::OpRegistry& registry);

}  // namespace tim::ops

#endif  // TIM_OPS_BUILTIN_H_
