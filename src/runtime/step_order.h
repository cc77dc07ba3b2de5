// Which events a run records, and what it waits for.
#ifndef TIM_RUNTIME_STEP_ORDER_H_
#define TIM_RUNTIME_STEP_ORDER_H_

#include <memory>
#include <span>
#include <vector>

#include "device/device.h"
#include "ir/plan.h"

namespace tim::runtime {

struct StepOrder {
  /// Earlier steps whose event the step's stream waits for (same domain).
  std::vector<int> stream_waits;
  /// Earlier steps whose event the host waits for before it enqueues.
  std::vector<int> host_waits;
  /// A step of another queue waits for this one.
  bool record = false;
};

/// One per step.  Waits within a queue need nothing: streams are in order.
std::vector<StepOrder> OrderSteps(
    const ir::Plan& plan,
    std::span<const std::shared_ptr<device::Device>> devices);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_STEP_ORDER_H_
