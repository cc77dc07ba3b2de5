#include <algorithm>
#include <map>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/verify/checks.h"

namespace tim::ir {
namespace {

// Bytes of an arena from the first write of a value to its last access.
struct Life {
  int arena = 0;
  int slot = 0;  ///< One of them, for messages.
  int64_t begin = 0;
  int64_t end = 0;
  int first = 0;  ///< Steps.
  int last = 0;
};

// What lies in each other is there as long as all of it.
using Allocations = std::map<std::pair<int, int>, Life>;

void Join(const Life& life, Life* all) {
  all->begin = std::min(all->begin, life.begin);
  all->end = std::max(all->end, life.end);
  all->first = std::min(all->first, life.first);
  all->last = std::max(all->last, life.last);
}

class Lives {
 public:
  explicit Lives(const Plan& plan) : plan_(plan), open_(plan.slots.size(), -1) {
    for (int i = 0; i < static_cast<int>(plan.steps.size()); ++i) AddStep(i);
    for (auto& [key, life] : allocations_) lives_.push_back(life);
    std::erase_if(lives_, [](const Life& l) { return l.begin == l.end; });
  }

  std::vector<Life> Take() { return std::move(lives_); }

 private:
  void AddStep(int index) {
    const Step& step = plan_.steps[index];
    for (size_t i = 0; i < step.operands.size(); ++i) {
      const int number = step.operands[i];
      const Slot& slot = plan_.slots[number];
      if (slot.kind != SlotKind::kArena) continue;
      const Life life = {slot.index,  number,
                         slot.offset, slot.offset + slot.bytes,
                         index,       index};
      if (slot.allocation >= 0) {
        const auto key = std::pair(slot.index, slot.allocation);
        Join(life, &allocations_.try_emplace(key, life).first->second);
      } else {
        AddAccess(life, step.written[i]);
      }
    }
  }

  // A slot that is written anew after its last read starts another life.
  void AddAccess(const Life& life, bool written) {
    int& open = open_[life.slot];
    if (open >= 0 && (!written || lives_[open].last == life.last)) {
      lives_[open].last = life.last;
      return;
    }
    open = static_cast<int>(lives_.size());
    lives_.push_back(life);
  }

  const Plan& plan_;
  std::vector<int> open_;  // per slot: its last life
  std::vector<Life> lives_;
  Allocations allocations_;
};

// What lives at a step, by arena and first byte: all of it apart.
using Alive = std::map<std::pair<int, int64_t>, const Life*>;

// The one that `life` would overlap; null: none.
const Life* OverlapOf(const Alive& alive, const Life& life) {
  const auto behind = alive.lower_bound({life.arena, life.begin});
  if (behind != alive.end() && behind->first.first == life.arena &&
      behind->second->begin < life.end) {
    return behind->second;
  }
  if (behind == alive.begin()) return nullptr;
  const Life* before = std::prev(behind)->second;
  return before->arena == life.arena && before->end > life.begin ? before
                                                                 : nullptr;
}

}  // namespace

Status CheckOverlaps(const Plan& plan) {
  std::vector<Life> lives = Lives(plan).Take();
  std::sort(lives.begin(), lives.end(), [](const Life& a, const Life& b) {
    return std::tie(a.first, a.slot) < std::tie(b.first, b.slot);
  });
  const auto later = [](const Life* a, const Life* b) {
    return a->last > b->last;
  };
  std::priority_queue<const Life*, std::vector<const Life*>, decltype(later)>
      ends(later);
  Alive alive;
  for (const Life& life : lives) {
    while (!ends.empty() && ends.top()->last < life.first) {
      alive.erase({ends.top()->arena, ends.top()->begin});
      ends.pop();
    }
    if (const Life* other = OverlapOf(alive, life); other != nullptr) {
      return InvalidArgument("values live at step ", life.first,
                             " overlap: slots ", other->slot, " and ",
                             life.slot, " in arena ", life.arena);
    }
    alive.emplace(std::pair(life.arena, life.begin), &life);
    ends.push(&life);
  }
  return OkStatus();
}

}  // namespace tim::ir
