// The memory of one run: arenas, the caller's tensors, states, constants.
#ifndef TIM_RUNTIME_RUN_MEMORY_H_
#define TIM_RUNTIME_RUN_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "device/host/host_buffer.h"
#include "device/pool_allocator.h"
#include "runtime/executable.h"
#include "runtime/given_arenas.h"
#include "runtime/port_binding.h"
#include "runtime/state_set.h"

namespace tim::runtime {

/// Where arenas lie.
enum class ArenaMemory : uint8_t {
  kOwn,     ///< Buffers of a context that stays as long as its executable.
  kPooled,  ///< Memory of the devices' pools: contexts come and go.
  kGiven,   ///< Memory that each run is given: see GivenArenas.
};

/// Resolves the operands of every step once; a run only moves the addresses of
/// the caller's tensors and the buffers of states.
class RunMemory {
 public:
  /// Arenas hold anything.  No work uses pooled ones when they are destroyed.
  /// With kGiven there are none but those of BindArenas().
  static Result<std::unique_ptr<RunMemory>> Create(
      const Executable& executable, ArenaMemory arenas,
      std::span<const std::unique_ptr<device::Stream>> streams);

  /// Of all steps of the group.  Of a copy, both ranges have the size of the
  /// copy.
  std::span<const device::BufferRange> operands(const StepGroup& group) const {
    const size_t begin = first_[group.first];
    const size_t end = first_[group.first + group.count];
    return std::span(ranges_).subspan(begin, end - begin);
  }

  /// Devices import what has moved since the last run, or was released.  The
  /// memory is as CheckPorts() wants it.
  Status BindPorts(std::span<const PortMemory> inputs,
                   std::span<const PortMemory> outputs);
  /// Arenas of the next run: what is given, as CheckArenas() wants it, else the
  /// own ones.  Devices import what has moved since the last run.
  Status BindArenas(GivenArenas arenas);
  /// Fills the arenas that steps work in with zero bytes, as far as the plan
  /// uses them, through streams[device].
  Status ZeroArenas(
      std::span<const std::unique_ptr<device::Stream>> streams) const;
  /// Imports of `memory` end: it may be freed, and what is at its address later
  /// is other memory.
  void Release(const void* memory);
  void BindStates(const StateSet& states);
  /// Lets operands in states and in the caller's memory on devices point to
  /// buffers[device] until they are bound.
  void BindTo(std::span<device::Buffer* const> buffers);

  /// Before and after the steps: imported memory becomes visible to its
  /// devices, and to the host.
  Status SynchronizeInputs(
      std::span<const std::unique_ptr<device::Stream>> streams) const;
  Status SynchronizeOutputs(
      std::span<const std::unique_ptr<device::Stream>> streams) const;

 private:
  struct StateOperand {
    size_t range = 0;
    int device = 0;
    int state = 0;
    bool write = false;
  };

  /// An operand in a tensor of the caller.
  struct PortOperand {
    size_t range = 0;
    int64_t offset = 0;  ///< In the tensor.
  };
  /// A tensor of the caller as a device sees it: its own memory, or the host's,
  /// which it imports.
  struct DevicePort {
    ir::SlotKind kind = ir::SlotKind::kInput;
    int device = 0;
    int tensor = 0;
    bool imported = false;
    bool strided = false;
    std::vector<PortOperand> operands = {};
    const void* address = nullptr;  ///< Of what is imported.
    std::unique_ptr<device::Buffer> buffer = nullptr;
  };

  /// Operands in an arena, and what the caller gave for it last.
  struct ArenaBinding {
    std::vector<PortOperand> operands = {};
    bool given = false;
    const void* address = nullptr;  ///< Of what is imported.
    std::unique_ptr<device::Buffer> buffer = nullptr;
  };

  explicit RunMemory(const Executable& executable);
  Status AllocateArenas(
      ArenaMemory memory,
      std::span<const std::unique_ptr<device::Stream>> streams);
  Result<device::Buffer*> AllocateArena(const ir::Arena& arena,
                                        ArenaMemory memory,
                                        const device::Stream& stream);
  Status BindArena(const ir::Arena& arena, const PortMemory& memory,
                   ArenaBinding* binding);
  Status AddTensors();
  void AddStep(const ir::Step& step);
  DevicePort& PortOf(const ir::Slot& slot);
  Status Import(DevicePort& port, void* address, int64_t bytes);
  /// What the port's operands are pieces of.
  void Point(std::span<const PortOperand> operands, device::Buffer* buffer,
             int64_t offset);
  Status Synchronize(
      ir::SlotKind kind,
      std::span<const std::unique_ptr<device::Stream>> streams,
      Status (device::Stream::*synchronize)(device::Buffer&)) const;
  device::Buffer* BufferOf(const ir::Slot& slot);

  const Executable& executable_;
  std::vector<device::Buffer*> arenas_;
  std::vector<ArenaBinding> arena_bindings_;  ///< Like arenas_.
  std::vector<std::unique_ptr<device::Buffer>> own_arenas_;
  std::vector<device::PoolRange> pooled_arenas_;
  std::vector<device::ExternalBuffer> inputs_;
  std::vector<device::ExternalBuffer> outputs_;
  std::vector<device::BufferRange> ranges_;
  std::vector<size_t> first_;  // in ranges_, per step, and the end
  std::vector<StateOperand> state_operands_;
  std::vector<DevicePort> ports_;
};

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_RUN_MEMORY_H_
