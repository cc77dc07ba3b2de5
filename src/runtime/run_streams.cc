// Makes a stream for each device that a plan uses.
#include "runtime/run_streams.h"

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
  std::set<int> used;
  for (const ir::Step& step : plan.steps) used.insert(step.device);
  for (const ir::Arena& arena : plan.arenas) used.insert(arena.device);
  Streams streams(plan.devices.size());
  for (const int device : used) {
    TIM_ASSIGN_OR_RETURN(streams[device],
                         Create(executable.device(device), timing));
  }
  return streams;
}

}  // namespace tim::runtime
