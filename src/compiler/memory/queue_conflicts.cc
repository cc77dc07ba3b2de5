// Finds which steps follow which, and by it what may live at once.
#include "compiler/memory/queue_conflicts.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace tim::compiler {
namespace {

using ir::NodeId;
using ir::ValueId;
using Kind = ScheduledStep::Kind;

// Steps squared are bits; beyond, memory is used again with waits.
constexpr size_t kMostSteps = 8192;

// The steps of a schedule in their partial order.
class OrderedSteps {
 public:
  OrderedSteps(const Module& module, const Sharing& sharing)
      : module_(module),
        sharing_(sharing),
        last_step_(static_cast<size_t>(module.graph.node_id_limit()), -1) {
    FindOrder();
  }

  // By allocation: the steps that use it.
  std::vector<std::vector<int>> Users() const {
    std::vector<std::vector<int>> users(module_.allocations.size());
    for (size_t s = 0; s < follows_.size(); ++s) AddUses(s, &users);
    return users;
  }

  // By step: begins when all of `steps` have ended.
  std::vector<bool> Behind(const std::vector<int>& steps) const {
    std::vector<bool> behind(follows_.size());
    for (size_t s = 0; s < follows_.size(); ++s) {
      behind[s] = std::all_of(steps.begin(), steps.end(), [&](int step) {
        return follows_[s][static_cast<size_t>(step)];
      });
    }
    return behind;
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
    const size_t steps = module_.schedule.size();
    follows_.assign(steps, std::vector<bool>(steps, false));
    std::map<std::pair<int, int>, int> before;
    for (size_t s = 0; s < steps; ++s) {
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

  void AddUses(size_t s, std::vector<std::vector<int>>* users) const {
    const ScheduledStep& step = module_.schedule[s];
    const auto number = static_cast<int>(s);
    const auto add = [&](int allocation) {
      if (allocation < 0) return;
      const auto index = static_cast<size_t>(allocation);
      // Scratch may be for some steps of its node.
      const Allocation& used = module_.allocations[index];
      if (number < used.first_step || number > used.last_step) return;
      (*users)[index].push_back(number);
    };
    for (const ValueId id : ReadBy(step)) add(AllocationOf(id));
    if (step.kind != Kind::kNode) return;
    for (const ValueId id : module_.graph.node(step.node).outputs) {
      add(AllocationOf(id));
    }
    for (const int scratch :
         module_.scratches[static_cast<size_t>(step.node)]) {
      add(scratch);
    }
  }

  int AllocationOf(ValueId id) const {
    if (id == ir::kNone) return -1;
    const auto root =
        static_cast<size_t>(sharing_.root[static_cast<size_t>(id)]);
    const Storage& storage = module_.storages[root];
    return storage.kind == Storage::Kind::kAllocation ? storage.index : -1;
  }

  const Module& module_;
  const Sharing& sharing_;
  std::vector<int> last_step_;              // by node id
  std::vector<std::vector<bool>> follows_;  // by step
};

}  // namespace

QueueConflicts::QueueConflicts(const Module& module, const Sharing& sharing)
    : module_(module) {
  bool several = false;
  for (int d = 0; d < static_cast<int>(module.options.devices.size()); ++d) {
    several |= module.Streams(d) > 1;
  }
  if (!several || module.schedule.size() > kMostSteps) return;
  const OrderedSteps steps(module, sharing);
  users_ = steps.Users();
  for (const std::vector<int>& users : users_) {
    behind_.push_back(steps.Behind(users));
  }
}

bool QueueConflicts::EndsBefore(int earlier, int later) const {
  const std::vector<bool>& behind = behind_[static_cast<size_t>(earlier)];
  const std::vector<int>& users = users_[static_cast<size_t>(later)];
  return std::all_of(users.begin(), users.end(), [&](int step) {
    return behind[static_cast<size_t>(step)];
  });
}

std::vector<bool> QueueConflicts::Among(
    int device, const std::vector<int>& allocations) const {
  if (behind_.empty() || module_.Streams(device) < 2) return {};
  const size_t count = allocations.size();
  std::vector<bool> conflicts(count * count);
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < i; ++j) {
      const int a = allocations[i];
      const int b = allocations[j];
      if (EndsBefore(a, b) || EndsBefore(b, a)) continue;
      conflicts[i * count + j] = conflicts[j * count + i] = true;
    }
  }
  return conflicts;
}

}  // namespace tim::compiler
