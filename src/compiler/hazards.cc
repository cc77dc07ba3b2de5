#include "compiler/hazards.h"

#include <algorithm>

namespace tim::compiler {
namespace {

// All other memory is written once per run at most, before it is read.
bool IsReused(const ir::Slot& slot) {
  return slot.kind == ir::SlotKind::kArena;
}

}  // namespace

std::vector<int> Hazards::WaitsOf(const ir::Step& step) const {
  std::map<int, int> last;  // by device
  for (size_t i = 0; i < step.operands.size(); ++i) {
    const ir::Slot& slot = plan_.slots[step.operands[i]];
    if (IsReused(slot)) Collect(step, slot, step.written[i], &last);
  }
  std::vector<int> waits;
  for (const auto& [device, index] : last) waits.push_back(index);
  std::sort(waits.begin(), waits.end());
  return waits;
}

void Hazards::Add(int index) {
  const ir::Step& step = plan_.steps[index];
  for (size_t i = 0; i < step.operands.size(); ++i) {
    const ir::Slot& slot = plan_.slots[step.operands[i]];
    if (!IsReused(slot)) continue;
    accesses_[{slot.kind, slot.index}].push_back(
        {index, step.device, slot.offset, slot.bytes, step.written[i]});
  }
}

void Hazards::Collect(const ir::Step& step, const ir::Slot& slot, bool write,
                      std::map<int, int>* last) const {
  const auto it = accesses_.find({slot.kind, slot.index});
  if (it == accesses_.end()) return;
  for (const Access& access : it->second) {
    if (access.device == step.device || !(write || access.write)) continue;
    if (access.offset >= slot.offset + slot.bytes ||
        slot.offset >= access.offset + access.bytes) {
      continue;
    }
    int& found = last->emplace(access.device, access.step).first->second;
    found = std::max(found, access.step);
  }
}

}  // namespace tim::compiler
