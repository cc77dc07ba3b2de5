// Threads that are in the middle of a run.
#ifndef TIM_RUNTIME_INSIDE_RUN_H_
#define TIM_RUNTIME_INSIDE_RUN_H_

#include "runtime/run_event.h"

namespace tim::runtime {

/// Whether this thread does a step of the run, which ends only after that:
/// whoever waits for it here waits for ever.
bool IsInside(const RunEvent& run);

/// Steps of a run, done by this thread while it lives.
class InsideRun {
 public:
  explicit InsideRun(const RunEvent& run);
  ~InsideRun();
  InsideRun(const InsideRun&) = delete;
  InsideRun& operator=(const InsideRun&) = delete;

 private:
  friend bool IsInside(const RunEvent& run);

  const RunEvent* const run_;
  const InsideRun* const outer_;
};

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_INSIDE_RUN_H_
