// The streams of one run.
#ifndef TIM_RUNTIME_RUN_STREAMS_H_
#define TIM_RUNTIME_RUN_STREAMS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "runtime/executable.h"

namespace tim::runtime {

/// Streams by QueueOf(): those of stream 0 are the first, a device's index is
/// the index of its first one.  Null where the plan does not use it.
using Streams = std::vector<std::unique_ptr<device::Stream>>;

/// The index of a step's stream in Streams.
inline size_t QueueOf(const ir::Plan& plan, const ir::Step& step) {
  return static_cast<size_t>(step.stream) * plan.devices.size() +
         static_cast<size_t>(step.device);
}

enum class Timing : uint8_t {
  kNone,
  kOffered,  ///< Timed streams of the devices that have such.
};

Result<Streams> CreateStreams(const Executable& executable, Timing timing);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_RUN_STREAMS_H_
