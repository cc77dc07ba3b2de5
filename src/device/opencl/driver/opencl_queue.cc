#include "device/opencl/driver/opencl_queue.h"

#include <utility>

#include "device/opencl/driver/cl_status.h"

namespace tim::device {

Result<OpenClQueue> OpenClQueue::Create(const cl::Context& context,
                                        const cl::Device& device,
                                        const QueueTraits& traits) {
  int code = CL_SUCCESS;
  const cl_command_queue_properties properties =
      traits.timed ? CL_QUEUE_PROFILING_ENABLE : 0;
  cl::CommandQueue commands(context, device, properties, &code);
  TIM_RETURN_IF_CL_ERROR(code, "a command queue of ",
                         device.getInfo<CL_DEVICE_NAME>());
  OpenClQueue queue(std::move(commands), traits);
  if (traits.keeps_events && traits.standby.count() > 0 && !traits.timed) {
    queue.standby_ = std::make_shared<Standby>(queue.commands_, traits.standby);
  }
  return queue;
}

cl_int OpenClQueue::Launch(const cl::Kernel& kernel, const cl::NDRange& global,
                           const cl::NDRange& local) {
  return Enqueued(commands_.enqueueNDRangeKernel(kernel, cl::NullRange, global,
                                                 local, nullptr, last()));
}

cl_int OpenClQueue::LaunchChain(cl::Kernel& kernel, int begun, int workers) {
  const cl_mem counter = standby_ != nullptr ? standby_->Begun() : nullptr;
  int code = kernel.setArg(begun, sizeof(counter), &counter);
  if (code != CL_SUCCESS) return code;
  code = Launch(kernel, cl::NDRange(workers), cl::NDRange(1));
  if (code == CL_SUCCESS && standby_ != nullptr) standby_->Chained(workers);
  return code;
}

cl_int OpenClQueue::Write(const cl::Buffer& buffer, int64_t offset,
                          int64_t bytes, const void* memory) {
  return Enqueued(commands_.enqueueWriteBuffer(
      buffer, CL_FALSE, Size(offset), Size(bytes), memory, nullptr, last()));
}

cl_int OpenClQueue::Read(const cl::Buffer& buffer, int64_t offset,
                         int64_t bytes, void* memory) {
  return Enqueued(commands_.enqueueReadBuffer(
      buffer, CL_FALSE, Size(offset), Size(bytes), memory, nullptr, last()));
}

cl_int OpenClQueue::Copy(const cl::Buffer& source, int64_t source_offset,
                         const cl::Buffer& destination,
                         int64_t destination_offset, int64_t bytes) {
  return Enqueued(commands_.enqueueCopyBuffer(
      source, destination, Size(source_offset), Size(destination_offset),
      Size(bytes), nullptr, last()));
}

Status OpenClQueue::MapAndUnmap(const cl::Buffer& buffer, int64_t bytes,
                                cl_map_flags flags, Mapping mapping) {
  int code = CL_SUCCESS;
  void* const mapped = commands_.enqueueMapBuffer(
      buffer, mapping == Mapping::kBlocking ? CL_TRUE : CL_FALSE, flags, 0,
      Size(bytes), nullptr, last(), &code);
  TIM_RETURN_IF_CL_ERROR(code, "mapping ", bytes, " bytes of imported memory");
  TIM_RETURN_IF_CL_ERROR(Enqueued(commands_.enqueueUnmapMemObject(
                             buffer, mapped, nullptr, last())),
                         "unmapping ", bytes, " bytes of imported memory");
  return OkStatus();
}

cl_int OpenClQueue::WaitFor(const cl::Event& event) {
  return Call([&](cl_command_queue commands, cl_event* done) {
    return clEnqueueBarrierWithWaitList(commands, 1, &event(), done);
  });
}

void OpenClQueue::MarkFirst() {
  if (first_() != nullptr) return;
  if (last_() != nullptr) {
    first_ = last_;
    return;
  }
  // A failure costs their time, not them.
  static_cast<void>(commands_.enqueueMarkerWithWaitList(nullptr, &first_));
}

Status OpenClQueue::SetFence(QueueFence* fence) {
  int code = CL_SUCCESS;
  fence->first = std::exchange(first_, cl::Event());
  if (last_() != nullptr) {
    fence->event = std::exchange(last_, cl::Event());
  } else {
    code =
        Enqueued(commands_.enqueueMarkerWithWaitList(nullptr, &fence->event));
  }
  if (code == CL_SUCCESS) code = commands_.flush();
  if (code == CL_SUCCESS) {
    fence->standby = standby_;
    if (standby_ != nullptr) fence->fence = standby_->SetFence();
    return OkStatus();
  }
  commands_.finish();
  return ClStatus(code, "submitting work");
}

}  // namespace tim::device
