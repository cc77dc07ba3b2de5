// Walks over the schedule and gives values and scratch their lifetimes.
#include "compiler/memory/lifetimes.h"

#include <algorithm>

#include "ir/op_schema.h"

namespace tim::compiler {
namespace {

using ir::Graph;
using ir::NodeId;
using ir::ValueId;

class LifetimeFinder {
 public:
  LifetimeFinder(Module& module, const Sharing& sharing)
      : module_(module), graph_(module.graph), sharing_(sharing) {}

  Status Run() {
    module_.scratches.resize(graph_.node_id_limit());
    FindLastReaders();
    for (int step = 0; step < static_cast<int>(module_.schedule.size());
         ++step) {
      TIM_RETURN_IF_ERROR(VisitStep(step));
    }
    return OkStatus();
  }

 private:
  // The last node that reads a value or what lies in it; none where something
  // other than a node reads it.
  void FindLastReaders() {
    last_reader_.assign(graph_.value_id_limit(), ir::kNone);
    for (const ScheduledStep& step : module_.schedule) {
      switch (step.kind) {
        case ScheduledStep::Kind::kOutput:
          last_reader_[sharing_.root[graph_.outputs()[step.index]]] = ir::kNone;
          break;
        case ScheduledStep::Kind::kState:
          last_reader_[sharing_
                           .root[graph_.state_updates()[step.index].value]] =
              ir::kNone;
          break;
        case ScheduledStep::Kind::kNode:
          for (const ValueId id : graph_.node(step.node).inputs) {
            if (id != ir::kNone) last_reader_[sharing_.root[id]] = step.node;
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
          sharing_.root[to] != to || sharing_.root[from] != from ||
          last_reader_[from] != id) {
        continue;
      }
      const auto uses = std::count_if(
          node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
            return input != ir::kNone && sharing_.root[input] == from;
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
    const ValueId root = sharing_.root[id];
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
    const Storage& storage = module_.storages[sharing_.root[id]];
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

  Module& module_;
  const Graph& graph_;
  const Sharing& sharing_;
  std::vector<NodeId> last_reader_;  // by value
};

}  // namespace

Status AddAllocations(Module& module, const Sharing& sharing) {
  return LifetimeFinder(module, sharing).Run();
}

}  // namespace tim::compiler
