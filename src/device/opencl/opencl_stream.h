// An in-order command queue.
#ifndef TIM_DEVICE_OPENCL_OPENCL_STREAM_H_
#define TIM_DEVICE_OPENCL_OPENCL_STREAM_H_

#include <memory>
#include <span>

#include "device/device.h"
#include "device/opencl/cl_api.h"

namespace tim::device {

class OpenClEvent final : public Event {
 public:
  Status Wait() override;
  cl::Event& handle() { return event_; }

 private:
  cl::Event event_;
};

class OpenClStream final : public Stream {
 public:
  static Result<std::unique_ptr<Stream>> Create(const cl::Context& context,
                                                const cl::Device& device);

  Status Enqueue(PreparedStep& step,
                 std::span<const BufferRange> operands) override;
  Status Copy(BufferRange source, BufferRange destination) override;
  Result<std::unique_ptr<Event>> Record(std::unique_ptr<Event> done) override;
  Status WaitFor(Event& event) override;
  Status ShowToDevice(Buffer& imported) override;
  Status ShowToHost(Buffer& imported) override;

 private:
  explicit OpenClStream(cl::CommandQueue queue) : queue_(std::move(queue)) {}

  Status MapAndUnmap(Buffer& imported, cl_map_flags flags);
  Status CopyInside(const BufferRange& source, const BufferRange& destination);

  cl::CommandQueue queue_;
};

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_OPENCL_STREAM_H_
