// Tapes of this thread, and the calls that they record.
#ifndef TIM_VALUES_TAPE_STATE_H_
#define TIM_VALUES_TAPE_STATE_H_

#include <memory>
#include <vector>

#include "base/status.h"
#include "tim/values/value.h"
#include "values/node_state.h"

namespace tim::values::internal {

/// Calls in their order, with their values.
class TapeState {
 public:
  void Record(const std::shared_ptr<const NodeState>& node,
              const std::vector<Value>& inputs,
              const std::vector<Value>& outputs);
  Result<std::vector<Value>> Gradient(const Value& of,
                                      const std::vector<Value>& wrt) const;

 private:
  struct Call {
    std::shared_ptr<const NodeState> node;
    std::vector<Value> inputs;
    std::vector<Value> outputs;
  };
  friend class TapeGraph;

  std::vector<Call> calls_;
};

/// All tapes of this thread record the call, which succeeded.
void RecordOnTapes(const std::shared_ptr<const NodeState>& node,
                   const std::vector<Value>& inputs, const Outputs& outputs);

}  // namespace tim::values::internal

#endif  // TIM_VALUES_TAPE_STATE_H_
