// Steps of several queues that share memory must wait for each other.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "ir/verify/checks.h"

namespace tim::ir {
namespace {

using Queue = std::pair<int, int>;        // device and stream
using Memory = std::pair<SlotKind, int>;  // kind and index

// Comparisons of accesses that a plan is worth: a plan that the compiler made
// needs few, since it waits.
constexpr int64_t kMostComparisons = int64_t{1} << 26;

// Steps times queues.
constexpr size_t kMostTimes = size_t{1} << 24;

class QueueOrder {
 public:
  explicit QueueOrder(const Plan& plan) : plan_(plan) {
    for (const Step& step : plan.steps) {
      queues_.emplace(Queue(step.device, step.stream), 0);
    }
    size_t number = 0;
    for (auto& [queue, index] : queues_) index = number++;
  }

  // Queues beside the host's, whose steps the host does by itself, in order.
  bool IsNeeded() const {
    const auto on_devices =
        std::count_if(queues_.begin(), queues_.end(),
                      [](const auto& one) { return one.first.first != 0; });
    return on_devices > 1;
  }

  Status Check() {
    if (plan_.steps.size() > kMostTimes / queues_.size()) {
      return InvalidArgument("it has ", plan_.steps.size(), " steps in ",
                             queues_.size(), " queues");
    }
    done_.assign(plan_.steps.size(), {});
    std::vector<std::vector<int>> now(queues_.size(),
                                      std::vector<int>(queues_.size(), -1));
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      const Step& step = plan_.steps[i];
      const size_t queue = queues_.at({step.device, step.stream});
      std::vector<int>& known = now[queue];
      for (const int wait : step.waits) {
        const std::vector<int>& other = done_[static_cast<size_t>(wait)];
        for (size_t q = 0; q < known.size(); ++q) {
          known[q] = std::max(known[q], other[q]);
        }
      }
      TIM_RETURN_IF_ERROR(CheckStep(i, known));
      known[queue] = static_cast<int>(i);
      done_[i] = known;
    }
    return OkStatus();
  }

 private:
  struct Access {
    int step = 0;
    int64_t begin = 0;
    int64_t end = 0;
    bool write = false;
  };

  Memory MemoryOf(const Slot& slot) const {
    const bool state =
        slot.kind == SlotKind::kStateRead || slot.kind == SlotKind::kStateWrite;
    if (state && plan_.states[static_cast<size_t>(slot.index)].in_place) {
      return {SlotKind::kStateWrite, slot.index};
    }
    return {slot.kind, slot.index};
  }

  // known[q]: the last step of queue q that has ended before this one begins.
  Status CheckStep(size_t index, const std::vector<int>& known) {
    const Step& step = plan_.steps[index];
    const size_t own = queues_.at({step.device, step.stream});
    for (size_t o = 0; o < step.operands.size(); ++o) {
      const Slot& slot = plan_.slots[static_cast<size_t>(step.operands[o])];
      if (slot.kind == SlotKind::kConstant || slot.kind == SlotKind::kInput) {
        continue;
      }
      const Access access{static_cast<int>(index), slot.offset,
                          slot.offset + slot.bytes, step.written[o]};
      auto& lists = accesses_[MemoryOf(slot)];
      lists.resize(queues_.size());
      for (size_t q = 0; q < lists.size(); ++q) {
        if (q == own) continue;
        TIM_RETURN_IF_ERROR(CheckAgainst(lists[q], access, known[q]));
      }
      lists[own].push_back(access);
    }
    return OkStatus();
  }

  // Earlier accesses of another queue, of which those up to `known` have ended.
  Status CheckAgainst(const std::vector<Access>& earlier, const Access& access,
                      int known) {
    for (auto other = earlier.rbegin(); other != earlier.rend(); ++other) {
      if (other->step <= known) break;
      if (++comparisons_ > kMostComparisons) {
        return InvalidArgument(
            "too many steps of several queues use the same "
            "memory without waiting");
      }
      const bool apart =
          other->end <= access.begin || access.end <= other->begin;
      if (apart || !(other->write || access.write)) continue;
      return InvalidArgument(
          "step ", access.step, " '",
          plan_.steps[static_cast<size_t>(access.step)].label,
          "' does not wait for step ", other->step, " '",
          plan_.steps[static_cast<size_t>(other->step)].label,
          "' of another queue, which uses the same memory");
    }
    return OkStatus();
  }

  const Plan& plan_;
  std::map<Queue, size_t> queues_;
  std::vector<std::vector<int>> done_;  // by step: known when it has ended
  std::map<Memory, std::vector<std::vector<Access>>> accesses_;  // by queue
  int64_t comparisons_ = 0;
};

}  // namespace

Status CheckQueueOrder(const Plan& plan) {
  QueueOrder order(plan);
  return order.IsNeeded() ? order.Check() : OkStatus();
}

}  // namespace tim::ir
