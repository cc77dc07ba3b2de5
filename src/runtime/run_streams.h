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

/// Streams by device of the plan, null where the plan does not use it.
using Streams = std::vector<std::unique_ptr<device::Stream>>;

enum class Timing : uint8_t {
  kNone,
  kOffered,  ///< Timed streams of the devices that have such.
};

Result<Streams> CreateStreams(const Executable& executable, Timing timing);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_RUN_STREAMS_H_
