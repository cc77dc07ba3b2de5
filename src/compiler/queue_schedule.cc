// Simulates queues, and hands each node over when it can begin.
#include "compiler/queue_schedule.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "compiler/candidates.h"
#include "ir/effect_order.h"

namespace tim::compiler {
namespace {

using ir::NodeId;
using ir::ValueId;

class Scheduler {
 public:
  explicit Scheduler(Module& module)
      : module_(module),
        graph_(module.graph),
        effects_(graph_),
        ends_(static_cast<size_t>(graph_.node_id_limit()), 0),
        ranks_(ends_.size(), 0),
        missing_(ends_.size(), 0) {
    module.streams.assign(ends_.size(), 0);
    for (int d = 0; d < static_cast<int>(module.options.devices.size()); ++d) {
      const auto count = static_cast<size_t>(module.Streams(d));
      free_.emplace_back(count, 0.0);
      last_.emplace_back(count, ir::kNone);
    }
  }

  std::vector<NodeId> Run(const std::vector<NodeId>& order) {
    Rank(order);
    std::vector<NodeId> ready;
    for (const NodeId id : order) {
      missing_[Index(id)] = static_cast<int>(Producers(id).size());
      if (missing_[Index(id)] == 0) ready.push_back(id);
    }
    std::vector<NodeId> result;
    while (!ready.empty()) {
      const size_t next = Next(ready);
      const NodeId id = ready[next];
      ready.erase(ready.begin() + static_cast<ptrdiff_t>(next));
      Do(id);
      result.push_back(id);
      for (const NodeId reader : Readers(id)) {
        if (--missing_[Index(reader)] == 0) ready.push_back(reader);
      }
    }
    return result;
  }

 private:
  static size_t Index(NodeId id) { return static_cast<size_t>(id); }
  bool IsFree(NodeId id) const {
    return module_.placements[Index(id)].kind == RunKind::kView;
  }
  size_t Device(NodeId id) const {
    return static_cast<size_t>(module_.placements[Index(id)].device);
  }
  double Cost(NodeId id) const {
    if (IsFree(id)) return 0;
    return PredictedUs(module_.placements[Index(id)], module_.costs[Index(id)]);
  }

  // Nodes that have ended when the node begins.
  std::vector<NodeId> Producers(NodeId id) const {
    std::vector<NodeId> found;
    for (const ValueId input : graph_.node(id).inputs) {
      if (input == ir::kNone) continue;
      AddUnique(graph_.value(input).producer, &found);
    }
    AddUnique(effects_.Before(id), &found);
    return found;
  }
  std::vector<NodeId> Readers(NodeId id) const {
    std::vector<NodeId> found;
    for (const ValueId output : graph_.node(id).outputs) {
      if (output == ir::kNone) continue;
      for (const ir::Use& use : graph_.value(output).uses) {
        AddUnique(use.node, &found);
      }
    }
    AddUnique(effects_.After(id), &found);
    return found;
  }
  static void AddUnique(NodeId id, std::vector<NodeId>* list) {
    if (id == ir::kNone) return;
    if (std::find(list->begin(), list->end(), id) == list->end()) {
      list->push_back(id);
    }
  }

  // The rank of a node is the longest way from it to the end.
  void Rank(const std::vector<NodeId>& order) {
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      double behind = 0;
      for (const NodeId reader : Readers(*id)) {
        behind = std::max(behind, ranks_[Index(reader)]);
      }
      ranks_[Index(*id)] = behind + Cost(*id);
    }
  }

  double InputsEnd(NodeId id) const {
    double end = 0;
    for (const NodeId producer : Producers(id)) {
      end = std::max(end, ends_[Index(producer)]);
    }
    return end;
  }

  size_t StreamFor(NodeId id) const {
    const std::vector<double>& free = free_[Device(id)];
    if (free.size() == 1) return 0;
    NodeId latest = ir::kNone;
    for (const NodeId producer : Producers(id)) {
      if (latest == ir::kNone || ends_[Index(producer)] > ends_[Index(latest)])
        latest = producer;
    }
    const auto& last = last_[Device(id)];
    const auto joined = std::find(last.begin(), last.end(), latest);
    if (latest != ir::kNone && joined != last.end()) {
      return static_cast<size_t>(joined - last.begin());
    }
    return static_cast<size_t>(std::min_element(free.begin(), free.end()) -
                               free.begin());
  }

  double BeginOf(NodeId id) const {
    const double inputs = InputsEnd(id);
    if (IsFree(id)) return inputs;
    return std::max(inputs, free_[Device(id)][StreamFor(id)]);
  }

  // The first that can begin, of several the one with the longest way.
  size_t Next(const std::vector<NodeId>& ready) const {
    size_t best = 0;
    auto key = KeyOf(ready[0]);
    for (size_t i = 1; i < ready.size(); ++i) {
      const auto other = KeyOf(ready[i]);
      if (other >= key) continue;
      key = other;
      best = i;
    }
    return best;
  }
  std::tuple<double, double, NodeId> KeyOf(NodeId id) const {
    return {BeginOf(id), -ranks_[Index(id)], id};
  }

  void Do(NodeId id) {
    const size_t stream = StreamFor(id);
    const double end = BeginOf(id) + Cost(id);
    ends_[Index(id)] = end;
    if (IsFree(id)) return;
    module_.streams[Index(id)] = static_cast<int>(stream);
    free_[Device(id)][stream] = end;
    last_[Device(id)][stream] = id;
  }

  Module& module_;
  const ir::Graph& graph_;
  const ir::EffectChain effects_;
  std::vector<double> ends_;               // by node id
  std::vector<double> ranks_;              // the same
  std::vector<int> missing_;               // producers that have not run
  std::vector<std::vector<double>> free_;  // by device and stream
  std::vector<std::vector<NodeId>> last_;  // the same
};

}  // namespace

Result<std::vector<NodeId>> ScheduleQueues(Module& module) {
  TIM_ASSIGN_OR_RETURN(const std::vector<NodeId> order,
                       module.graph.TopologicalOrder());
  return Scheduler(module).Run(order);
}

}  // namespace tim::compiler
