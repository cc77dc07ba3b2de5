// Memory of one run's inputs and outputs, as devices can take it.
#ifndef TIM_RUNTIME_PORT_BINDING_H_
#define TIM_RUNTIME_PORT_BINDING_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/aligned_memory.h"
#include "base/status.h"
#include "device/device.h"
#include "ir/plan.h"

namespace tim::runtime {

/// What a caller has for an input or output of a graph in one run: memory of
/// the device and in the layout that the plan names for the port.
struct PortMemory {
  PortMemory() = default;
  /// Memory of the host; inputs are only read.
  PortMemory(const void* memory, int64_t size = 0)  // NOLINT: of any pointer
      : host(const_cast<void*>(memory)), bytes(size) {}
  /// Memory of a device.  The buffer must stay until the run has ended, and be
  /// no port of another run meanwhile, unless both only read it.
  PortMemory(const device::BufferRange& memory)  // NOLINT: of any range
      : bytes(memory.bytes), range(memory) {}

  void* host = nullptr;
  int64_t bytes = 0;
  /// Names a buffer that is mapped, perhaps more than once: ports of one
  /// overlap whatever their addresses are.  Zeros: `host` alone tells.
  std::pair<uint64_t, uint64_t> buffer = {};
  device::BufferRange range = {};
};

/// Uses the callers' memory where it can: a copy is needed where host memory is
/// not aligned to 64 bytes, or where an output lies on an input.  One run at a
/// time; copies are kept for the next.
class PortBinding {
 public:
  /// Memory for a run of `plan`, which must outlive it.
  /// kInvalidArgument names a port whose memory is missing, too small, or of
  /// the wrong kind, and outputs on devices that overlap other ports.
  Status Bind(const ir::Plan& plan, std::span<const PortMemory> inputs,
              std::span<const PortMemory> outputs);
  /// Right before the run: fills the copies of inputs.
  void CopyInputs() const;
  /// After a run that succeeded: copies outputs back where needed.
  void CopyOutputs() const;

  std::span<const PortMemory> inputs() const { return bound_inputs_; }
  std::span<const PortMemory> outputs() const { return bound_outputs_; }

 private:
  struct Copy {
    AlignedMemory memory;
    int64_t bytes = 0;
  };

  static Result<void*> CopyFor(Copy* copy, int64_t bytes);
  /// Whether the last Bind() succeeded and had the same arguments, all of them
  /// memory of the host.
  bool IsBound(const ir::Plan& plan, std::span<const PortMemory> inputs,
               std::span<const PortMemory> outputs) const;
  Status BindInput(const ir::PlanTensor& tensor, size_t index);
  Status BindOutput(const ir::PlanTensor& tensor, size_t index);

  const ir::Plan* plan_ = nullptr;  ///< Null where nothing is bound.
  std::vector<PortMemory> inputs_;
  std::vector<PortMemory> outputs_;
  std::vector<PortMemory> bound_inputs_;
  std::vector<PortMemory> bound_outputs_;
  std::vector<Copy> input_copies_;
  std::vector<Copy> output_copies_;
};

/// Checks of Bind().
Status CheckBinding(const ir::Plan& plan, std::span<const PortMemory> inputs,
                    std::span<const PortMemory> outputs);
/// Whether a PortBinding of memory that has been checked makes copies.
bool NeedsCopies(const ir::Plan& plan, std::span<const PortMemory> inputs,
                 std::span<const PortMemory> outputs);

/// Whether the memory is what runs of `plan` can be given: a range of a device
/// for a port of a device, host memory for others, of the port's size.
Status CheckPorts(const ir::Plan& plan, std::span<const PortMemory> inputs,
                  std::span<const PortMemory> outputs);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_PORT_BINDING_H_
