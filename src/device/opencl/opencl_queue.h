// An in-order queue of commands that knows when they are done.
#ifndef TIM_DEVICE_OPENCL_OPENCL_QUEUE_H_
#define TIM_DEVICE_OPENCL_OPENCL_QUEUE_H_

#include <cstdint>
#include <utility>

#include "base/status.h"
#include "device/opencl/cl_api.h"

namespace tim::device {

/// Nothing blocks.  What returns cl_int returns OpenCL's own code.
class OpenClQueue {
 public:
  /// `keeps_events`: every command gets an event, so that Mark() needs no
  /// command of its own.  On a CPU a command wakes threads, which takes longer
  /// than many a kernel.
  static Result<OpenClQueue> Create(const cl::Context& context,
                                    const cl::Device& device,
                                    bool keeps_events);

  cl_int Launch(const cl::Kernel& kernel, const cl::NDRange& global,
                const cl::NDRange& local);
  /// `memory` must stay as it is until the command is done.
  cl_int Write(const cl::Buffer& buffer, int64_t offset, int64_t bytes,
               const void* memory);
  cl_int Read(const cl::Buffer& buffer, int64_t offset, int64_t bytes,
              void* memory);
  cl_int Copy(const cl::Buffer& source, int64_t source_offset,
              const cl::Buffer& destination, int64_t destination_offset,
              int64_t bytes);
  template <typename Pattern>
  cl_int Fill(const cl::Buffer& buffer, const Pattern& pattern, int64_t bytes) {
    return commands_.enqueueFillBuffer(buffer, pattern, 0, Size(bytes), nullptr,
                                       last());
  }
  /// Of imported memory: the host has written, or will read.
  cl_int MapAndUnmap(const cl::Buffer& buffer, int64_t bytes,
                     cl_map_flags flags);
  cl_int WaitFor(const cl::Event& event);

  /// Whatever enqueues by itself: enqueue(cl_command_queue, cl_event*), where
  /// the event of its last command goes unless it is null.
  template <typename Function>
  auto Call(const Function& enqueue) {
    cl_event done = nullptr;
    const auto code = enqueue(commands_(), keeps_events_ ? &done : nullptr);
    last_ = cl::Event(done);  // none after a failure: Mark() then enqueues
    return code;
  }

  /// Sets `event` to one that is complete when all commands so far are, and
  /// submits them.  After a failure nothing is left to wait for.
  Status Mark(cl::Event* event);

 private:
  OpenClQueue(cl::CommandQueue commands, bool keeps_events)
      : commands_(std::move(commands)), keeps_events_(keeps_events) {}

  static size_t Size(int64_t bytes) { return static_cast<size_t>(bytes); }
  cl::Event* last() { return keeps_events_ ? &last_ : nullptr; }

  cl::CommandQueue commands_;
  bool keeps_events_ = false;
  cl::Event last_;  // of the last command since Mark()
};

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_OPENCL_QUEUE_H_
