// Plans of a program while a thread makes them, and who may wait for that.
#ifndef TIM_VALUES_PLAN_MAKING_H_
#define TIM_VALUES_PLAN_MAKING_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/status.h"
#include "values/program_plan.h"

namespace tim::values::internal {

/// A plan that a thread makes, and then the plan.  Any thread.
class PlanMaking {
 public:
  using Plan = Result<std::shared_ptr<ProgramPlan>>;

  /// \param first the making that this one does not wait for; or null.
  explicit PlanMaking(std::shared_ptr<const PlanMaking> first = nullptr)
      : first_(std::move(first)) {}

  /// Makes the plan on this thread.  Called once.
  void Make(const std::function<Plan()>& make);
  bool ready() const;
  /// The plan, which must be ready.
  const Plan& plan() const;
  /// It serves runs.
  bool serves() const { return ready() && plan().ok(); }
  /// Whether this thread makes it, or another one in its place.
  bool IsMadeHere() const;
  /// Blocks until it is ready, or the thread that makes it calls a function of
  /// the application, which may itself wait for this thread; whether it is
  /// ready.
  bool Wait() const;

 private:
  friend class FunctionCall;

  const std::shared_ptr<const PlanMaking> first_;
  PlanMaking* outer_ = nullptr;  // of the thread that makes it
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  int calls_ = 0;  // of functions, which its thread is in
  std::optional<Plan> plan_;
};

/// A call of an application's function, on this thread while this lives.
class FunctionCall {
 public:
  FunctionCall() { Count(1); }
  ~FunctionCall() { Count(-1); }
  FunctionCall(const FunctionCall&) = delete;
  FunctionCall& operator=(const FunctionCall&) = delete;

 private:
  static void Count(int more);
};

}  // namespace tim::values::internal

#endif  // TIM_VALUES_PLAN_MAKING_H_
