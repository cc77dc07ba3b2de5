// Orders work against a client's commands by markers, barriers and events.
#include "device/opencl/interop/client_queue.h"

#include <utility>
#include <vector>

#include "base/exact_cast.h"
#include "device/opencl/driver/cl_api.h"
#include "device/opencl/driver/cl_status.h"
#include "device/opencl/driver/opencl_info.h"
#include "device/opencl/driver/opencl_stream.h"

namespace tim::device {
namespace {

std::unique_ptr<Event> WrapEvent(cl::Event handle) {
  auto event = std::make_unique<OpenClEvent>();
  event->fence().event = std::move(handle);
  return event;
}

Result<cl_context> ContextOf(const Device& device) {
  void* const context = device.NativeHandle("cl_context");
  if (context != nullptr) return static_cast<cl_context>(context);
  return InvalidArgument(device.info().name, " is no OpenCL device");
}

class OpenClUserEvent final : public UserEvent {
 public:
  OpenClUserEvent(cl::UserEvent handle, bool can_fail)
      : handle_(std::move(handle)), can_fail_(can_fail) {
    event_.fence().event = handle_;
  }
  ~OpenClUserEvent() override {
    if (!reached_) Reach(FailedPrecondition("nobody reached the event"));
  }
  Event& event() override { return event_; }
  void Reach(const Status& status) override {
    reached_ = true;
    if (IsForkedFromOpenCl()) return;
    static_cast<void>(handle_.setStatus(
        status.ok() || !can_fail_ ? CL_COMPLETE : CL_OUT_OF_RESOURCES));
  }

 private:
  cl::UserEvent handle_;
  const bool can_fail_;
  OpenClEvent event_;
  bool reached_ = false;
};

class OpenClClientQueue final : public ClientQueue {
 public:
  explicit OpenClClientQueue(cl::CommandQueue queue)
      : queue_(std::move(queue)) {}

  void* handle() const override { return queue_(); }

  Result<std::unique_ptr<Event>> Mark() override {
    TIM_RETURN_IF_ERROR(CheckOpenClProcess());
    cl::Event event;
    TIM_RETURN_IF_CL_ERROR(queue_.enqueueMarkerWithWaitList(nullptr, &event),
                           "a marker in the client's queue");
    TIM_RETURN_IF_CL_ERROR(queue_.flush(), "submitting the client's queue");
    return WrapEvent(std::move(event));
  }

  Status Await(Event& event) override {
    TIM_RETURN_IF_ERROR(CheckOpenClProcess());
    auto* own = ExactCast<OpenClEvent>(&event);
    if (own == nullptr) return TIM_INTERNAL("an event of another domain");
    const std::vector<cl::Event> list = {own->fence().event};
    TIM_RETURN_IF_CL_ERROR(queue_.enqueueBarrierWithWaitList(&list),
                           "a barrier in the client's queue");
    return OkStatus();
  }

  Status Finish() override {
    TIM_RETURN_IF_ERROR(CheckOpenClProcess());
    TIM_RETURN_IF_CL_ERROR(queue_.finish(), "waiting for the client's queue");
    return OkStatus();
  }

 private:
  const cl::CommandQueue queue_;
};

}  // namespace

Result<std::unique_ptr<Event>> EventOf(Device& device, void* event) {
  TIM_RETURN_IF_ERROR(CheckOpenClProcess());
  if (event == nullptr) return InvalidArgument("the cl_event is null");
  TIM_ASSIGN_OR_RETURN(cl_context context, ContextOf(device));
  cl::Event handle(static_cast<cl_event>(event), true);
  cl_context own = nullptr;
  cl_command_queue queue = nullptr;
  TIM_RETURN_IF_CL_ERROR(
      clGetEventInfo(handle(), CL_EVENT_CONTEXT, sizeof(own), &own, nullptr),
      "asking a cl_event for its context");
  if (own != context) {
    return InvalidArgument(
        "the cl_event is of another context than the device");
  }
  // User events have no queue.
  const int code = clGetEventInfo(handle(), CL_EVENT_COMMAND_QUEUE,
                                  sizeof(queue), &queue, nullptr);
  if (code == CL_SUCCESS && queue != nullptr) clFlush(queue);
  return WrapEvent(std::move(handle));
}

void* RetainedHandle(Event& event) {
  auto* own = ExactCast<OpenClEvent>(&event);
  if (own == nullptr || IsForkedFromOpenCl()) return nullptr;
  cl_event const handle = own->fence().event();
  if (handle != nullptr) clRetainEvent(handle);
  return handle;
}

std::unique_ptr<Event> SameEvent(Event& event) {
  auto* own = ExactCast<OpenClEvent>(&event);
  return own != nullptr ? WrapEvent(own->fence().event) : nullptr;
}

Result<std::unique_ptr<UserEvent>> UserEvent::Create(Device& device) {
  TIM_RETURN_IF_ERROR(CheckOpenClProcess());
  TIM_ASSIGN_OR_RETURN(cl_context context, ContextOf(device));
  int code = CL_SUCCESS;
  cl::UserEvent handle(cl::Context(context, true), &code);
  TIM_RETURN_IF_CL_ERROR(code, "a user event");
  // When a user event fails, PoCL 3.1 ends the process; Intel's runtime lets
  // barriers pass, and says of a copy that it did not make that it is done.
  const cl::Device id(
      static_cast<cl_device_id>(device.NativeHandle("cl_device_id")), true);
  return std::unique_ptr<UserEvent>(
      std::make_unique<OpenClUserEvent>(std::move(handle), !IsCpu(id)));
}

Result<std::unique_ptr<ClientQueue>> ClientQueue::Of(Device& device,
                                                     void* queue) {
  TIM_RETURN_IF_ERROR(CheckOpenClProcess());
  if (queue == nullptr) return InvalidArgument("the cl_command_queue is null");
  TIM_ASSIGN_OR_RETURN(cl_context context, ContextOf(device));
  cl::CommandQueue handle(static_cast<cl_command_queue>(queue), true);
  cl_context own_context = nullptr;
  cl_device_id own_device = nullptr;
  int code = clGetCommandQueueInfo(handle(), CL_QUEUE_CONTEXT,
                                   sizeof(own_context), &own_context, nullptr);
  if (code == CL_SUCCESS) {
    code = clGetCommandQueueInfo(handle(), CL_QUEUE_DEVICE, sizeof(own_device),
                                 &own_device, nullptr);
  }
  TIM_RETURN_IF_CL_ERROR(code, "asking a cl_command_queue what it is of");
  if (own_context != context) {
    return InvalidArgument(
        "the cl_command_queue is of another context than the engine");
  }
  if (own_device != device.NativeHandle("cl_device_id")) {
    return InvalidArgument(
        "the cl_command_queue is of another device than the engine");
  }
  return std::unique_ptr<ClientQueue>(
      std::make_unique<OpenClClientQueue>(std::move(handle)));
}

Result<std::unique_ptr<ClientQueue>> ClientQueue::Create(Device& device) {
  TIM_RETURN_IF_ERROR(CheckOpenClProcess());
  TIM_ASSIGN_OR_RETURN(cl_context context, ContextOf(device));
  const cl::Device id(
      static_cast<cl_device_id>(device.NativeHandle("cl_device_id")), true);
  int code = CL_SUCCESS;
  cl::CommandQueue queue(cl::Context(context, true), id, 0, &code);
  TIM_RETURN_IF_CL_ERROR(code, "a command queue of ", device.info().name);
  return std::unique_ptr<ClientQueue>(
      std::make_unique<OpenClClientQueue>(std::move(queue)));
}

}  // namespace tim::device
