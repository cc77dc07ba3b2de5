// Decisions and loops as nodes of graphs.
#ifndef TIM_VALUES_CONTROL_GRAPHS_H_
#define TIM_VALUES_CONTROL_GRAPHS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "base/status.h"
#include "tim/values/node.h"
#include "tim/values/value.h"

namespace tim::values::internal {

/// Whether the element of the condition is not 0; waits for it.
Result<bool> IsTrue(const Value& condition);

/// Records tim.If, whose graphs the parts become.
Result<std::vector<Value>> RecordIf(const Value& condition,
                                    const std::vector<Value>& inputs,
                                    const Function& then_part,
                                    const Function& else_part);
/// Records tim.While; values from outside that its graphs use join the state.
Result<std::vector<Value>> RecordWhile(
    const std::vector<Value>& state,
    const std::function<Value(const std::vector<Value>&)>& condition,
    const Function& body, int64_t max_trips);

}  // namespace tim::values::internal

#endif  // TIM_VALUES_CONTROL_GRAPHS_H_
