// Values that change: the only thing of the front that does.
#ifndef TIM_VALUES_VARIABLE_STATE_H_
#define TIM_VALUES_VARIABLE_STATE_H_

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/status.h"
#include "values/conversion.h"
#include "values/value_state.h"

namespace tim::values::internal {

/// A variable: its spec, and its value now.  Any thread.
class VariableState {
 public:
  VariableState(std::shared_ptr<ValueState> initial, std::string name)
      : spec_(initial->spec()),
        name_(std::move(name)),
        value_(std::move(initial)) {}

  const TensorSpec& spec() const { return spec_; }
  const std::string& name() const { return name_; }

  std::shared_ptr<ValueState> Get() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }
  void Set(std::shared_ptr<ValueState> value) {
    const std::lock_guard lock(mutex_);
    value_.swap(value);
  }
  /// Puts `back` in the place of `value`, if that is still there.
  void Restore(const std::shared_ptr<ValueState>& value,
               std::shared_ptr<ValueState> back) {
    const std::lock_guard lock(mutex_);
    if (value_ == value) value_.swap(back);
  }

 private:
  const TensorSpec spec_;
  const std::string name_;
  mutable std::mutex mutex_;
  std::shared_ptr<ValueState> value_;
};

/// The value now: in a graph that is being captured, at this point of it.
Value ReadVariable(const std::shared_ptr<VariableState>& variable);
/// The failure where the value does not fit.
Status AssignVariable(const std::shared_ptr<VariableState>& variable,
                      const Value& value);

}  // namespace tim::values::internal

#endif  // TIM_VALUES_VARIABLE_STATE_H_
