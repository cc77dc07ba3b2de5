// Gives a run the client's memory, and copies of it where it is not aligned.
#include "device/opencl/interop/client_run.h"

#include <utility>
#include <vector>

#include "base/exact_cast.h"
#include "device/opencl/driver/cl_api.h"
#include "device/opencl/driver/cl_status.h"
#include "device/opencl/driver/opencl_buffer.h"
#include "device/opencl/driver/opencl_order.h"
#include "device/opencl/driver/opencl_stream.h"

namespace tim::device {
namespace {

class OpenClClientRun final : public ClientRun {
 public:
  explicit OpenClClientRun(Device& device) : device_(device) {}

  Status Await(Event& event) override {
    auto* own = ExactCast<OpenClEvent>(&event);
    if (own == nullptr) return TIM_INTERNAL("an event of another domain");
    order_.before.push_back(own->fence().event);
    return OkStatus();
  }

  Result<BufferRange> Input(const ClientMemory& memory) override {
    if (memory.offset == 0 || memory.bytes == 0) return WholeOf(memory);
    TIM_ASSIGN_OR_RETURN(Staged staged, Stage(memory));
    Fill(staged, memory);
    return staged.range;
  }

  Result<BufferRange> Output(const ClientMemory& memory,
                             OutputUse use) override {
    const bool direct = memory.offset == 0 && !use.is_read;
    if (direct || memory.bytes == 0) return WholeOf(memory);
    TIM_ASSIGN_OR_RETURN(Staged staged, Stage(memory));
    if (use.has_gaps) Fill(staged, memory);
    order_.copies_out.push_back({.from = staged.copy,
                                 .to = staged.clients,
                                 .to_offset = staged.offset,
                                 .bytes = memory.bytes});
    return staged.range;
  }

  RunOrder& order() override { return order_; }

  std::unique_ptr<Event> End() override {
    if (order_.done()() == nullptr) return nullptr;
    auto event = std::make_unique<OpenClEvent>();
    event->fence().event = order_.done();
    return event;
  }

  Status Begin() override {
    TIM_RETURN_IF_ERROR(CheckOpenClProcess());
    for (const cl::Event& event : order_.before) {
      OpenClEvent wait;
      wait.fence().event = event;
      TIM_RETURN_IF_ERROR(
          wait.Wait().WithContext("an event that the run awaits"));
    }
    return Copy(order_.copies_in);
  }

  Status Finish() override {
    TIM_RETURN_IF_ERROR(CheckOpenClProcess());
    return Copy(order_.copies_out);
  }

 private:
  struct Staged {
    cl::Buffer clients;
    int64_t offset = 0;  ///< Of the client's memory.
    cl::Buffer copy;
    BufferRange range;
  };

  static BufferRange WholeOf(const ClientMemory& memory) {
    return {.buffer = memory.buffer.get(), .bytes = memory.bytes};
  }

  Result<Staged> Stage(const ClientMemory& memory) {
    TIM_ASSIGN_OR_RETURN(
        std::unique_ptr<Buffer> copy,
        device_.Allocate(memory.bytes, ir::MemoryKind::kDevice));
    const BufferRange range = {.buffer = copy.get(), .bytes = memory.bytes};
    copies_.push_back(std::move(copy));
    TIM_ASSIGN_OR_RETURN(const OpenClRange to, AsOpenCl(range));
    TIM_ASSIGN_OR_RETURN(
        const OpenClRange from,
        AsOpenCl({.buffer = memory.buffer.get(), .offset = memory.offset}));
    return Staged{from.handle(), from.offset, to.handle(), range};
  }

  void Fill(const Staged& staged, const ClientMemory& memory) {
    order_.copies_in.push_back({.from = staged.clients,
                                .to = staged.copy,
                                .from_offset = staged.offset,
                                .bytes = memory.bytes});
  }

  Status Copy(const std::vector<OpenClOrder::Copy>& copies) const {
    if (copies.empty()) return OkStatus();
    const cl::Context context(
        static_cast<cl_context>(device_.NativeHandle("cl_context")), true);
    const cl::Device id(
        static_cast<cl_device_id>(device_.NativeHandle("cl_device_id")), true);
    int code = CL_SUCCESS;
    const cl::CommandQueue queue(context, id, 0, &code);
    for (const OpenClOrder::Copy& copy : copies) {
      if (code != CL_SUCCESS) break;
      code = queue.enqueueCopyBuffer(
          copy.from, copy.to, static_cast<size_t>(copy.from_offset),
          static_cast<size_t>(copy.to_offset), static_cast<size_t>(copy.bytes));
    }
    if (code == CL_SUCCESS) code = queue.finish();
    TIM_RETURN_IF_CL_ERROR(code, "copying the client's memory");
    return OkStatus();
  }

  Device& device_;
  std::vector<std::unique_ptr<Buffer>> copies_;
  OpenClOrder order_;
};

}  // namespace

Result<std::unique_ptr<ClientRun>> ClientRun::Create(Device& device) {
  TIM_RETURN_IF_ERROR(CheckOpenClProcess());
  if (device.NativeHandle("cl_context") == nullptr) {
    return InvalidArgument(device.info().name, " is no OpenCL device");
  }
  return std::unique_ptr<ClientRun>(std::make_unique<OpenClClientRun>(device));
}

}  // namespace tim::device
