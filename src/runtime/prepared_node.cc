// Binds the operands of a plan's steps to memory that is new in every run, and
// enqueues them in streams that all nodes share.
#include "runtime/prepared_node.h"

#include <array>
#include <utility>
#include <variant>

#include "runtime/control_run.h"

namespace tim::runtime {

using device::BufferRange;

/// Memory of one run.
struct PreparedNode::Memory {
  std::span<const std::shared_ptr<SharedMemory>> inputs;
  std::vector<std::shared_ptr<SharedMemory>> outputs = {};
  std::vector<std::shared_ptr<SharedMemory>> arenas = {};
  std::vector<BufferRange> ranges = {};  ///< Of one launch.
  int last_device = -1;                  ///< Of the launch before.
};

Result<std::shared_ptr<PreparedNode>> PreparedNode::Create(
    const compiler::InferredGraph& graph, compiler::CompileOptions options,
    const Surroundings& surroundings, std::vector<bool> scalars) {
  std::shared_ptr<PreparedNode> made(new PreparedNode());
  TIM_ASSIGN_OR_RETURN(
      made->executable_,
      CompileExecutable(graph, std::move(options), surroundings));
  TIM_ASSIGN_OR_RETURN(made->prepared_, made->executable_->PrepareGroups());
  TIM_RETURN_IF_ERROR(PrepareControls(*made->executable_, made->prepared_,
                                      Kernels::kNew, nullptr));
  made->scalars_ = std::move(scalars);
  for (const PreparedGroup& ready : made->prepared_) made->AddOperands(ready);
  for (const ir::PlanTensor& output : made->plan().outputs) {
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(output.desc));
    made->output_bytes_.push_back(bytes);
  }
  for (const Launch& launch : made->launches_) {
    made->uses_host_ = made->uses_host_ || launch.device == 0;
  }
  made->uses_host_ = made->uses_host_ && made->plan().devices.size() > 1;
  return made;
}

void PreparedNode::AddOperands(const PreparedGroup& ready) {
  const size_t first = operands_.size();
  const StepGroup& group = ready.group;
  for (size_t i = group.first; i < group.first + group.count; ++i) {
    const ir::Step& step = plan().steps[i];
    const auto* copy = std::get_if<ir::Copy>(&step.action);
    for (const int operand : step.operands) {
      const ir::Slot& slot = plan().slots[static_cast<size_t>(operand)];
      operands_.push_back({slot.kind, slot.index, slot.offset,
                           copy != nullptr ? copy->bytes : slot.bytes});
    }
  }
  launches_.push_back({.device = plan().steps[group.first].device,
                       .ready = &ready,
                       .first = first,
                       .count = operands_.size() - first});
}

Status PreparedNode::Allocate(const WorkStreams& streams,
                              Memory* memory) const {
  for (size_t i = 0; i < output_bytes_.size(); ++i) {
    const auto device = static_cast<size_t>(plan().outputs[i].device);
    TIM_ASSIGN_OR_RETURN(memory->outputs.emplace_back(),
                         streams[device]->Allocate(output_bytes_[i]));
  }
  for (const ir::Arena& arena : plan().arenas) {
    memory->arenas.emplace_back();
    if (arena.bytes == 0) continue;
    TIM_ASSIGN_OR_RETURN(
        memory->arenas.back(),
        streams[static_cast<size_t>(arena.device)]->Allocate(arena.bytes));
  }
  return OkStatus();
}

Status PreparedNode::EnqueueOne(const Launch& launch, device::Stream& stream,
                                Memory& memory) const {
  memory.ranges.clear();
  for (size_t i = launch.first; i < launch.first + launch.count; ++i) {
    const Operand& operand = operands_[i];
    const auto index = static_cast<size_t>(operand.index);
    BufferRange range;
    switch (operand.kind) {
      case ir::SlotKind::kInput:
        range = memory.inputs[index]->range();
        break;
      case ir::SlotKind::kOutput:
        range = memory.outputs[index]->range();
        break;
      case ir::SlotKind::kArena:
        range = memory.arenas[index]->range();
        break;
      case ir::SlotKind::kConstant:
        range.buffer = &executable_->constant(operand.index);
        break;
      default:
        return TIM_INTERNAL("a node that runs at once has no states");
    }
    memory.ranges.push_back(
        {range.buffer, range.offset + operand.offset, operand.bytes});
  }
  return EnqueuePrepared(*launch.ready, stream, memory.ranges);
}

// Work of the host is done when it has been enqueued; it starts when that of
// the device before it has ended.
Status PreparedNode::EnqueueAll(const WorkStreams& streams,
                                device::Stream& stream, Memory& memory) const {
  for (const Launch& launch : launches_) {
    const int before = std::exchange(memory.last_device, launch.device);
    if (launch.device != 0 || streams.size() == 1) {
      TIM_RETURN_IF_ERROR(EnqueueOne(launch, stream, memory));
      continue;
    }
    if (before != 0) {
      TIM_ASSIGN_OR_RETURN(const auto event, stream.Record());
      TIM_RETURN_IF_ERROR(event->Wait());
    }
    TIM_RETURN_IF_ERROR(streams[0]
                            ->Enqueue([&](device::Stream& host) {
                              return EnqueueOne(launch, host, memory);
                            })
                            .status());
  }
  return OkStatus();
}

Result<std::vector<NodeResult>> PreparedNode::Run(
    std::span<const std::shared_ptr<SharedMemory>> inputs,
    const WorkStreams& streams) {
  Memory memory{.inputs = inputs};
  TIM_RETURN_IF_ERROR(Allocate(streams, &memory));
  WorkStream& main = *streams.back();
  TIM_ASSIGN_OR_RETURN(const uint64_t ticket,
                       main.Enqueue([&](device::Stream& stream) {
                         return EnqueueAll(streams, stream, memory);
                       }));
  std::vector<NodeResult> results;
  for (size_t i = 0; i < memory.outputs.size(); ++i) {
    memory.outputs[i]->set_completion(
        {.stream = streams.back(), .ticket = ticket});
    results.push_back(
        {plan().outputs[i].desc, scalars_[i], std::move(memory.outputs[i])});
  }
  return results;
}

}  // namespace tim::runtime
