// A run of a graph that does not block its caller; an addition to TIM-VX.
#ifndef TIM_VX_RUN_EVENT_H_
#define TIM_VX_RUN_EVENT_H_

#include <functional>
#include <memory>
#include <string>

#include "tim/vx/export.h"

namespace tim {
namespace vx {

/// What Graph::RunAsync() returns: one run.  Copies mean the same run.  Any
/// thread; it may outlive the graph, and may be dropped: the run goes on.
class TIM_VX_API RunEvent {
 public:
  /// Called with null where all went well, else with the reason, which is valid
  /// during the call.
  using Callback = std::function<void(const char* error)>;

  class Impl;
  /// Stands for no run: Wait() fails.
  RunEvent();
  explicit RunEvent(std::shared_ptr<Impl> impl);
  RunEvent(const RunEvent& other);
  RunEvent& operator=(const RunEvent& other);
  ~RunEvent();

  /// There is a run: RunAsync() has not failed.
  explicit operator bool() const { return impl_ != nullptr; }

  /// Blocks until the outputs are complete, and the memory is the caller's
  /// again.  False with LastError() where the run has failed; the same at every
  /// call.
  bool Wait() const;
  /// Whether Wait() would return at once.  Never blocks.
  bool Ready() const;
  /// Calls `callback` once the run has ended, exactly once: at once, on this
  /// thread, where it has ended already, else on a thread of the library, which
  /// makes the calls of all runs of a graph one after the other.  It may start
  /// runs, wait for them and destroy anything.
  void Then(Callback callback) const;
  /// Why the run has failed; empty while it has not ended, and where it has
  /// succeeded.
  std::string ErrorMessage() const;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_RUN_EVENT_H_
