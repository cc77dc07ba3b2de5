// The queues of a device and of its executors.
#ifndef TIM_VX_PLATFORM_QUEUES_H_
#define TIM_VX_PLATFORM_QUEUES_H_

#include <functional>
#include <memory>
#include <vector>

#include "base/status.h"
#include "tim/vx/platform/platform.h"

namespace tim::vx::platform {

class RunQueue;

enum class Mode { kWait, kReturn };
inline Mode ModeOf(bool async) { return async ? Mode::kReturn : Mode::kWait; }

/// All queues of a device, for whoever waits for it.  Any thread.
class Queues : public std::enable_shared_from_this<Queues> {
 public:
  std::shared_ptr<RunQueue> Add();
  /// Blocks until all have done what they have now.  LastError() is then the
  /// first failure of what nobody has waited for, since the last call; or that
  /// one of the queues calls this, and would wait for itself.
  void Wait();
  /// Work that nobody waits for has failed.
  void Keep(const Status& failure);

 private:
  // Guarded by ForkMutex().
  std::vector<std::weak_ptr<RunQueue>> queues_;
  Status failure_;
};

/// Calls `callback`, which may be null, with what came of work.
void Tell(const IDevice::async_callback& callback, const Status& status);

/// `call()`, of the API: its failure, which it has logged.
template <typename Call>
Status StatusOf(const Call& call) {
  if (call()) return OkStatus();
  return FailedPrecondition(LastError());
}

}  // namespace tim::vx::platform

#endif  // TIM_VX_PLATFORM_QUEUES_H_
