// Threads of a CPU device that stay awake for the next run.
//
// PoCL's threads sleep when they find no command.  To wake one takes 10 to 30
// us where an idle processor is halted, as that of a virtual machine is: as
// long as many a small network.  So native kernels follow a chain: a thread
// that has done its part of the chain takes one of them, which yields the
// processor until something is enqueued.  The host yields likewise while a
// chain runs that is expected to be short.
#ifndef TIM_DEVICE_OPENCL_DRIVER_STANDBY_H_
#define TIM_DEVICE_OPENCL_DRIVER_STANDBY_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "device/opencl/driver/cl_api.h"

namespace tim::device {

/// Whether the command is done or has failed, of which wait() tells.
bool IsComplete(const cl::Event& event);

/// Of one in-order queue.  Wait(): any thread; the rest: one thread at a time.
class Standby {
 public:
  using Duration = std::chrono::steady_clock::duration;

  /// What Wait() needs to know of a SetFence().
  struct Fence {
    uint32_t enqueued = 0;  ///< Commands so far.
    /// Whether threads follow; then also the workers of all chains so far.
    bool followed = false;
    uint32_t launched = 0;
  };

  /// Whether native kernels run on threads of the device; there are devices
  /// that run them on the host's.
  static bool HasThreads(const cl::Context& context, const cl::Device& device);

  /// Of a device that has threads and works in host memory (see host_memory.h).
  /// `limit`: how long threads wait, and how long a run may take for the host
  /// not to sleep.
  Standby(const cl::CommandQueue& commands, Duration limit)
      : commands_(commands), limit_(limit) {}

  /// Blocks until all commands are done and no thread waits.
  ~Standby();

  /// An int that chains count in: how many of their workers have begun.  Null
  /// where the device refuses what is needed; threads then sleep.
  cl_mem Begun();

  /// To be called after every command: threads that wait come back.
  void Ring();
  /// After Ring(), where the command was a chain of that many workers.
  void Chained(int workers);
  /// Where a chain is all that devices of this process have to do, the threads
  /// that it leaves wait.
  Fence SetFence();

  /// Blocks until `event`, that of the last command before SetFence(), is
  /// complete; what cl::Event::wait() returns.
  int Wait(const cl::Event& event, const Fence& fence);

 private:
  int Prepare();
  void Follow();
  void Poll(const cl::Event& event, uint32_t launched,
            std::chrono::steady_clock::time_point start) const;
  void Done(uint32_t enqueued);

  const cl::CommandQueue commands_;
  const Duration limit_;
  bool prepared_ = false;
  cl::CommandQueue waits_;  // out of order: several threads wait at a time
  cl::Buffer begun_buffer_;
  // A cache line of its own.
  alignas(128) std::array<uint32_t, 32> begun_ = {};
  std::atomic<uint32_t> expired_ = 0;  // the last of rung_ that was in vain

  uint32_t enqueued_ = 0;  // commands so far
  uint32_t rung_ = 0;      // commands of all queues, when the last came
  uint32_t launched_ = 0;  // workers of all chains so far
  uint32_t workers_ = 0;   // of the last chain
  bool last_is_chain_ = false;

  std::atomic<uint32_t> done_ = 0;  // commands that somebody has waited for
  std::atomic<bool> brief_ = true;  // the last run took no longer than limit_
};

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_DRIVER_STANDBY_H_
