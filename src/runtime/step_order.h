// Which events a run records, and what it waits for.
#ifndef TIM_RUNTIME_STEP_ORDER_H_
#define TIM_RUNTIME_STEP_ORDER_H_

#include <vector>

#include "runtime/executable.h"

namespace tim::runtime {

struct StepOrder {
  /// Earlier steps whose event the step's stream waits for (same domain).
  std::vector<int> stream_waits;
  /// Earlier steps whose event the host waits for before it enqueues.
  std::vector<int> host_waits;
  /// A step of another device waits for this one.
  bool record = false;
};

/// One per step.  Waits within a device need nothing: streams are in order.
std::vector<StepOrder> OrderSteps(const Executable& executable);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_STEP_ORDER_H_
