#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/candidates.h"
#include "compiler/chains.h"
#include "compiler/constant_blocks.h"
#include "compiler/device_room.h"
#include "compiler/hazards.h"
#include "compiler/passes/passes.h"
#include "compiler/ports.h"
#include "compiler/step_work.h"
#include "ir/effect_order.h"

namespace tim::compiler {
namespace {

using ir::Graph;
using ir::Plan;
using ir::Slot;
using ir::SlotKind;
using ir::Step;
using ir::ValueId;

// What a kernel packs of equal constants is equal.
std::string PackedId(const Graph& graph, const ir::Node& node,
                     const ir::PackedConstant& packed) {
  std::string id = packed.id;
  for (const int source : packed.sources) {
    const ir::Value& value = graph.value(node.inputs[source]);
    id += ":";
    id += value.constant->hash.ToString();
  }
  return id;
}

class Emitter {
 public:
  explicit Emitter(Module& module)
      : module_(module),
        graph_(module.graph),
        constants_(module.options.devices) {}

  Result<Plan> Run() {
    plan_.graph = graph_.name();
    plan_.options = {.strict = module_.options.strict,
                     .fold = module_.options.fold};
    plan_.devices = module_.options.devices;
    plan_.memory = module_.memory;
    plan_.decisions = module_.decisions;
    plan_.notes.partition = module_.partition;
    AddArenas();
    AddTensors();
    const bool queues = module_.has_queues();
    Hazards hazards(
        plan_, queues ? Hazards::Scope::kAllMemory : Hazards::Scope::kArenas);
    for (const ScheduledStep& scheduled : module_.schedule) {
      Step step;
      plan_.notes.operands.emplace_back();
      TIM_RETURN_IF_ERROR(MakeStep(scheduled, &step));
      step.waits = hazards.WaitsOf(step);
      AwaitEffects(scheduled, &step);
      plan_.steps.push_back(std::move(step));
      if (queues || UsesHostSteps()) {
        hazards.Add(static_cast<int>(plan_.steps.size()) - 1);
      }
    }
    if (!module_.options.many_shapes) plan_.chains = FindChains(plan_);
    TIM_ASSIGN_OR_RETURN(plan_.constants, constants_.Make());
    TIM_RETURN_IF_ERROR(CheckRoom(plan_));
    TIM_RETURN_IF_ERROR(ir::Verify(plan_));
    return std::move(plan_);
  }

 private:
  // Only then do steps of two devices meet in an arena.
  bool UsesHostSteps() const { return module_.arena_bytes[0] > 0; }

  void AddArenas() {
    for (int d = 0; d < static_cast<int>(module_.arena_bytes.size()); ++d) {
      plan_.arenas.push_back(
          {.device = d,
           .memory = d == 0 ? ir::MemoryKind::kHost : ir::MemoryKind::kDevice,
           .bytes = module_.arena_bytes[d]});
    }
  }

  void AddTensors() {
    for (int i = 0; i < static_cast<int>(graph_.inputs().size()); ++i) {
      const ir::Value& input = graph_.value(graph_.inputs()[i]);
      plan_.inputs.push_back(
          {input.name, input.desc, InputPort(module_, i).device});
    }
    for (int i = 0; i < static_cast<int>(graph_.outputs().size()); ++i) {
      plan_.outputs.push_back({module_.output_names[i],
                               graph_.value(graph_.outputs()[i]).desc,
                               OutputDevice(i)});
    }
    for (const ValueId id : graph_.ValueIds()) {
      if (graph_.value(id).role != ir::Role::kState) continue;
      state_index_[id] = static_cast<int>(plan_.states.size());
      plan_.states.push_back({.name = graph_.value(id).name,
                              .desc = Dense(id),
                              .device = module_.HomeOf(id),
                              .written = false,
                              .in_place = module_.storages[id].kind ==
                                          Storage::Kind::kStateWrite});
    }
    for (const auto& update : graph_.state_updates()) {
      plan_.states[state_index_.at(update.state)].written = true;
    }
  }

  int OutputDevice(int index) const {
    const Port& port = OutputPort(module_, index);
    if (!port.free) return port.device;
    const ValueId id = graph_.outputs()[index];
    return graph_.value(id).constant ? 0 : module_.locations[id];
  }

  ir::TensorDesc Dense(ValueId id) const {
    ir::TensorDesc desc = graph_.value(id).desc;
    desc.layout = ir::Layout::Dense();
    return desc;
  }

  // The step's effects are seen after those of earlier ones.
  void AwaitEffects(const ScheduledStep& scheduled, Step* step) {
    if (scheduled.kind != ScheduledStep::Kind::kNode ||
        !ir::HasOrderedEffects(graph_.node(scheduled.node))) {
      return;
    }
    const int before =
        std::exchange(last_with_effects_, static_cast<int>(plan_.steps.size()));
    std::vector<int>& waits = step->waits;
    if (before < 0 || ir::InOneQueue(plan_.steps[before], *step) ||
        std::find(waits.begin(), waits.end(), before) != waits.end()) {
      return;
    }
    waits.push_back(before);
    std::sort(waits.begin(), waits.end());
  }

  Status MakeStep(const ScheduledStep& scheduled, Step* step) {
    switch (scheduled.kind) {
      case ScheduledStep::Kind::kOutput:
        return MakeOutputCopy(scheduled.index, step);
      case ScheduledStep::Kind::kState:
        return MakeStateCopy(scheduled.index, step);
      case ScheduledStep::Kind::kNode:
        break;
    }
    const ir::Node& node = graph_.node(scheduled.node);
    const Placement& placement = module_.placements[scheduled.node];
    step->label = node.name;
    step->device = placement.device;
    step->stream = module_.StreamOf(scheduled.node);
    if (!plan_.notes.work.contains(node.name)) {
      plan_.notes.work[node.name] = WorkOf(graph_, node);
    }
    switch (placement.kind) {
      case RunKind::kKernel:
        return MakeKernelStep(scheduled, step);
      case RunKind::kControl:
        return MakeLoweredStep(scheduled, step);
      case RunKind::kEval:
        return MakeEvalStep(node, step);
      case RunKind::kTransfer:
        return MakeTransferStep(node, step);
      case RunKind::kView:
        break;
    }
    return TIM_INTERNAL("a view has no step");
  }

  Status MakeKernelStep(const ScheduledStep& scheduled, Step* step) {
    step->kernel = module_.placements[scheduled.node].kernel->name;
    return MakeLoweredStep(scheduled, step);
  }

  Status MakeLoweredStep(const ScheduledStep& scheduled, Step* step) {
    const ir::Node& node = graph_.node(scheduled.node);
    const ir::LoweredStep& lowered =
        module_.lowerings[scheduled.node].steps[scheduled.index];
    step->action = lowered.action;
    step->written = lowered.written;
    for (const ir::LoweredOperand& operand : lowered.operands) {
      TIM_ASSIGN_OR_RETURN(const int slot, LoweredSlot(scheduled.node, node,
                                                       operand, step->device));
      step->operands.push_back(slot);
      NoteLowered(node, operand);
    }
    return OkStatus();
  }

  Result<int> LoweredSlot(ir::NodeId id, const ir::Node& node,
                          const ir::LoweredOperand& operand, int device) {
    using Kind = ir::LoweredOperand::Kind;
    switch (operand.kind) {
      case Kind::kInput:
        return PartSlot(node.inputs[operand.index], operand, device);
      case Kind::kOutput:
        return PartSlot(node.outputs[operand.index], operand, device);
      case Kind::kScratch:
        return ScratchSlot(module_.scratches[id][operand.index]);
      case Kind::kPacked:
        return PackedSlot(node, module_.lowerings[id].packed[operand.index],
                          device);
    }
    return TIM_INTERNAL("an operand of no kind");
  }

  Status MakeEvalStep(const ir::Node& node, Step* step) {
    ir::HostCall call{
        .op = node.composite ? node.composite->name : node.schema->Key(),
        .name = node.name,
        .attributes = node.attributes,
        .body = {},
        .inputs = {},
        .outputs = {}};
    if (node.composite) {
      call.body =
          std::shared_ptr<const Graph>(node.composite, &node.composite->body);
    }
    const auto add = [&](ValueId id, bool written, auto* operands) -> Status {
      operands->emplace_back();
      if (id == ir::kNone) return OkStatus();
      const ir::Value& value = graph_.value(id);
      operands->back() = {value.desc, value.role == ir::Role::kConstant,
                          value.is_scalar};
      TIM_ASSIGN_OR_RETURN(const int slot, ValueSlot(id, step->device));
      step->operands.push_back(slot);
      step->written.push_back(written);
      NoteOperand(id);
      return OkStatus();
    };
    for (const ValueId id : node.inputs) {
      TIM_RETURN_IF_ERROR(add(id, false, &call.inputs));
    }
    for (const ValueId id : node.outputs) {
      TIM_RETURN_IF_ERROR(add(id, true, &call.outputs));
    }
    step->action = std::move(call);
    return OkStatus();
  }

  Status MakeTransferStep(const ir::Node& node, Step* step) {
    TIM_ASSIGN_OR_RETURN(
        const int from,
        ValueSlot(node.inputs[0], module_.locations[node.inputs[0]]));
    TIM_ASSIGN_OR_RETURN(
        const int to,
        ValueSlot(node.outputs[0], module_.locations[node.outputs[0]]));
    NoteOperand(node.inputs[0]);
    NoteOperand(node.outputs[0]);
    return MakeCopy(from, to, step);
  }

  Status MakeCopy(int from, int to, Step* step) {
    step->action = ir::Copy{plan_.slots[to].bytes};
    step->operands = {from, to};
    step->written = {false, true};
    return OkStatus();
  }

  Status MakeOutputCopy(int index, Step* step) {
    const ValueId id = graph_.outputs()[index];
    step->label = StrCat("output ", module_.output_names[index]);
    const int device = plan_.outputs[index].device;
    step->device = graph_.value(id).constant ? device : module_.locations[id];
    // What devices import is the host's.
    if (device == 0 && IsInputOfHost(module_.storages[id])) step->device = 0;
    step->stream = StreamOfMaker(id, step->device);
    TIM_ASSIGN_OR_RETURN(const int from, ValueSlot(id, step->device));
    const int to = AddSlot({.kind = SlotKind::kOutput,
                            .device = device,
                            .index = index,
                            .bytes = plan_.slots[from].bytes});
    NoteOperand(id);
    NoteOperand(id);
    return MakeCopy(from, to, step);
  }

  int StateDevice(int state) const {
    return plan_.states[static_cast<size_t>(state)].device;
  }

  // Copies of a value follow what makes it, in its stream.
  int StreamOfMaker(ValueId id, int device) const {
    const ir::NodeId maker = graph_.value(id).producer;
    if (maker == ir::kNone || module_.placements[maker].device != device) {
      return 0;
    }
    return module_.StreamOf(maker);
  }

  bool IsInputOfHost(const Storage& storage) const {
    return storage.kind == Storage::Kind::kInput &&
           plan_.inputs[storage.index].device == 0;
  }

  Status MakeStateCopy(int index, Step* step) {
    const auto& update = graph_.state_updates()[index];
    const int state = state_index_.at(update.state);
    step->device = module_.HomeOf(update.state);
    step->label = StrCat("state ", graph_.value(update.state).name);
    step->stream = StreamOfMaker(update.value, step->device);
    TIM_ASSIGN_OR_RETURN(const int from, ValueSlot(update.value, step->device));
    const int to = AddSlot({.kind = SlotKind::kStateWrite,
                            .device = step->device,
                            .index = state,
                            .bytes = plan_.slots[from].bytes});
    NoteOperand(update.value);
    NoteOperand(update.value);
    return MakeCopy(from, to, step);
  }

  // The next operand of the step that is being made.
  void NoteOperand(ValueId id, int64_t offset = 0) {
    ir::PlanNotes& notes = plan_.notes;
    const auto [known, added] =
        noted_.emplace(id, static_cast<int>(notes.values.size()));
    if (added) {
      const ir::Value& value = graph_.value(id);
      notes.values.push_back({value.name, value.desc});
    }
    notes.operands.back().push_back({known->second, offset});
  }

  void NoteLowered(const ir::Node& node, const ir::LoweredOperand& operand) {
    using Kind = ir::LoweredOperand::Kind;
    const int64_t offset = operand.bytes < 0 ? 0 : operand.offset;
    switch (operand.kind) {
      case Kind::kInput:
        return NoteOperand(node.inputs[operand.index], offset);
      case Kind::kOutput:
        return NoteOperand(node.outputs[operand.index], offset);
      case Kind::kScratch:
      case Kind::kPacked:
        plan_.notes.operands.back().emplace_back();
        return;
    }
  }

  // The slot of a value as `device` sees it.
  Result<int> ValueSlot(ValueId id, int device) {
    const ir::Value& value = graph_.value(id);
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(value.desc));
    if (value.constant) {
      return AddSlot(constants_.Add(device, value.constant));
    }
    const Storage& storage = module_.storages[id];
    switch (storage.kind) {
      case Storage::Kind::kInput:
        return AddSlot({.kind = SlotKind::kInput,
                        .device = device,
                        .index = storage.index,
                        .offset = storage.offset,
                        .bytes = bytes});
      case Storage::Kind::kOutput:
        return AddSlot({.kind = SlotKind::kOutput,
                        .device = device,
                        .index = storage.index,
                        .offset = storage.offset,
                        .bytes = bytes});
      case Storage::Kind::kState:
        return AddSlot({.kind = SlotKind::kStateRead,
                        .device = StateDevice(storage.index),
                        .index = storage.index,
                        .offset = storage.offset,
                        .bytes = bytes});
      case Storage::Kind::kStateWrite:
        return AddSlot({.kind = SlotKind::kStateWrite,
                        .device = StateDevice(storage.index),
                        .index = storage.index,
                        .offset = storage.offset,
                        .bytes = bytes});
      case Storage::Kind::kAllocation:
        return AllocationSlot(storage.index, storage.offset, bytes);
      case Storage::Kind::kNone:
        break;
    }
    return TIM_INTERNAL("tensor ", value.name, " has no memory");
  }

  // Of a value that a step has as a whole, or a part of.
  Result<int> PartSlot(ValueId id, const ir::LoweredOperand& part, int device) {
    TIM_ASSIGN_OR_RETURN(const int whole, ValueSlot(id, device));
    if (part.bytes < 0) return whole;
    Slot slot = plan_.slots[whole];
    slot.offset += part.offset;
    slot.bytes = part.bytes;
    return AddSlot(slot);
  }

  int PackedSlot(const ir::Node& node, const ir::PackedConstant& packed,
                 int device) {
    return AddSlot(constants_.Add(device, PackedId(graph_, node, packed),
                                  packed.bytes, packed.pack));
  }

  int ScratchSlot(int allocation) {
    return AllocationSlot(allocation, 0, module_.allocations[allocation].bytes);
  }

  int AllocationSlot(int index, int64_t offset, int64_t bytes) {
    const Allocation& allocation = module_.allocations[index];
    return AddSlot({.kind = SlotKind::kArena,
                    .device = allocation.device,
                    .index = allocation.device,
                    .offset = allocation.offset + offset,
                    .bytes = bytes,
                    .allocation = index});
  }

  int AddSlot(const Slot& slot) {
    const auto key = std::tuple(slot.kind, slot.device, slot.index, slot.offset,
                                slot.bytes, slot.allocation);
    const auto [it, added] =
        slots_.emplace(key, static_cast<int>(plan_.slots.size()));
    if (added) plan_.slots.push_back(slot);
    return it->second;
  }

  Module& module_;
  const Graph& graph_;
  Plan plan_;
  ConstantBlocks constants_;
  std::map<ValueId, int> state_index_;
  std::map<ValueId, int> noted_;  // in the plan's notes
  int last_with_effects_ = -1;    // of the plan's steps
  std::map<std::tuple<SlotKind, int, int, int64_t, int64_t, int>, int> slots_;
};

}  // namespace

Result<ir::Plan> Emit(Module& module) { return Emitter(module).Run(); }

}  // namespace tim::compiler
