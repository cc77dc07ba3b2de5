// Threads of a CPU device that stay awake for the next run.
//
// PoCL's threads sleep when they find no command.  To wake one takes 10 to 30
// us where an idle processor is halted, as that of a virtual machine is: as
// long as many a small network.  So native kernels follow a chain: a thread
// that has done its part of the chain takes one of them, which yields the
// processor until something is enqueued.  The host yields likewise while a
// chain runs that is expected to be short.
#ifndef TIM_DEVICE_OPENCL_STANDBY_H_
#define TIM_DEVICE_OPENCL_STANDBY_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "device/opencl/cl_api.h"

namespace tim::device {

/// Of one command queue.  Chain() to Follow(): one thread at a time; Wait():
/// any thread.
class Standby {
 public:
  using Duration = std::chrono::steady_clock::duration;

  /// Of a device that works in host memory (see host_memory.h).  `limit`: how
  /// long a thread waits, and how long a run may take for the host not to
  /// sleep.  Null where the device refuses.
  static std::shared_ptr<Standby> Create(const cl::CommandQueue& commands,
                                         Duration limit);

  /// Waits until `commands` are done and no thread waits.
  ~Standby();

  /// An int that chains count in: how many of their workers have begun.
  const cl::Buffer& begun() const { return begun_buffer_; }

  /// To be called after every command: threads that wait come back.
  void Ring();
  /// After Ring(), where the command was a chain of that many workers.
  void Chained(int workers);
  /// Nothing more is enqueued before somebody waits.  Where a chain was the
  /// only command since the last call, the threads that it leaves wait, and
  /// Wait() may be used.
  bool Follow();

  /// Blocks until `event`, that of the chain, is complete; what
  /// cl::Event::wait() returns.
  int Wait(const cl::Event& event);

 private:
  Standby(const cl::CommandQueue& commands, Duration limit)
      : commands_(commands), limit_(limit) {}

  // Workers of chains so far that have not begun.
  uint32_t Missing() const;
  void Poll(const cl::Event& event,
            std::chrono::steady_clock::time_point start) const;

  const cl::CommandQueue commands_;
  const Duration limit_;
  cl::CommandQueue waits_;  // out of order: several threads wait at a time
  cl::Buffer begun_buffer_;
  // A cache line of its own.
  alignas(128) std::array<uint32_t, 32> begun_ = {};
  uint32_t launched_ = 0;   // workers of all chains so far
  uint32_t workers_ = 0;    // of the last chain
  int commands_since_ = 0;  // Follow()
  bool last_is_chain_ = false;
  std::atomic<bool> brief_ = true;  // the last run took no longer than limit_
};

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_STANDBY_H_
