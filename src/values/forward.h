// Calls of operators: at once, recorded, or as a part of a graph.
#ifndef TIM_VALUES_FORWARD_H_
#define TIM_VALUES_FORWARD_H_

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "tim/values/node.h"
#include "values/device_state.h"
#include "values/node_state.h"
#include "values/value_state.h"

namespace tim::values::internal {

struct OutputsState {
  Status status;
  std::vector<Value> values = {};
  Token signal = {};
};

Outputs FailedOutputs(const Status& status);
Outputs MakeOutputs(std::vector<Value> values);

Outputs Forward(const std::shared_ptr<const NodeState>& node,
                const std::vector<Value>& inputs,
                const std::vector<Token>& after);

/// Forces the operands, and runs the node on the device for them.
Outputs ForwardNow(const NodeState& node,
                   const std::vector<std::shared_ptr<ValueState>>& inputs,
                   const std::vector<Token>& after);

/// Enqueues the node on `device`.  Operands have bytes, or are null: absent.
Result<std::vector<std::shared_ptr<ValueState>>> RunNow(
    const NodeState& node,
    const std::vector<std::shared_ptr<ValueState>>& inputs,
    const DeviceState& device);
/// The device for these operands, null ones absent: that of the thread's
/// scope, else theirs, else the default one.
Result<std::shared_ptr<DeviceState>> DeviceFor(
    const std::vector<std::shared_ptr<ValueState>>& inputs);

}  // namespace tim::values::internal

#endif  // TIM_VALUES_FORWARD_H_
