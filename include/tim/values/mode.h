// Modes of calls, at once or recorded, and what flushes of records decided.
#ifndef TIM_VALUES_MODE_H_
#define TIM_VALUES_MODE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tim/export.h"
#include "tim/values/device.h"
#include "tim/values/event.h"
#include "tim/values/value.h"

namespace tim {
namespace values {

namespace internal {
struct ModeState;
}  // namespace internal

enum class Mode : uint8_t {
  kEager,  ///< Calls run at once.
  kLazy,   ///< Calls are recorded, and run when a value is asked for.
};

/// The mode, and the device, of calls of this thread while it lives.  Scopes
/// nest; the end of one flushes nothing.
class TIM_API ModeScope {
 public:
  explicit ModeScope(Mode mode);
  ModeScope(Mode mode, const Device& device);
  ~ModeScope();
  ModeScope(const ModeScope&) = delete;
  ModeScope& operator=(const ModeScope&) = delete;

 private:
  std::unique_ptr<internal::ModeState> outer_;
};

Mode TIM_API CurrentMode();

/// Runs the recorded calls that the values are computed from.
TIM_API Event Flush(const std::vector<Value>& values);
/// Runs all recorded calls of this thread whose results are still held.
TIM_API Event FlushAll();

/// Limits of lazy mode in this process.  A call after which more nodes
/// or bytes are pending flushes all of them.
struct LazyOptions {
  int max_pending_nodes = 10000;
  int64_t max_pending_bytes = int64_t(1) << 30;
  /// Times that a structure runs node by node before it is compiled as one
  /// plan; 0: compiled at once; -1: never compiled.
  int compile_after = 2;
  int max_plans = 256;
};
/// False, and no change, where a number is negative that may not be.
TIM_API bool SetLazyOptions(const LazyOptions& options);

struct CacheStats {
  int64_t hits = 0;
  int64_t misses = 0;
  int64_t plans = 0;
  int64_t evictions = 0;
  /// Programs that the process built from source for this front.
  int64_t program_builds = 0;
  double compile_ms = 0;
};
TIM_API CacheStats EagerStats();
TIM_API CacheStats LazyStats();

/// The last flushes of this thread, each with its cause and whether its
/// structure was known, and the last calls that ran on the host because no
/// kernel took them.
TIM_API std::string Explain();

}  // namespace values
}  // namespace tim

#endif  // TIM_VALUES_MODE_H_
