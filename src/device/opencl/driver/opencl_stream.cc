#include "device/opencl/driver/opencl_stream.h"

#include <cstddef>
#include <cstring>

#include "base/exact_cast.h"
#include "device/host/host_buffer.h"
#include "device/opencl/driver/cl_status.h"
#include "device/opencl/driver/fill.h"
#include "device/opencl/driver/opencl_buffer.h"
#include "device/opencl/driver/opencl_order.h"
#include "device/opencl/driver/opencl_step.h"
#include "device/opencl/driver/remote_device.h"

namespace tim::device {

Status OpenClEvent::Wait() {
  TIM_RETURN_IF_ERROR(CheckOpenClProcess());
  const int code = fence_.Wait();
  if (code == CL_SUCCESS) return OkStatus();
  // The wait only says that a command failed; the event says how.
  const int status = fence_.event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>();
  return ClStatus(status < 0 ? status : code, "waiting for the device");
}

// Drivers without clocks give zeros.
std::optional<int64_t> OpenClEvent::DeviceTime() {
  if (!CheckOpenClProcess().ok()) return std::nullopt;
  const cl::Event& first =
      fence_.first() != nullptr ? fence_.first : fence_.event;
  cl_ulong begin = 0;
  cl_ulong end = 0;
  if (first.getProfilingInfo(CL_PROFILING_COMMAND_START, &begin) !=
          CL_SUCCESS ||
      fence_.event.getProfilingInfo(CL_PROFILING_COMMAND_END, &end) !=
          CL_SUCCESS) {
    return std::nullopt;
  }
  if (begin == 0 || end < begin) return std::nullopt;
  return static_cast<int64_t>(end - begin);
}

Result<std::unique_ptr<Stream>> OpenClStream::Create(
    const cl::Context& context, const cl::Device& device,
    const StreamTraits& traits) {
  TIM_ASSIGN_OR_RETURN(OpenClQueue queue,
                       OpenClQueue::Create(context, device, traits.queue));
  // PoCL-Remote's fill is untried.
  const bool fills = !IsRemote(device);
  return std::unique_ptr<Stream>(
      new OpenClStream(std::move(queue), traits, fills));
}

Status OpenClStream::Begin() {
  TIM_RETURN_IF_ERROR(CheckOpenClProcess());
  OpenClOrder* const order = CurrentOpenClOrder();
  return order != nullptr ? order->Begin(id(), queue_) : OkStatus();
}

Status OpenClStream::Enqueue(PreparedStep& step,
                             std::span<const BufferRange> operands) {
  TIM_RETURN_IF_ERROR(Begin());
  auto* own = dynamic_cast<OpenClStep*>(&step);
  if (own == nullptr) return TIM_INTERNAL("not a step of an OpenCL device");
  return own->Enqueue(queue_, operands);
}

Status OpenClStream::Build(PreparedStep& step,
                           std::span<const BufferRange> operands) {
  auto* own = dynamic_cast<OpenClStep*>(&step);
  if (own == nullptr) return TIM_INTERNAL("not a step of an OpenCL device");
  return own->Build(queue_, operands);
}

Status OpenClStream::Copy(BufferRange source, BufferRange destination) {
  TIM_RETURN_IF_ERROR(Begin());
  if (source.bytes == 0) return OkStatus();
  const bool from_host = source.buffer->host_address() != nullptr;
  const bool to_host = destination.buffer->host_address() != nullptr;
  if (from_host && to_host) {
    return TIM_INTERNAL("a copy from host to host on an OpenCL device");
  }
  if (!from_host && !to_host) return CopyInside(source, destination);
  TIM_ASSIGN_OR_RETURN(const OpenClRange there,
                       AsOpenCl(from_host ? destination : source));
  const int code = from_host
                       ? queue_.Write(there.handle(), there.offset,
                                      source.bytes, HostPointer(source))
                       : queue_.Read(there.handle(), there.offset, source.bytes,
                                     HostPointer(destination));
  TIM_RETURN_IF_CL_ERROR(code, from_host ? "writing " : "reading ",
                         source.bytes, " bytes");
  return OkStatus();
}

Status OpenClStream::CopyInside(const BufferRange& source,
                                const BufferRange& destination) {
  TIM_ASSIGN_OR_RETURN(const OpenClRange from, AsOpenCl(source));
  TIM_ASSIGN_OR_RETURN(const OpenClRange to, AsOpenCl(destination));
  if (from.buffer == to.buffer && from.offset == to.offset) return OkStatus();
  TIM_RETURN_IF_CL_ERROR(queue_.Copy(from.handle(), from.offset, to.handle(),
                                     to.offset, source.bytes),
                         "copying ", source.bytes, " bytes");
  return OkStatus();
}

Result<std::unique_ptr<Event>> OpenClStream::Record(
    std::unique_ptr<Event> done) {
  TIM_RETURN_IF_ERROR(Begin());
  OpenClOrder* const order = CurrentOpenClOrder();
  if (order != nullptr) TIM_RETURN_IF_ERROR(order->End(queue_));
  if (ExactCast<OpenClEvent>(done.get()) == nullptr) {
    done = std::make_unique<OpenClEvent>();
  }
  QueueFence& fence = static_cast<OpenClEvent*>(done.get())->fence();
  TIM_RETURN_IF_ERROR(queue_.SetFence(&fence));
  if (order != nullptr) order->SetDone(fence.event);
  return done;
}

// Mapping says that the host will write, unmapping that it has; discarding the
// content keeps the device from restoring an older one.  Where host and kernels
// work in the same memory, that the one starts after the other is enough.
Status OpenClStream::SynchronizeToDevice(Buffer& imported) {
  return MapAndUnmap(imported, CL_MAP_WRITE_INVALIDATE_REGION);
}

Status OpenClStream::SynchronizeToHost(Buffer& imported) {
  return MapAndUnmap(imported, CL_MAP_READ);
}

Status OpenClStream::MapAndUnmap(Buffer& imported, cl_map_flags flags) {
  TIM_RETURN_IF_ERROR(CheckOpenClProcess());
  if (works_in_host_memory_) return OkStatus();
  TIM_RETURN_IF_ERROR(Begin());
  TIM_ASSIGN_OR_RETURN(const OpenClRange place,
                       AsOpenCl({.buffer = &imported}));
  return queue_.MapAndUnmap(place.handle(), imported.bytes(), flags, mapping_);
}

Result<bool> OpenClStream::Fill(BufferRange range, uint8_t byte) {
  if (!fills_) return false;
  TIM_RETURN_IF_ERROR(Begin());
  TIM_RETURN_IF_ERROR(FillBytes(queue_, range, byte));
  return true;
}

Result<bool> OpenClStream::Peek(BufferRange range, void* to) {
  if (!works_in_host_memory_) return false;
  TIM_RETURN_IF_ERROR(CheckOpenClProcess());
  TIM_ASSIGN_OR_RETURN(const OpenClRange place, AsOpenCl(range));
  const std::byte* const address = place.buffer->AddressAgain(queue_.device());
  if (address == nullptr) return false;
  std::memcpy(to, address + place.offset, static_cast<size_t>(range.bytes));
  return true;
}

Status OpenClStream::WaitFor(Event& event) {
  TIM_RETURN_IF_ERROR(Begin());
  auto* other = ExactCast<OpenClEvent>(&event);
  if (other == nullptr) return TIM_INTERNAL("an event of another domain");
  TIM_RETURN_IF_CL_ERROR(queue_.WaitFor(other->fence().event),
                         "waiting for an event of another stream");
  return OkStatus();
}

}  // namespace tim::device
