#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "compiler/passes/passes.h"
#include "compiler/queue_schedule.h"
#include "ir/effect_order.h"

namespace tim::compiler {
namespace {

using ir::Graph;
using ir::NodeId;
using ir::ValueId;

int64_t ValueBytes(const Graph& graph, ValueId id) {
  const Result<int64_t> bytes = ir::ByteSize(graph.value(id).desc);
  return bytes.ok() ? *bytes : 0;
}

// Follows live bytes while nodes are scheduled one after another.
class LiveBytes {
 public:
  explicit LiveBytes(const Module& module)
      : module_(module),
        graph_(module.graph),
        readers_(graph_.value_id_limit(), 0) {
    for (const ValueId id : graph_.ValueIds()) {
      readers_[id] = static_cast<int>(graph_.value(id).uses.size());
    }
  }

  // Bytes that running the node adds for good: outputs minus last-read inputs.
  int64_t Growth(NodeId id) const {
    int64_t growth = 0;
    for (const ValueId output : graph_.node(id).outputs) {
      if (output != ir::kNone && !graph_.value(output).uses.empty()) {
        growth += ValueBytes(graph_, output);
      }
    }
    for (const ValueId input : Operands(id)) {
      if (readers_[input] == Count(id, input)) {
        growth -= ValueBytes(graph_, input);
      }
    }
    return growth;
  }

  // The most bytes that were live at a time, if the node ran next.
  int64_t PeakWith(NodeId id) const {
    int64_t produced = 0;
    for (const ValueId output : graph_.node(id).outputs) {
      if (output != ir::kNone) produced += ValueBytes(graph_, output);
    }
    return std::max(peak_, live_ + produced - InPlaceBytes(id));
  }

  void Run(NodeId id) {
    peak_ = PeakWith(id);
    live_ += Growth(id);
    for (const ValueId input : Operands(id)) {
      readers_[input] -= Count(id, input);
    }
  }

  int64_t peak() const { return peak_; }

 private:
  // Distinct inputs that live in arenas.
  std::set<ValueId> Operands(NodeId id) const {
    std::set<ValueId> out;
    for (const ValueId input : graph_.node(id).inputs) {
      if (input != ir::kNone && graph_.value(input).producer != ir::kNone) {
        out.insert(input);
      }
    }
    return out;
  }

  // Of outputs that will lie where an input lies.
  int64_t InPlaceBytes(NodeId id) const {
    const ir::Node& node = graph_.node(id);
    int64_t bytes = 0;
    std::set<int> placed;
    for (const ir::InPlacePair& pair : module_.lowerings[id].in_place) {
      if (FitInPlace(module_, node, pair) &&
          readers_[node.inputs[pair.input]] == 1 &&
          placed.insert(pair.output).second) {
        bytes += ValueBytes(graph_, node.outputs[pair.output]);
      }
    }
    return bytes;
  }

  int Count(NodeId id, ValueId input) const {
    const auto& inputs = graph_.node(id).inputs;
    return static_cast<int>(std::count(inputs.begin(), inputs.end(), input));
  }

  const Module& module_;
  const Graph& graph_;
  std::vector<int> readers_;
  int64_t live_ = 0;
  int64_t peak_ = 0;
};

int64_t Peak(const Module& module, const std::vector<NodeId>& order) {
  LiveBytes live(module);
  for (const NodeId id : order) live.Run(id);
  return live.peak();
}

// Which of the nodes that may run next does: the one that adds least for good,
// or, before that, the one that least exceeds what was ever live; of equal ones
// the first or the last.
struct Preference {
  bool low_peak = false;
  bool last = false;
};
constexpr Preference kPreferences[] = {
    {false, false}, {false, true}, {true, false}, {true, true}};

// By what nodes are chosen, least first.
std::tuple<int64_t, int64_t, NodeId> KeyOf(const LiveBytes& live, NodeId id,
                                           const Preference& preference) {
  return {preference.low_peak ? live.PeakWith(id) : 0, live.Growth(id),
          preference.last ? -id : id};
}

std::vector<NodeId> GreedyOrder(const Module& module,
                                const Preference& preference) {
  const Graph& graph = module.graph;
  constexpr size_t kCandidates = 32;  // keeps wide graphs linear
  const ir::EffectChain effects(graph);
  std::vector<int> missing(graph.node_id_limit(), 0);
  std::set<NodeId> ready;
  for (const NodeId id : graph.NodeIds()) {
    for (const ValueId input : graph.node(id).inputs) {
      if (input != ir::kNone && graph.value(input).producer != ir::kNone) {
        ++missing[id];
      }
    }
    if (effects.Before(id) != ir::kNone) ++missing[id];
    if (missing[id] == 0) ready.insert(id);
  }
  LiveBytes live(module);
  std::vector<NodeId> order;
  while (!ready.empty()) {
    NodeId best = *ready.begin();
    auto best_key = KeyOf(live, best, preference);
    size_t looked_at = 0;
    for (const NodeId id : ready) {
      if (++looked_at > kCandidates) break;
      const auto key = KeyOf(live, id, preference);
      if (key < best_key) {
        best = id;
        best_key = key;
      }
    }
    ready.erase(best);
    live.Run(best);
    order.push_back(best);
    const NodeId behind = effects.After(best);
    if (behind != ir::kNone && --missing[behind] == 0) ready.insert(behind);
    for (const ValueId output : graph.node(best).outputs) {
      if (output == ir::kNone) continue;
      for (const ir::Use& use : graph.value(output).uses) {
        if (--missing[use.node] == 0) ready.insert(use.node);
      }
    }
  }
  return order;
}

// A copy of an output follows its producer at once, so that its memory is free
// early; outputs that no node makes come last.
void Schedule(Module& module, const std::vector<NodeId>& order) {
  using Kind = ScheduledStep::Kind;
  const Graph& graph = module.graph;
  std::vector<std::vector<ScheduledStep>> after(graph.value_id_limit());
  for (int i = 0; i < static_cast<int>(graph.outputs().size()); ++i) {
    after[graph.outputs()[i]].push_back({Kind::kOutput, ir::kNone, i});
  }
  for (int i = 0; i < static_cast<int>(graph.state_updates().size()); ++i) {
    after[graph.state_updates()[i].value].push_back(
        {Kind::kState, ir::kNone, i});
  }
  const auto flush = [&](ValueId id) {
    std::move(after[id].begin(), after[id].end(),
              std::back_inserter(module.schedule));
    after[id].clear();
  };
  for (const NodeId id : order) {
    const RunKind kind = module.placements[id].kind;
    const int steps = kind == RunKind::kKernel
                          ? static_cast<int>(module.lowerings[id].steps.size())
                      : kind == RunKind::kView ? 0
                                               : 1;
    for (int step = 0; step < steps; ++step) {
      module.schedule.push_back({Kind::kNode, id, step});
    }
    for (const ValueId output : graph.node(id).outputs) {
      if (output != ir::kNone) flush(output);
    }
  }
  for (const ValueId id : graph.ValueIds()) {
    const ir::Value& value = graph.value(id);
    if (value.role != ir::Role::kTransient) flush(id);
  }
}

}  // namespace

Status Order(Module& module) {
  if (module.has_queues()) {
    TIM_ASSIGN_OR_RETURN(const std::vector<NodeId> order,
                         ScheduleQueues(module));
    Schedule(module, order);
    return OkStatus();
  }
  TIM_ASSIGN_OR_RETURN(std::vector<NodeId> order,
                       module.graph.TopologicalOrder());
  int64_t peak = Peak(module, order);
  for (const Preference& preference : kPreferences) {
    std::vector<NodeId> greedy = GreedyOrder(module, preference);
    const int64_t greedy_peak = Peak(module, greedy);
    if (greedy_peak >= peak) continue;
    peak = greedy_peak;
    order = std::move(greedy);
  }
  Schedule(module, order);
  return OkStatus();
}

}  // namespace tim::compiler
