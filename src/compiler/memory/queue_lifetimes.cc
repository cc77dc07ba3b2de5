// Finds which steps follow which, and lengthens lifetimes by it.
#include "compiler/memory/queue_lifetimes.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace tim::compiler {
namespace {

using ir::NodeId;
using ir::ValueId;
using Kind = ScheduledStep::Kind;

// Steps squared are bits; beyond, memory is used again with waits.
constexpr size_t kMostSteps = 8192;

class QueueLifetimes {
 public:
  QueueLifetimes(Module& module, const Sharing& sharing)
      : module_(module),
        sharing_(sharing),
        steps_(module.schedule.size()),
        last_step_(static_cast<size_t>(module.graph.node_id_limit()), -1),
        users_(module.allocations.size()) {}

  void Run() {
    FindOrder();
    for (size_t step = 0; step < steps_; ++step) FindUses(step);
    for (size_t i = 0; i < users_.size(); ++i) {
      Allocation& allocation = module_.allocations[i];
      if (module_.Streams(allocation.device) < 2) continue;
      const auto behind = static_cast<size_t>(allocation.last_step) + 1;
      for (size_t step = steps_; step-- > behind;) {
        if (FollowsAll(step, users_[i])) continue;
        allocation.last_step = static_cast<int>(step);
        break;
      }
    }
  }

 private:
  // Values that a step reads.
  std::vector<ValueId> ReadBy(const ScheduledStep& step) const {
    const ir::Graph& graph = module_.graph;
    const auto index = static_cast<size_t>(step.index);
    if (step.kind == Kind::kOutput) return {graph.outputs()[index]};
    if (step.kind == Kind::kState) return {graph.state_updates()[index].value};
    return graph.node(step.node).inputs;
  }

  std::pair<int, int> QueueOf(const ScheduledStep& step) const {
    const NodeId node =
        step.kind == Kind::kNode ? step.node : MakerOf(ReadBy(step)[0]);
    if (node == ir::kNone) return {0, 0};
    return {module_.placements[static_cast<size_t>(node)].device,
            module_.StreamOf(node)};
  }

  NodeId MakerOf(ValueId id) const {
    return id == ir::kNone ? ir::kNone : module_.graph.value(id).producer;
  }

  // Views have no steps: what they view was made by others.
  void AddMakers(ValueId id, std::vector<int>* steps) const {
    const NodeId maker = MakerOf(id);
    if (maker == ir::kNone) return;
    const int last = last_step_[static_cast<size_t>(maker)];
    if (last >= 0) {
      steps->push_back(last);
      return;
    }
    for (const ValueId input : module_.graph.node(maker).inputs) {
      AddMakers(input, steps);
    }
  }

  // follows_[s]: the steps that have ended before step s begins.
  void FindOrder() {
    follows_.assign(steps_, std::vector<bool>(steps_, false));
    std::map<std::pair<int, int>, int> before;
    for (size_t s = 0; s < steps_; ++s) {
      const ScheduledStep& step = module_.schedule[s];
      std::vector<int> direct;
      for (const ValueId id : ReadBy(step)) AddMakers(id, &direct);
      const auto [last, added] =
          before.emplace(QueueOf(step), static_cast<int>(s));
      if (!added) direct.push_back(std::exchange(last->second, int(s)));
      for (const int earlier : direct) {
        const auto e = static_cast<size_t>(earlier);
        for (size_t i = 0; i < e; ++i) {
          if (follows_[e][i]) follows_[s][i] = true;
        }
        follows_[s][e] = true;
      }
      if (step.kind == Kind::kNode) {
        last_step_[static_cast<size_t>(step.node)] = static_cast<int>(s);
      }
    }
  }

  void FindUses(size_t s) {
    const ScheduledStep& step = module_.schedule[s];
    for (const ValueId id : ReadBy(step)) AddUse(id, s);
    if (step.kind != Kind::kNode) return;
    for (const ValueId id : module_.graph.node(step.node).outputs) {
      AddUse(id, s);
    }
    for (const int scratch :
         module_.scratches[static_cast<size_t>(step.node)]) {
      if (scratch >= 0) users_[static_cast<size_t>(scratch)].push_back(s);
    }
  }

  void AddUse(ValueId id, size_t step) {
    if (id == ir::kNone) return;
    const auto root =
        static_cast<size_t>(sharing_.root[static_cast<size_t>(id)]);
    const Storage& storage = module_.storages[root];
    if (storage.kind != Storage::Kind::kAllocation) return;
    users_[static_cast<size_t>(storage.index)].push_back(step);
  }

  bool FollowsAll(size_t step, const std::vector<size_t>& users) const {
    return std::all_of(users.begin(), users.end(), [&](size_t user) {
      return user == step || follows_[step][user];
    });
  }

  Module& module_;
  const Sharing& sharing_;
  const size_t steps_;
  std::vector<int> last_step_;              // by node id
  std::vector<std::vector<bool>> follows_;  // by step
  std::vector<std::vector<size_t>> users_;  // steps, by allocation
};

}  // namespace

void LiveUntilOrdered(Module& module, const Sharing& sharing) {
  bool several = false;
  for (int d = 0; d < static_cast<int>(module.options.devices.size()); ++d) {
    several |= module.Streams(d) > 1;
  }
  if (!several || module.schedule.size() > kMostSteps) return;
  QueueLifetimes(module, sharing).Run();
}

}  // namespace tim::compiler
