// An in-order queue of commands that knows when they are done.
#ifndef TIM_DEVICE_OPENCL_DRIVER_OPENCL_QUEUE_H_
#define TIM_DEVICE_OPENCL_DRIVER_OPENCL_QUEUE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/status.h"
#include "device/opencl/driver/cl_api.h"
#include "device/opencl/driver/host_memory.h"
#include "device/opencl/driver/standby.h"

namespace tim::device {

/// When all commands up to some are done.
struct QueueFence {
  cl::Event event;
  /// The first command since the fence before; timed queues set it.
  cl::Event first;
  std::shared_ptr<Standby> standby;  ///< Or null.
  Standby::Fence fence;

  /// Whether they are done, or one has failed.
  bool Ready() const { return IsComplete(event); }
  /// Blocks until then; OpenCL's code.
  int Wait() const {
    return standby ? standby->Wait(event, fence) : event.wait();
  }
};

/// What makes commands cheaper.
struct QueueTraits {
  /// Every command gets an event, so that SetFence() needs no command of its
  /// own. On a CPU a command wakes threads, which takes longer than many a
  /// kernel.
  bool keeps_events = false;
  /// With `keeps_events`: how long threads wait for the next run before they
  /// sleep; 0 where they need no such help.
  std::chrono::microseconds standby = {};
  /// The driver keeps the times of commands, for which they have events.
  bool timed = false;
};

/// Nothing blocks but Mapping::kBlocking and, where threads wait for the next
/// run, the destructor. What returns cl_int returns OpenCL's own code.
class OpenClQueue {
 public:
  static Result<OpenClQueue> Create(const cl::Context& context,
                                    const cl::Device& device,
                                    const QueueTraits& traits);

  cl_int Launch(const cl::Kernel& kernel, const cl::NDRange& global,
                const cl::NDRange& local);
  /// A kernel of kernels/chain.cl; `begun`: the index of that parameter.
  cl_int LaunchChain(cl::Kernel& kernel, int begun, int workers);
  /// `memory` must stay as it is until the command is done.
  cl_int Write(const cl::Buffer& buffer, int64_t offset, int64_t bytes,
               const void* memory);
  cl_int Read(const cl::Buffer& buffer, int64_t offset, int64_t bytes,
              void* memory);
  cl_int Copy(const cl::Buffer& source, int64_t source_offset,
              const cl::Buffer& destination, int64_t destination_offset,
              int64_t bytes);
  template <typename Pattern>
  cl_int Fill(const cl::Buffer& buffer, const Pattern& pattern, int64_t offset,
              int64_t bytes) {
    return Enqueued(commands_.enqueueFillBuffer(buffer, pattern, Size(offset),
                                                Size(bytes), nullptr, last()));
  }
  /// Of imported memory: the host has written, or will read.
  Status MapAndUnmap(const cl::Buffer& buffer, int64_t bytes,
                     cl_map_flags flags, Mapping mapping);
  cl_int WaitFor(const cl::Event& event);
  cl::Device device() const { return commands_.getInfo<CL_QUEUE_DEVICE>(); }

  /// Whatever enqueues by itself: enqueue(cl_command_queue, cl_event*), where
  /// the event of its last command goes unless it is null.
  template <typename Function>
  auto Call(const Function& enqueue) {
    cl_event done = nullptr;
    if (timed_) MarkFirst();
    const auto code = enqueue(commands_(), keeps_events_ ? &done : nullptr);
    last_ = cl::Event(done);  // none after a failure: SetFence() then enqueues
    Enqueued(CL_SUCCESS);
    return code;
  }

  /// Sets `fence` to when all commands so far are done, and submits them.
  /// After a failure nothing is left to wait for.
  Status SetFence(QueueFence* fence);

 private:
  OpenClQueue(cl::CommandQueue commands, const QueueTraits& traits)
      : commands_(std::move(commands)),
        timed_(traits.timed),
        keeps_events_(traits.keeps_events || traits.timed) {}

  // Passes the code of every command.
  cl_int Enqueued(cl_int code) {
    if (standby_ != nullptr) standby_->Ring();
    return code;
  }

  static size_t Size(int64_t bytes) { return static_cast<size_t>(bytes); }
  // The place of the next command's event.
  cl::Event* last() {
    if (timed_ && first_() == nullptr) first_ = last_;
    return keeps_events_ ? &last_ : nullptr;
  }
  // Commands follow of which only the last has an event.
  void MarkFirst();

  cl::CommandQueue commands_;
  bool timed_ = false;
  bool keeps_events_ = false;
  cl::Event last_;   // of the last command since SetFence()
  cl::Event first_;  // where timed, of the first one once there are two
  std::shared_ptr<Standby> standby_;  // or null
};

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_DRIVER_OPENCL_QUEUE_H_
