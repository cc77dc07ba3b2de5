// Queues and events of a client.
#ifndef TIM_DEVICE_OPENCL_INTEROP_CLIENT_QUEUE_H_
#define TIM_DEVICE_OPENCL_INTEROP_CLIENT_QUEUE_H_

#include <memory>

#include "base/status.h"
#include "device/device.h"

namespace tim::device {

/// A cl_event of the device's context, which is retained; the queue of its
/// command is submitted.  kInvalidArgument for others.
Result<std::unique_ptr<Event>> EventOf(Device& device, void* event);

/// The cl_event of an event of an OpenCL device, retained for the caller; null
/// for others.
void* RetainedHandle(Event& event);

/// The same event of an OpenCL device once more, which lives by itself.
std::unique_ptr<Event> SameEvent(Event& event);

/// An event that is reached when the library says so.  Where nobody has said
/// so when it is destroyed, it fails.
class UserEvent {
 public:
  virtual ~UserEvent() = default;
  static Result<std::unique_ptr<UserEvent>> Create(Device& device);
  virtual Event& event() = 0;
  /// Once: what waits for it starts, or fails likewise.  On CPUs, whose
  /// runtimes take no failure, it starts.
  virtual void Reach(const Status& status) = 0;
};

/// A cl_command_queue, in order or not.  One thread at a time.
class ClientQueue {
 public:
  virtual ~ClientQueue() = default;
  /// Retains the queue.  kInvalidArgument for one of another context or device.
  static Result<std::unique_ptr<ClientQueue>> Of(Device& device, void* queue);
  /// A new one, in order.
  static Result<std::unique_ptr<ClientQueue>> Create(Device& device);
  virtual void* handle() const = 0;
  /// Reached when all that is in the queue now is done; it is submitted.
  virtual Result<std::unique_ptr<Event>> Mark() = 0;
  /// Whatever is enqueued from now on starts after `event`.
  virtual Status Await(Event& event) = 0;
  /// Blocks until all that is in the queue is done.
  virtual Status Finish() = 0;
};

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_INTEROP_CLIENT_QUEUE_H_
