// Scopes of modes, and the counts of what they do.
#include "tim/values/mode.h"

#include <utility>

#include "values/access.h"
#include "values/device_state.h"
#include "values/mode_state.h"

namespace tim::values {
namespace {

internal::ModeState& Current() {
  thread_local internal::ModeState state;
  return state;
}

}  // namespace

namespace internal {

std::shared_ptr<DeviceState> CurrentDevice() { return Current().device; }

}  // namespace internal

ModeScope::ModeScope(Mode mode) : outer_(new internal::ModeState(Current())) {
  Current().mode = mode;
}

ModeScope::ModeScope(Mode mode, const Device& device) : ModeScope(mode) {
  Current().device = internal::Access::StateOf(device);
}

ModeScope::~ModeScope() { Current() = std::move(*outer_); }

Mode CurrentMode() { return Current().mode; }

CacheStats EagerStats() {
  const runtime::NodeRunnerStats counted = internal::RunnerStats();
  CacheStats stats;
  stats.hits = counted.hits;
  stats.misses = counted.misses;
  stats.plans = counted.kept;
  stats.evictions = counted.evictions;
  stats.program_builds = internal::ProgramBuilds();
  stats.compile_ms = counted.compile_ms;
  return stats;
}

}  // namespace tim::values
