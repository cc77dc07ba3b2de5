#include <algorithm>
#include <utility>
#include <variant>

#include "base/checked_math.h"
#include "compiler/eval_scratch.h"
#include "compiler/in_place_parts.h"
#include "compiler/memory_planner.h"
#include "compiler/passes/passes.h"
#include "ir/op_schema.h"

namespace tim::compiler {
namespace {

using ir::Graph;
using ir::NodeId;
using ir::ValueId;

// Finds where every value lives and for how long.
class Planner {
 public:
  explicit Planner(Module& module) : module_(module), graph_(module.graph) {}

  Status Run() {
    module_.storages.assign(graph_.value_id_limit(), Storage());
    module_.scratches.resize(graph_.node_id_limit());
    AddRoots();
    AddViews();
    AddDirectOutputs();
    AddDirectStates();
    AddPartViews();
    AddInPlaceConcats();
    for (ValueId id = 0; id < graph_.value_id_limit(); ++id) Flatten(id);
    FindLastReaders();
    for (int step = 0; step < static_cast<int>(module_.schedule.size());
         ++step) {
      TIM_RETURN_IF_ERROR(VisitStep(step));
    }
    Place();
    DropCopiesToThemselves();
    return OkStatus();
  }

 private:
  // Inputs and states have memory of their own.
  void AddRoots() {
    for (int i = 0; i < static_cast<int>(graph_.inputs().size()); ++i) {
      module_.storages[graph_.inputs()[i]] = {Storage::Kind::kInput, i};
    }
    int state = 0;
    for (const ValueId id : graph_.ValueIds()) {
      if (graph_.value(id).role == ir::Role::kState) {
        module_.storages[id] = {Storage::Kind::kState, state++};
      }
    }
  }

  void AddViews() {
    root_.resize(graph_.value_id_limit());
    offset_.resize(graph_.value_id_limit(), 0);
    for (ValueId id = 0; id < graph_.value_id_limit(); ++id) root_[id] = id;
    const auto order = graph_.TopologicalOrder();
    if (!order.ok()) return;  // verified long ago
    for (const NodeId id : *order) {
      if (module_.placements[id].kind != RunKind::kView) continue;
      root_[graph_.node(id).outputs[0]] = root_[graph_.node(id).inputs[0]];
    }
  }

  // A device with unified memory makes an output in the caller's memory, once.
  void AddDirectOutputs() {
    using Kind = ScheduledStep::Kind;
    std::erase_if(module_.schedule, [&](const ScheduledStep& step) {
      if (step.kind != Kind::kOutput) return false;
      const ValueId id = graph_.outputs()[step.index];
      const ValueId root = root_[id];
      if (module_.storages[root].kind != Storage::Kind::kNone ||
          graph_.value(root).constant || module_.locations[root] == 0 ||
          !module_.device(module_.locations[root]).unified_memory ||
          !graph_.value(root).desc.layout.dense()) {
        return false;
      }
      module_.storages[root] = {Storage::Kind::kOutput, step.index};
      return true;
    });
  }

  // What a state holds after the run is made there, once.
  void AddDirectStates() {
    using Kind = ScheduledStep::Kind;
    std::erase_if(module_.schedule, [&](const ScheduledStep& step) {
      if (step.kind != Kind::kState) return false;
      const auto& [state, value] = graph_.state_updates()[step.index];
      const ValueId root = root_[value];
      if (module_.storages[root].kind != Storage::Kind::kNone ||
          graph_.value(root).constant ||
          module_.locations[root] != module_.primary_device()) {
        return false;
      }
      const int index = module_.storages[state].index;
      module_.storages[root] = {Storage::Kind::kStateWrite, index};
      if (IsOnlyKept(state, root)) {
        module_.storages[state] = module_.storages[root];
      }
      return true;
    });
  }

  // The old value is copied under the new one and read by nothing else.
  bool IsOnlyKept(ValueId state, ValueId root) const {
    const ir::Value& old = graph_.value(state);
    const ir::Value& updated = graph_.value(root);
    if (old.uses.size() != 1 || old.uses[0].node != updated.producer ||
        graph_.IsLiveOut(state)) {
      return false;
    }
    const NodeId node = updated.producer;
    const ir::LoweredOperand read{ir::LoweredOperand::Kind::kInput,
                                  old.uses[0].index};
    const auto& steps = module_.lowerings[node].steps;
    bool copied = false;
    for (int i = 0; i < static_cast<int>(steps.size()); ++i) {
      const auto& operands = steps[i].operands;
      if (std::count(operands.begin(), operands.end(), read) == 0) continue;
      if (CopiedOutput(node, i) != updated.producer_index) return false;
      copied = true;
    }
    return copied;
  }

  // The output that a step of a node only copies an input to, or -1.
  int CopiedOutput(NodeId node, int step) const {
    using Kind = ir::LoweredOperand::Kind;
    const ir::LoweredStep& lowered = module_.lowerings[node].steps[step];
    if (!std::holds_alternative<ir::Copy>(lowered.action) ||
        lowered.operands[0].kind != Kind::kInput ||
        lowered.operands[0].bytes >= 0 ||
        lowered.operands[1].kind != Kind::kOutput) {
      return -1;
    }
    return lowered.operands[1].index;
  }

  // Outputs that are parts of an input are read there; the steps that would
  // copy them go.  What is made in the caller's memory is copied there, once.
  void AddPartViews() {
    for (const NodeId id : graph_.NodeIds()) {
      const ir::Node& node = graph_.node(id);
      const InPlaceParts parts =
          ViewedOutputs(module_, node, [&](int output, int64_t offset) {
            return CanLieInInput(node, output, offset);
          });
      for (size_t i = 0; i < parts.offsets.size(); ++i) {
        if (parts.offsets[i] < 0) continue;
        root_[node.outputs[i]] = node.inputs[0];
        offset_[node.outputs[i]] = parts.offsets[i];
      }
      LeaveOut(id, parts.left_out);
    }
  }

  // Inputs that a node only concatenates are made in its output; the steps that
  // would copy them go.
  void AddInPlaceConcats() {
    for (const NodeId id : graph_.NodeIds()) {
      const ir::Node& node = graph_.node(id);
      if (node.outputs.empty() || node.outputs[0] == ir::kNone ||
          !IsFree(node.outputs[0])) {
        continue;
      }
      const InPlaceParts parts =
          ConcatenatedInputs(module_, node, [&](int input, int64_t offset) {
            return CanLieInOutput(node, input, offset);
          });
      for (size_t i = 0; i < parts.offsets.size(); ++i) {
        if (parts.offsets[i] < 0) continue;
        root_[node.inputs[i]] = node.outputs[0];
        offset_[node.inputs[i]] = parts.offsets[i];
      }
      LeaveOut(id, parts.left_out);
    }
  }

  void LeaveOut(NodeId node, const std::vector<int>& steps) {
    if (steps.empty()) return;
    std::erase_if(module_.schedule, [&](const ScheduledStep& step) {
      return step.kind == ScheduledStep::Kind::kNode && step.node == node &&
             std::count(steps.begin(), steps.end(), step.index) != 0;
    });
  }

  // It may be placed anywhere: made by a step and in no memory yet.
  bool IsFree(ValueId id) const {
    const ir::Value& value = graph_.value(id);
    return root_[id] == id && value.producer != ir::kNone && !value.constant &&
           module_.storages[id].kind == Storage::Kind::kNone &&
           !ir::HasUserKernel(graph_.node(value.producer)) &&
           !IsReadByUsers(id);
  }

  bool CanLieInInput(const ir::Node& node, int output, int64_t offset) const {
    const ValueId part = node.outputs[output];
    const ValueId whole = node.inputs[0];
    return part != ir::kNone && offset % kPartAlignment == 0 && IsFree(part) &&
           !graph_.value(root_[whole]).constant &&
           module_.locations[part] == module_.locations[whole];
  }

  // Users' kernels need the device's alignment.
  bool IsReadByUsers(ValueId id) const {
    const auto& uses = graph_.value(id).uses;
    return std::any_of(uses.begin(), uses.end(), [&](const ir::Use& use) {
      const ir::Node& node = graph_.node(use.node);
      if (module_.placements[use.node].kind == RunKind::kView) {
        return IsReadByUsers(node.outputs[0]);
      }
      return ir::HasUserKernel(node);
    });
  }

  bool CanLieInOutput(const ir::Node& node, int input, int64_t offset) const {
    const ValueId part = node.inputs[input];
    const auto first = std::find(node.inputs.begin(), node.inputs.end(), part);
    return offset >= 0 && offset % kPartAlignment == 0 &&
           first == node.inputs.begin() + input && IsFree(part) &&
           module_.locations[part] == module_.locations[node.outputs[0]];
  }

  // Views of parts and parts of parts: straight to the whole.
  void Flatten(ValueId id) {
    while (root_[id] != root_[root_[id]]) {
      offset_[id] += offset_[root_[id]];
      root_[id] = root_[root_[id]];
    }
  }

  // Of every value or what it lies in; none where something other than a node
  // reads it.
  void FindLastReaders() {
    last_reader_.assign(graph_.value_id_limit(), ir::kNone);
    for (const ScheduledStep& step : module_.schedule) {
      switch (step.kind) {
        case ScheduledStep::Kind::kOutput:
          last_reader_[root_[graph_.outputs()[step.index]]] = ir::kNone;
          break;
        case ScheduledStep::Kind::kState:
          last_reader_[root_[graph_.state_updates()[step.index].value]] =
              ir::kNone;
          break;
        case ScheduledStep::Kind::kNode:
          for (const ValueId id : graph_.node(step.node).inputs) {
            if (id != ir::kNone) last_reader_[root_[id]] = step.node;
          }
      }
    }
  }

  // The memory of an input that `node` is the last to read, if the output may
  // take it.
  const Storage* MemoryToReuse(NodeId id, int output) const {
    const ir::Node& node = graph_.node(id);
    const ValueId to = node.outputs[output];
    for (const ir::InPlacePair& pair : module_.lowerings[id].in_place) {
      const ValueId from = node.inputs[pair.input];
      if (pair.output != output || !FitInPlace(module_, node, pair) ||
          root_[to] != to || root_[from] != from || last_reader_[from] != id) {
        continue;
      }
      const auto uses = std::count_if(
          node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
            return input != ir::kNone && root_[input] == from;
          });
      if (uses == 1 &&
          module_.storages[from].kind == Storage::Kind::kAllocation) {
        return &module_.storages[from];
      }
    }
    return nullptr;
  }

  Status VisitStep(int step) {
    const ScheduledStep& scheduled = module_.schedule[step];
    switch (scheduled.kind) {
      case ScheduledStep::Kind::kOutput:
        Touch(graph_.outputs()[scheduled.index], step);
        return OkStatus();
      case ScheduledStep::Kind::kState:
        Touch(graph_.state_updates()[scheduled.index].value, step);
        return OkStatus();
      case ScheduledStep::Kind::kNode:
        break;
    }
    const ir::Node& node = graph_.node(scheduled.node);
    for (int i = 0; i < static_cast<int>(node.outputs.size()); ++i) {
      TIM_RETURN_IF_ERROR(Define(scheduled.node, i, step));
    }
    for (const ValueId id : node.inputs) Touch(id, step);
    // A node of several steps holds its operands through all of them.
    for (const ValueId id : node.outputs) Touch(id, step);
    AddScratch(scheduled.node, step);
    return OkStatus();
  }

  Status Define(NodeId node, int output, int step) {
    const ValueId id = graph_.node(node).outputs[output];
    if (id == ir::kNone) return OkStatus();
    const ValueId root = root_[id];
    if (module_.storages[root].kind != Storage::Kind::kNone) return OkStatus();
    if (const Storage* reused = MemoryToReuse(node, output)) {
      module_.storages[root] = *reused;
      return OkStatus();
    }
    TIM_ASSIGN_OR_RETURN(const int64_t bytes,
                         ir::ByteSize(graph_.value(root).desc));
    module_.storages[root] = {Storage::Kind::kAllocation,
                              static_cast<int>(module_.allocations.size())};
    module_.allocations.push_back({.device = module_.locations[root],
                                   .bytes = bytes,
                                   .first_step = step,
                                   .last_step = step});
    return OkStatus();
  }

  void Touch(ValueId id, int step) {
    if (id == ir::kNone) return;
    const Storage& storage = module_.storages[root_[id]];
    if (storage.kind != Storage::Kind::kAllocation) return;
    int& last = module_.allocations[storage.index].last_step;
    last = std::max(last, step);
  }

  // At the node's first step.  Lifetimes count the steps of its lowering, of
  // which some may be left out.
  void AddScratch(NodeId node, int step) {
    const std::vector<ir::ScratchSpec>& scratch =
        module_.lowerings[node].scratch;
    if (module_.scratches[node].size() == scratch.size()) return;
    for (const ir::ScratchSpec& spec : scratch) {
      int first = -1;
      int last = -1;
      for (int i = step; IsStepOf(node, i); ++i) {
        const int index = module_.schedule[i].index;
        if (index < spec.first || index > spec.last) continue;
        if (first < 0) first = i;
        last = i;
      }
      module_.scratches[node].push_back(
          first < 0 ? -1 : static_cast<int>(module_.allocations.size()));
      if (first < 0) continue;
      module_.allocations.push_back({.device = module_.placements[node].device,
                                     .bytes = spec.bytes,
                                     .first_step = first,
                                     .last_step = last});
    }
  }

  bool IsStepOf(NodeId node, int step) const {
    return step < static_cast<int>(module_.schedule.size()) &&
           module_.schedule[step].kind == ScheduledStep::Kind::kNode &&
           module_.schedule[step].node == node;
  }

  void Place() {
    for (ValueId id = 0; id < graph_.value_id_limit(); ++id) {
      if (root_[id] == id) continue;
      module_.storages[id] = module_.storages[root_[id]];
      module_.storages[id].offset = offset_[id];
    }
    for (int d = 0; d < static_cast<int>(module_.options.devices.size()); ++d) {
      PlaceOn(d);
    }
  }

  // Of what is kept where it is.
  void DropCopiesToThemselves() {
    std::erase_if(module_.schedule, [&](const ScheduledStep& step) {
      if (step.kind != ScheduledStep::Kind::kNode ||
          module_.placements[step.node].kind != RunKind::kKernel) {
        return false;
      }
      const int output = CopiedOutput(step.node, step.index);
      if (output < 0) return false;
      const ir::Node& node = graph_.node(step.node);
      const int input =
          module_.lowerings[step.node].steps[step.index].operands[0].index;
      return module_.storages[node.inputs[input]] ==
             module_.storages[node.outputs[output]];
    });
  }

  void PlaceOn(int device) {
    std::vector<MemoryRange> ranges;
    std::vector<int> indices;
    for (int i = 0; i < static_cast<int>(module_.allocations.size()); ++i) {
      const Allocation& allocation = module_.allocations[i];
      if (allocation.device != device) continue;
      ranges.push_back(
          {allocation.bytes, allocation.first_step, allocation.last_step});
      indices.push_back(i);
    }
    const int64_t alignment = module_.device(device).alignment;
    const MemoryLayout layout = PlaceBest(ranges, alignment);
    for (size_t i = 0; i < indices.size(); ++i) {
      module_.allocations[indices[i]].offset = layout.offsets[i];
      module_.memory.no_reuse_sum += AlignUp(ranges[i].bytes, alignment);
    }
    module_.arena_bytes.push_back(layout.peak);
    module_.memory.lower_bound += MemoryLowerBound(ranges, alignment);
    module_.memory.peak += layout.peak;
  }

  Module& module_;
  const Graph& graph_;
  // By value: the one whose memory it uses, and where in it.
  std::vector<ValueId> root_;
  std::vector<int64_t> offset_;
  std::vector<NodeId> last_reader_;  // by value
};

}  // namespace

Status PlanMemory(Module& module) {
  TIM_RETURN_IF_ERROR(Planner(module).Run());
  TIM_ASSIGN_OR_RETURN(module.memory.eval_scratch, EvalScratchBytes(module));
  return OkStatus();
}

}  // namespace tim::compiler
