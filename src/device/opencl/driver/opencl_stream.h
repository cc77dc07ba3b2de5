// An in-order command queue.
#ifndef TIM_DEVICE_OPENCL_DRIVER_OPENCL_STREAM_H_
#define TIM_DEVICE_OPENCL_DRIVER_OPENCL_STREAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "device/device.h"
#include "device/opencl/driver/cl_api.h"
#include "device/opencl/driver/host_memory.h"
#include "device/opencl/driver/opencl_queue.h"

namespace tim::device {

class OpenClEvent final : public Event {
 public:
  Status Wait() override;
  bool Ready() override { return fence_.Ready(); }
  std::optional<int64_t> DeviceTime() override;
  QueueFence& fence() { return fence_; }

 private:
  QueueFence fence_;
};

/// What a device makes cheaper than OpenCL in general.
struct StreamTraits {
  QueueTraits queue;
  bool works_in_host_memory = false;   ///< See host_memory.h.
  Mapping mapping = Mapping::kQueued;  ///< Where it does not.
};

class OpenClStream final : public Stream {
 public:
  static Result<std::unique_ptr<Stream>> Create(const cl::Context& context,
                                                const cl::Device& device,
                                                const StreamTraits& traits);

  Status Enqueue(PreparedStep& step,
                 std::span<const BufferRange> operands) override;
  Status Build(PreparedStep& step,
               std::span<const BufferRange> operands) override;
  Status Copy(BufferRange source, BufferRange destination) override;
  Result<std::unique_ptr<Event>> Record(std::unique_ptr<Event> done) override;
  Status WaitFor(Event& event) override;
  Status SynchronizeToDevice(Buffer& imported) override;
  Status SynchronizeToHost(Buffer& imported) override;
  Result<bool> Fill(BufferRange range, uint8_t byte) override;
  Result<bool> Peek(BufferRange range, void* to) override;

 private:
  OpenClStream(OpenClQueue queue, const StreamTraits& traits, bool fills)
      : queue_(std::move(queue)),
        fills_(fills),
        works_in_host_memory_(traits.works_in_host_memory),
        mapping_(traits.mapping) {}

  /// Before each command: whether OpenCL may be called, and what the thread's
  /// RunOrder wants.
  Status Begin();
  Status MapAndUnmap(Buffer& imported, cl_map_flags flags);
  Status CopyInside(const BufferRange& source, const BufferRange& destination);

  OpenClQueue queue_;
  const bool fills_ = false;  ///< The driver's fill is known to be right.
  const bool works_in_host_memory_ = false;
  const Mapping mapping_ = Mapping::kQueued;
};

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_DRIVER_OPENCL_STREAM_H_
