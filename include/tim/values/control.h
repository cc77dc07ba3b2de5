// Decisions and loops that depend on data.
#ifndef TIM_VALUES_CONTROL_H_
#define TIM_VALUES_CONTROL_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "tim/export.h"
#include "tim/values/node.h"
#include "tim/values/value.h"

namespace tim {
namespace values {

/// Results of `then_part` on `inputs` where the one element of `condition` is
/// not 0, else those of `else_part`.
TIM_API Outputs If(const Value& condition, const std::vector<Value>& inputs,
                   const Function& then_part, const Function& else_part);

/// The last state of a loop that begins with `state`: each trip replaces the
/// state by `body` of it, as long as the one element of `condition` of it is
/// not 0, and `max_trips` times at most; -1: no limit.
TIM_API Outputs
While(const std::vector<Value>& state,
      const std::function<Value(const std::vector<Value>&)>& condition,
      const Function& body, int64_t max_trips = -1);

}  // namespace values
}  // namespace tim

#endif  // TIM_VALUES_CONTROL_H_
