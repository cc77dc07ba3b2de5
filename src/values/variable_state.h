// Values that change: the only thing of the front that does.
#ifndef TIM_VALUES_VARIABLE_STATE_H_
#define TIM_VALUES_VARIABLE_STATE_H_

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "values/conversion.h"
#include "values/value_state.h"

namespace tim::values::internal {

/// A value of a variable, and where it is of a run that has not ended the one
/// that it took the place of.
struct Assigned {
  std::shared_ptr<ValueState> value;
  std::shared_ptr<Assigned> before = nullptr;
  bool failed = false;
};

/// A variable: its spec, and its value now.  Any thread.
class VariableState {
 public:
  VariableState(std::shared_ptr<ValueState> initial, std::string name)
      : spec_(initial->spec()),
        name_(std::move(name)),
        status_(initial->status()) {
    Set(std::move(initial));
  }

  const TensorSpec& spec() const { return spec_; }
  const std::string& name() const { return name_; }
  /// Why it had no initial value.
  const Status& status() const { return status_; }

  std::shared_ptr<ValueState> Get() const {
    const std::lock_guard lock(mutex_);
    return last_->value;
  }
  void Set(std::shared_ptr<ValueState> value);
  /// The same of a run, which settles it when it has ended.
  std::shared_ptr<Assigned> SetBy(std::shared_ptr<ValueState> value);
  /// The run has ended: where it failed, what was there before is again, unless
  /// something else has been assigned since.
  void Settle(const std::shared_ptr<Assigned>& assigned, bool ok);

 private:
  const TensorSpec spec_;
  const std::string name_;
  mutable std::mutex mutex_;
  std::shared_ptr<Assigned> last_;
  const Status status_;
};

/// Assignments of one run, which may end before all of them are known.  Any
/// thread.
class RunAssignments {
 public:
  void Add(std::shared_ptr<VariableState> variable,
           std::shared_ptr<Assigned> assigned);
  void End(bool ok);

 private:
  std::mutex mutex_;
  bool ended_ = false;
  bool ok_ = false;
  std::vector<
      std::pair<std::shared_ptr<VariableState>, std::shared_ptr<Assigned>>>
      assigned_;
};

/// The value now: in a graph that is being captured, at this point of it.
Value ReadVariable(const std::shared_ptr<VariableState>& variable);
/// The failure where the value does not fit.
Status AssignVariable(const std::shared_ptr<VariableState>& variable,
                      const Value& value);

}  // namespace tim::values::internal

#endif  // TIM_VALUES_VARIABLE_STATE_H_
