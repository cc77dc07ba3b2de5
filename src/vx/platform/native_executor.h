#ifndef TIM_VX_PLATFORM_NATIVE_EXECUTOR_H_
#define TIM_VX_PLATFORM_NATIVE_EXECUTOR_H_

#include <memory>

#include "base/status.h"
#include "tim/vx/platform/native.h"
#include "vx/binary/local_binary.h"
#include "vx/graph/context_impl.h"
#include "vx/platform/run_queue.h"

namespace tim::vx::platform {

class NativeExecutor::Impl {
 public:
  Status problem;  ///< Not ok: the executor could not be made.
  /// Of its graphs: the context's, on the executor's cores.
  std::shared_ptr<const ContextState> context;
  std::shared_ptr<RunQueue> queue;
};

/// An executor of this library that could be made; its failure otherwise.
Result<NativeExecutor*> AsNative(const std::shared_ptr<IExecutor>& executor);

/// What `binary` is, for an executor; one without a graph after a failure.
std::shared_ptr<NativeExecutable> ExecutableOf(
    const std::shared_ptr<IExecutor>& executor, LocalBinary binary);

/// A run of `executable`, which it keeps.
QueuedRun QueuedRunOf(const std::shared_ptr<NativeExecutable>& executable);

/// Runs `executable`, which may be null, behind what the executor was triggered
/// to do.
bool RunBehindQueue(const std::shared_ptr<IExecutor>& executor,
                    const std::shared_ptr<IExecutable>& executable);

/// executor->Submit(executable, ref, after), where neither is null.
bool SubmitTo(const std::shared_ptr<IExecutor>& executor,
              const std::shared_ptr<IExecutable>& executable,
              const std::shared_ptr<IExecutable>& ref, bool after);

/// Returns when the executor has done what it was triggered to do.
void WaitForQueue(const std::shared_ptr<IExecutor>& executor);

}  // namespace tim::vx::platform

#endif  // TIM_VX_PLATFORM_NATIVE_EXECUTOR_H_
