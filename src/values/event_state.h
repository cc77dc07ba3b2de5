// The state behind an Event.
#ifndef TIM_VALUES_EVENT_STATE_H_
#define TIM_VALUES_EVENT_STATE_H_

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/status.h"
#include "runtime/work_stream.h"
#include "tim/values/event.h"

namespace tim::values::internal {

/// Work that has to end: several pieces of it, or a failure.  Any thread.
class EventState {
 public:
  EventState(Status status, std::vector<runtime::Completion> work)
      : status_(std::move(status)), work_(std::move(work)) {}

  Status Wait() const;
  bool Ready() const;

 private:
  const Status status_;
  const std::vector<runtime::Completion> work_;
};

Event MakeEvent(Status status, std::vector<runtime::Completion> work);

/// Makes the call on a thread of the library; on the caller's where no thread
/// can be had.
void CallLater(std::function<void()> call);

}  // namespace tim::values::internal

#endif  // TIM_VALUES_EVENT_STATE_H_
