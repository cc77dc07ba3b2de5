// Lets the commands of a run wait for a client's, and copies memory that the
// client keeps where devices do not want it.
#include "device/opencl/driver/opencl_order.h"

#include "device/opencl/driver/cl_status.h"

namespace tim::device {

Status OpenClOrder::Begin(uint64_t stream, OpenClQueue& queue) {
  if (stream_ == stream) return OkStatus();
  if (stream_ != 0) {
    return TIM_INTERNAL("a run that is ordered by events has two streams");
  }
  stream_ = stream;
  if (!before.empty()) {
    std::vector<cl_event> list;
    for (const cl::Event& event : before) list.push_back(event());
    const int code = queue.Call([&](cl_command_queue commands, cl_event* done) {
      return clEnqueueBarrierWithWaitList(
          commands, static_cast<cl_uint>(list.size()), list.data(), done);
    });
    TIM_RETURN_IF_CL_ERROR(code, "waiting for ", list.size(),
                           " events of the client");
  }
  return Enqueue(copies_in, queue);
}

Status OpenClOrder::Enqueue(const std::vector<Copy>& copies,
                            OpenClQueue& queue) {
  for (const Copy& copy : copies) {
    TIM_RETURN_IF_CL_ERROR(queue.Copy(copy.from, copy.from_offset, copy.to,
                                      copy.to_offset, copy.bytes),
                           "copying ", copy.bytes,
                           " bytes of the client's memory");
  }
  return OkStatus();
}

OpenClOrder* CurrentOpenClOrder() {
  RunOrder* const order = RunOrder::Current();
  return order != nullptr ? dynamic_cast<OpenClOrder*>(order) : nullptr;
}

}  // namespace tim::device
