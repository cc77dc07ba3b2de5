#include "compiler/hazards.h"

#include <algorithm>

namespace tim::compiler {
namespace {

// Constants and inputs are never written.  With two queues beside the host's
// outputs and states are followed, too; else they are written once per run at
// most, before they are read.
bool IsFollowed(const ir::Slot& slot, Hazards::Scope scope) {
  if (slot.kind == ir::SlotKind::kArena) return true;
  return scope == Hazards::Scope::kAllMemory &&
         slot.kind != ir::SlotKind::kConstant &&
         slot.kind != ir::SlotKind::kInput;
}

}  // namespace

Hazards::Memory Hazards::MemoryOf(const ir::Slot& slot) const {
  const bool state = slot.kind == ir::SlotKind::kStateRead ||
                     slot.kind == ir::SlotKind::kStateWrite;
  if (state && plan_.states[static_cast<size_t>(slot.index)].in_place) {
    return {ir::SlotKind::kStateWrite, slot.index};
  }
  return {slot.kind, slot.index};
}

std::vector<int> Hazards::WaitsOf(const ir::Step& step) const {
  std::map<Queue, int> last;
  for (size_t i = 0; i < step.operands.size(); ++i) {
    const ir::Slot& slot = plan_.slots[step.operands[i]];
    if (IsFollowed(slot, scope_)) Collect(step, slot, step.written[i], &last);
  }
  std::vector<int> waits;
  for (const auto& [queue, index] : last) waits.push_back(index);
  std::sort(waits.begin(), waits.end());
  return waits;
}

void Hazards::Add(int index) {
  const ir::Step& step = plan_.steps[index];
  for (size_t i = 0; i < step.operands.size(); ++i) {
    const ir::Slot& slot = plan_.slots[step.operands[i]];
    if (!IsFollowed(slot, scope_)) continue;
    accesses_[MemoryOf(slot)].push_back({index,
                                         {step.device, step.stream},
                                         slot.offset,
                                         slot.bytes,
                                         step.written[i]});
  }
}

void Hazards::Collect(const ir::Step& step, const ir::Slot& slot, bool write,
                      std::map<Queue, int>* last) const {
  const auto it = accesses_.find(MemoryOf(slot));
  if (it == accesses_.end()) return;
  for (const Access& access : it->second) {
    const bool same = access.queue == Queue(step.device, step.stream);
    if (same || !(write || access.write)) continue;
    if (access.offset >= slot.offset + slot.bytes ||
        slot.offset >= access.offset + access.bytes) {
      continue;
    }
    int& found = last->emplace(access.queue, access.step).first->second;
    found = std::max(found, access.step);
  }
}

}  // namespace tim::compiler
