// Makes a stream for each device that a plan uses.
#include "runtime/run_streams.h"

#include <cstddef>
#include <set>

namespace tim::runtime {
namespace {

Result<std::unique_ptr<device::Stream>> Create(device::Device& device,
                                               Timing timing) {
  if (timing == Timing::kOffered) {
    auto timed = device.CreateTimedStream();
    if (timed.status().code() != StatusCode::kUnimplemented) return timed;
  }
  return device.CreateStream();
}

}  // namespace

Result<Streams> CreateStreams(const Executable& executable, Timing timing) {
  const ir::Plan& plan = executable.plan();
  const size_t devices = plan.devices.size();
  std::set<size_t> used;
  for (const ir::Step& step : plan.steps) {
    used.insert(QueueOf(plan, step));
    used.insert(static_cast<size_t>(step.device));
  }
  for (const ir::Arena& arena : plan.arenas) {
    used.insert(static_cast<size_t>(arena.device));
  }
  Streams streams(devices);
  for (const size_t queue : used) {
    if (queue >= streams.size()) {
      streams.resize((queue / devices + 1) * devices);
    }
    TIM_ASSIGN_OR_RETURN(
        streams[queue],
        Create(executable.device(static_cast<int>(queue % devices)), timing));
  }
  return streams;
}

}  // namespace tim::runtime
