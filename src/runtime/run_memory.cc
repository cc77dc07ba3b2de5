// Where every operand of a run's steps lies.
#include "runtime/run_memory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>

#include "device/device_pools.h"
#include "runtime/transfer.h"

namespace tim::runtime {

using device::Buffer;
using device::BufferRange;
using device::Stream;

namespace {

bool IsDevicePort(const ir::Slot& slot) {
  return slot.device != 0 && (slot.kind == ir::SlotKind::kInput ||
                              slot.kind == ir::SlotKind::kOutput);
}

}  // namespace

RunMemory::RunMemory(const Executable& executable) : executable_(executable) {}

Result<std::unique_ptr<RunMemory>> RunMemory::Create(
    const Executable& executable, ArenaMemory arenas,
    std::span<const std::unique_ptr<Stream>> streams) {
  std::unique_ptr<RunMemory> memory(new RunMemory(executable));
  TIM_RETURN_IF_ERROR(memory->AllocateArenas(arenas, streams));
  TIM_RETURN_IF_ERROR(memory->AddTensors());
  for (const ir::Step& step : executable.plan().steps) memory->AddStep(step);
  memory->first_.push_back(memory->ranges_.size());
  return memory;
}

Result<Buffer*> RunMemory::AllocateArena(const ir::Arena& arena,
                                         ArenaMemory memory,
                                         const Stream& stream) {
  device::DevicePools& pools = executable_.device(arena.device).pools();
  if (memory == ArenaMemory::kPooled) {
    TIM_ASSIGN_OR_RETURN(pooled_arenas_.emplace_back(),
                         pools.Of(arena.memory).Allocate(arena.bytes, &stream));
    return &pooled_arenas_.back().buffer();
  }
  TIM_ASSIGN_OR_RETURN(own_arenas_.emplace_back(),
                       pools.AllocateOutside(arena.bytes, arena.memory));
  return own_arenas_.back().get();
}

Status RunMemory::AllocateArenas(
    ArenaMemory memory, std::span<const std::unique_ptr<Stream>> streams) {
  if (memory == ArenaMemory::kGiven) {
    arenas_.resize(executable_.plan().arenas.size(), nullptr);
    arena_bindings_.resize(arenas_.size());
    return OkStatus();
  }
  for (const ir::Arena& arena : executable_.plan().arenas) {
    const Result<Buffer*> buffer =
        AllocateArena(arena, memory, *streams[arena.device]);
    if (!buffer.ok()) {
      return buffer.status().WithContext(StrCat("an arena of ", arena.bytes,
                                                " bytes for graph '",
                                                executable_.plan().graph, "'"));
    }
    arenas_.push_back(*buffer);
  }
  arena_bindings_.resize(arenas_.size());
  return OkStatus();
}

Status RunMemory::AddTensors() {
  const ir::Plan& plan = executable_.plan();
  for (const ir::PlanTensor& tensor : plan.inputs) {
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ByteSize(tensor.desc));
    inputs_.emplace_back(nullptr, bytes);
  }
  for (const ir::PlanTensor& tensor : plan.outputs) {
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ByteSize(tensor.desc));
    outputs_.emplace_back(nullptr, bytes);
  }
  return OkStatus();
}

Buffer* RunMemory::BufferOf(const ir::Slot& slot) {
  switch (slot.kind) {
    case ir::SlotKind::kArena:
      return arenas_[slot.index];
    case ir::SlotKind::kConstant:
      return &executable_.constant(slot.index);
    case ir::SlotKind::kInput:
      return slot.device == 0 ? &inputs_[slot.index] : nullptr;
    case ir::SlotKind::kOutput:
      return slot.device == 0 ? &outputs_[slot.index] : nullptr;
    case ir::SlotKind::kStateRead:
    case ir::SlotKind::kStateWrite:
      break;
  }
  return nullptr;  // bound per run
}

void RunMemory::AddStep(const ir::Step& step) {
  first_.push_back(ranges_.size());
  const auto* copy = std::get_if<ir::Copy>(&step.action);
  for (const int operand : step.operands) {
    const ir::Slot& slot = executable_.plan().slots[operand];
    const bool write = slot.kind == ir::SlotKind::kStateWrite;
    if (slot.kind == ir::SlotKind::kArena) {
      arena_bindings_[slot.index].operands.push_back(
          {ranges_.size(), slot.offset});
    }
    if (IsDevicePort(slot)) {
      PortOf(slot).operands.push_back({ranges_.size(), slot.offset});
    }
    if (write || slot.kind == ir::SlotKind::kStateRead) {
      state_operands_.push_back(
          {ranges_.size(), slot.device, slot.index, write});
    }
    ranges_.push_back({BufferOf(slot), slot.offset,
                       copy != nullptr ? copy->bytes : slot.bytes});
  }
}

RunMemory::DevicePort& RunMemory::PortOf(const ir::Slot& slot) {
  const auto known =
      std::find_if(ports_.begin(), ports_.end(), [&](const DevicePort& port) {
        return port.kind == slot.kind && port.device == slot.device &&
               port.tensor == slot.index;
      });
  if (known != ports_.end()) return *known;
  const ir::Plan& plan = executable_.plan();
  const auto& tensors =
      slot.kind == ir::SlotKind::kInput ? plan.inputs : plan.outputs;
  return ports_.emplace_back(
      DevicePort{.kind = slot.kind,
                 .device = slot.device,
                 .tensor = slot.index,
                 .imported = tensors[slot.index].device == 0,
                 .strided = tensors[slot.index].desc.layout.strided()});
}

void RunMemory::Point(std::span<const PortOperand> operands, Buffer* buffer,
                      int64_t offset) {
  for (const PortOperand& operand : operands) {
    ranges_[operand.range].buffer = buffer;
    ranges_[operand.range].offset = offset + operand.offset;
  }
}

// Devices import whole lines; strided memory may begin within one.  Only the
// Reorder reads that, which takes an offset.
Status RunMemory::Import(DevicePort& port, void* address, int64_t bytes) {
  if (port.buffer != nullptr && port.address == address) return OkStatus();
  int64_t slack = 0;
  if (port.strided) {
    slack = static_cast<int64_t>(reinterpret_cast<uintptr_t>(address) %
                                 device::kHostAlignment);
  }
  TIM_ASSIGN_OR_RETURN(
      port.buffer,
      executable_.device(port.device)
          .Import(static_cast<std::byte*>(address) - slack, bytes + slack));
  port.address = address;
  Point(port.operands, port.buffer.get(), slack);
  return OkStatus();
}

void RunMemory::Release(const void* memory) {
  for (DevicePort& port : ports_) {
    if (port.buffer == nullptr || port.address != memory) continue;
    Point(port.operands, nullptr, 0);
    port.buffer = nullptr;
  }
  for (ArenaBinding& binding : arena_bindings_) {
    if (binding.buffer == nullptr || binding.address != memory) continue;
    Point(binding.operands, nullptr, 0);
    binding.buffer = nullptr;
  }
}

// The host works in the memory itself.
Status RunMemory::BindArena(const ir::Arena& arena, const PortMemory& memory,
                            ArenaBinding* binding) {
  if (memory.range.buffer != nullptr) {
    Point(binding->operands, memory.range.buffer, memory.range.offset);
    return OkStatus();
  }
  if (binding->buffer == nullptr || binding->address != memory.host) {
    if (arena.device == 0) {
      binding->buffer =
          std::make_unique<device::ExternalBuffer>(memory.host, arena.bytes);
    } else {
      TIM_ASSIGN_OR_RETURN(
          binding->buffer,
          executable_.device(arena.device).Import(memory.host, arena.bytes));
    }
    binding->address = memory.host;
  }
  Point(binding->operands, binding->buffer.get(), 0);
  return OkStatus();
}

Status RunMemory::BindArenas(GivenArenas arenas) {
  for (size_t i = 0; i < arena_bindings_.size(); ++i) {
    ArenaBinding& binding = arena_bindings_[i];
    const bool given =
        i < arenas.size() && !binding.operands.empty() &&
        (arenas[i].host != nullptr || arenas[i].range.buffer != nullptr);
    if (given) {
      binding.given = true;
      TIM_RETURN_IF_ERROR(
          BindArena(executable_.plan().arenas[i], arenas[i], &binding));
    } else if (std::exchange(binding.given, false)) {
      Point(binding.operands, arenas_[i], 0);
    }
  }
  return OkStatus();
}

Status RunMemory::ZeroArenas(
    std::span<const std::unique_ptr<Stream>> streams) const {
  for (size_t i = 0; i < arena_bindings_.size(); ++i) {
    if (arena_bindings_[i].operands.empty()) continue;
    const PortOperand& operand = arena_bindings_[i].operands.front();
    const BufferRange& range = ranges_[operand.range];
    const ir::Arena& arena = executable_.plan().arenas[i];
    TIM_RETURN_IF_ERROR(
        FillZero(*streams[arena.device],
                 {range.buffer, range.offset - operand.offset, arena.bytes}));
  }
  return OkStatus();
}

Status RunMemory::BindPorts(std::span<const PortMemory> inputs,
                            std::span<const PortMemory> outputs) {
  for (size_t i = 0; i < inputs_.size(); ++i) inputs_[i].Rebind(inputs[i].host);
  for (size_t i = 0; i < outputs_.size(); ++i) {
    outputs_[i].Rebind(outputs[i].host);
  }
  for (DevicePort& port : ports_) {
    const bool read = port.kind == ir::SlotKind::kInput;
    const PortMemory& memory = (read ? inputs : outputs)[port.tensor];
    if (port.imported) {
      const int64_t bytes = (read ? inputs_ : outputs_)[port.tensor].bytes();
      TIM_RETURN_IF_ERROR(Import(port, memory.host, bytes));
    } else {
      Point(port.operands, memory.range.buffer, memory.range.offset);
    }
  }
  return OkStatus();
}

Status RunMemory::Synchronize(ir::SlotKind kind,
                              std::span<const std::unique_ptr<Stream>> streams,
                              Status (Stream::*synchronize)(Buffer&)) const {
  for (const DevicePort& port : ports_) {
    if (port.kind != kind || !port.imported) continue;
    TIM_RETURN_IF_ERROR(((*streams[port.device]).*synchronize)(*port.buffer));
  }
  return OkStatus();
}

Status RunMemory::SynchronizeInputs(
    std::span<const std::unique_ptr<Stream>> streams) const {
  return Synchronize(ir::SlotKind::kInput, streams,
                     &Stream::SynchronizeToDevice);
}

Status RunMemory::SynchronizeOutputs(
    std::span<const std::unique_ptr<Stream>> streams) const {
  return Synchronize(ir::SlotKind::kOutput, streams,
                     &Stream::SynchronizeToHost);
}

void RunMemory::BindStates(const StateSet& states) {
  for (const StateOperand& operand : state_operands_) {
    ranges_[operand.range].buffer = operand.write
                                        ? &states.write_buffer(operand.state)
                                        : &states.read_buffer(operand.state);
  }
}

void RunMemory::BindTo(std::span<Buffer* const> buffers) {
  for (const StateOperand& operand : state_operands_) {
    ranges_[operand.range].buffer = buffers[operand.device];
  }
  for (const DevicePort& port : ports_) {
    Point(port.operands, buffers[port.device], 0);
  }
}

}  // namespace tim::runtime
