// A run among a client's commands.
#ifndef TIM_DEVICE_OPENCL_INTEROP_CLIENT_RUN_H_
#define TIM_DEVICE_OPENCL_INTEROP_CLIENT_RUN_H_

#include <memory>

#include "base/status.h"
#include "device/device.h"
#include "device/opencl/interop/client_memory.h"
#include "device/run_order.h"

namespace tim::device {

/// Form in which a run writes an output.
struct OutputUse {
  /// The run reads the memory, too: it is written behind the last command.
  bool is_read = false;
  /// There are bytes between the elements, which stay as they are.
  bool has_gaps = false;
};

/// One run of one device against the client's events and memory; it stays
/// until the run has ended, and so does the memory.
///
/// The thread that hands the run to the device has its order meanwhile:
///   RunOrder::Scope scope(&run.order());
/// Then the run's commands wait for events and copies, and nobody else does.
/// Without that scope a thread calls Begin() before the run, Finish() after it.
class ClientRun {
 public:
  virtual ~ClientRun() = default;
  static Result<std::unique_ptr<ClientRun>> Create(Device& device);

  /// The run starts after `event`, which may be destroyed after the call.
  virtual Status Await(Event& event) = 0;
  /// Memory that the run can be given: the client's own where it is aligned,
  /// else a copy, filled before the run or copied back after it.
  virtual Result<BufferRange> Input(const ClientMemory& memory) = 0;
  virtual Result<BufferRange> Output(const ClientMemory& memory,
                                     OutputUse use) = 0;

  virtual RunOrder& order() = 0;
  /// After the scope: reached when the run is done and its outputs are copied
  /// back.  Null where the device was given nothing to do.
  virtual std::unique_ptr<Event> End() = 0;

  /// Block until the events are reached and inputs copied, or outputs copied.
  virtual Status Begin() = 0;
  virtual Status Finish() = 0;
};

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_INTEROP_CLIENT_RUN_H_
