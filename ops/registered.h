// Operators that are registered while the process runs, beside the built-in
// ones.
#ifndef TIM_OPS_REGISTERED_H_
#define TIM_OPS_REGISTERED_H_

#include <functional>
#include <string>

#include "ir/op_registry.h"

namespace tim::ops {

/// The built-in operators, those that were registered so far, and those on top.
/// What it has returned stays as it is until the process ends.  Any thread.
const ir::OpRegistry& KnownOperators();

/// Makes the operators that `add` adds known to KnownOperators() from now on.
/// Any thread.
/// \param name "demo.FancyNorm", of all its versions.
/// \param add is kept, and called for each registry that is made: it adds the
///     same every time.  No key or name that it adds was added before.
void RegisterOperators(const std::string& name,
                       const std::function<void(ir::OpRegistry&)>& add);

/// Makes what `add` adds known from now on, over all others and in place of
/// what this function was given before; null: nothing.  Any thread. \param add
/// is kept until the next call, and called for each registry that is
///     made.
void SetTopOperators(std::function<void(ir::OpRegistry&)> add);

}  // namespace tim::ops

#endif  // TIM_OPS_REGISTERED_H_
