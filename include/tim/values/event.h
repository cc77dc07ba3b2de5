// Events of the work that computes values.
#ifndef TIM_VALUES_EVENT_H_
#define TIM_VALUES_EVENT_H_

#include <functional>
#include <memory>
#include <string>

#include "tim/export.h"
#include "tim/values/types.h"

namespace tim {
namespace values {

namespace internal {
class EventState;
}  // namespace internal

/// The end of work.  An event may be dropped at any time: the work goes on.
/// Any thread.
class TIM_API Event {
 public:
  /// An event that has ended with success.
  Event() = default;
  /// Blocks until the work has ended; whether it succeeded.
  bool Wait() const;
  /// True where Wait() would return at once.
  bool Ready() const;
  /// Why the work failed, waits for it; empty where it did not.
  std::string error() const;
  /// Calls `call` once the work has ended, exactly once, with whether it
  /// succeeded, on a thread of the library.
  void Then(std::function<void(bool ok)> call) const;

 private:
  friend struct internal::Access;
  std::shared_ptr<internal::EventState> state_;
};

}  // namespace values
}  // namespace tim

#endif  // TIM_VALUES_EVENT_H_
