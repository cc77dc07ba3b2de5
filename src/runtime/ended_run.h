// The event of a run that was made at once.
#ifndef TIM_RUNTIME_ENDED_RUN_H_
#define TIM_RUNTIME_ENDED_RUN_H_

#include <utility>

#include "base/status.h"
#include "runtime/run_event.h"

namespace tim::runtime {

class EndedRun final : public RunEvent {
 public:
  explicit EndedRun(Status status) : status_(std::move(status)) {}
  Status Wait() override { return status_; }
  bool Ready() override { return true; }
  void Then(Call call) override { call(status_); }

 private:
  const Status status_;
};

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_ENDED_RUN_H_
