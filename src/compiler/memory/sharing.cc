// Finds the values that share memory, before any is placed.
#include "compiler/memory/sharing.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "compiler/memory/in_place_parts.h"
#include "compiler/ports.h"
#include "ir/op_schema.h"

namespace tim::compiler {
namespace {

using ir::Graph;
using ir::NodeId;
using ir::ValueId;

class SharingFinder {
 public:
  explicit SharingFinder(Module& module)
      : module_(module), graph_(module.graph) {}

  Sharing Find() && {
    module_.storages.assign(graph_.value_id_limit(), Storage());
    AddRoots();
    AddViews();
    AddDirectOutputs();
    AddDirectStates();
    AddPartViews();
    AddInPlaceConcats();
    for (ValueId id = 0; id < graph_.value_id_limit(); ++id) Flatten(id);
    return std::move(sharing_);
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
    sharing_.root.resize(graph_.value_id_limit());
    sharing_.offset.resize(graph_.value_id_limit(), 0);
    for (ValueId id = 0; id < graph_.value_id_limit(); ++id)
      sharing_.root[id] = id;
    const auto order = graph_.TopologicalOrder();
    if (!order.ok()) return;  // verified long ago
    for (const NodeId id : *order) {
      if (module_.placements[id].kind != RunKind::kView) continue;
      sharing_.root[graph_.node(id).outputs[0]] =
          sharing_.root[graph_.node(id).inputs[0]];
    }
  }

  // Whether the value is made where output `index` is: there, or by a device
  // with unified memory in the caller's.
  bool IsMadeInPort(ValueId root, int index) const {
    const ir::Layout& layout = graph_.value(root).desc.layout;
    if (graph_.value(graph_.outputs()[index]).desc.layout != layout)
      return false;
    const Port& port = OutputPort(module_, index);
    const int device = module_.locations[root];
    if (port.free ? device != 0 : port.device != 0) {
      return port.free || port.device == device;
    }
    return layout.strided() ||
           module_.JoinsBatch(graph_.value(root).producer) ||
           (device != 0 && module_.device(device).unified_memory);
  }

  // An output is made in the caller's memory, once.
  void AddDirectOutputs() {
    using Kind = ScheduledStep::Kind;
    std::erase_if(module_.schedule, [&](const ScheduledStep& step) {
      if (step.kind != Kind::kOutput) return false;
      const ValueId id = graph_.outputs()[step.index];
      const ValueId root = sharing_.root[id];
      if (module_.storages[root].kind != Storage::Kind::kNone ||
          graph_.value(root).constant || !IsMadeInPort(root, step.index)) {
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
      const ValueId root = sharing_.root[value];
      if (module_.storages[root].kind != Storage::Kind::kNone ||
          graph_.value(root).constant ||
          module_.locations[root] != module_.HomeOf(state)) {
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
      if (CopiedOutput(module_, node, i) != updated.producer_index)
        return false;
      copied = true;
    }
    return copied;
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
        sharing_.root[node.outputs[i]] = node.inputs[0];
        sharing_.offset[node.outputs[i]] = parts.offsets[i];
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
          !(IsFree(node.outputs[0]) || module_.JoinsBatch(id))) {
        continue;
      }
      const InPlaceParts parts =
          ConcatenatedInputs(module_, node, [&](int input, int64_t offset) {
            return CanLieInOutput(node, input, offset);
          });
      for (size_t i = 0; i < parts.offsets.size(); ++i) {
        if (parts.offsets[i] < 0) continue;
        sharing_.root[node.inputs[i]] = node.outputs[0];
        sharing_.offset[node.inputs[i]] = parts.offsets[i];
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

  // A user's kernel may claim a composite, too.  Operands of graphs inside are
  // ports of these.
  static bool WantsAlignment(const ir::Node& node) {
    return node.schema != nullptr &&
           (node.schema->user_kernel || ir::ControlOf(node));
  }

  // It may be placed anywhere: made by a step and in no memory yet.
  bool IsFree(ValueId id) const {
    const ir::Value& value = graph_.value(id);
    return sharing_.root[id] == id && value.producer != ir::kNone &&
           !value.constant &&
           module_.storages[id].kind == Storage::Kind::kNone &&
           !WantsAlignment(graph_.node(value.producer)) && !IsReadByUsers(id);
  }

  bool CanLieInInput(const ir::Node& node, int output, int64_t offset) const {
    const ValueId part = node.outputs[output];
    const ValueId whole = node.inputs[0];
    return part != ir::kNone && offset % kPartAlignment == 0 && IsFree(part) &&
           !graph_.value(sharing_.root[whole]).constant &&
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
      return WantsAlignment(node);
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
    while (sharing_.root[id] != sharing_.root[sharing_.root[id]]) {
      sharing_.offset[id] += sharing_.offset[sharing_.root[id]];
      sharing_.root[id] = sharing_.root[sharing_.root[id]];
    }
  }

  Module& module_;
  const Graph& graph_;
  Sharing sharing_;
};

}  // namespace

Sharing ShareMemory(Module& module) { return SharingFinder(module).Find(); }

int CopiedOutput(const Module& module, NodeId node, int step) {
  using Kind = ir::LoweredOperand::Kind;
  const ir::LoweredStep& lowered = module.lowerings[node].steps[step];
  if (!std::holds_alternative<ir::Copy>(lowered.action) ||
      lowered.operands[0].kind != Kind::kInput ||
      lowered.operands[0].bytes >= 0 ||
      lowered.operands[1].kind != Kind::kOutput) {
    return -1;
  }
  return lowered.operands[1].index;
}

}  // namespace tim::compiler
