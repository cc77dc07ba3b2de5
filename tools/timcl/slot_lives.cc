// Finds the first and the last step that uses each slot.
#include "tools/timcl/slot_lives.h"

namespace tim::tool {

std::vector<SlotLife> LivesOf(const ir::Plan& plan) {
  std::vector<SlotLife> lives(plan.slots.size());
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const ir::Step& step = plan.steps[s];
    for (size_t i = 0; i < step.operands.size(); ++i) {
      SlotLife& life = lives[static_cast<size_t>(step.operands[i])];
      if (life.first < 0) life.first = static_cast<int>(s);
      life.last = static_cast<int>(s);
      if (step.written[i] && life.writer.empty()) life.writer = step.label;
    }
  }
  return lives;
}

const char* NameOf(ir::SlotKind kind) {
  constexpr const char* kNames[] = {"arena",  "constant",   "input",
                                    "output", "state_read", "state_write"};
  return kNames[static_cast<int>(kind)];
}

}  // namespace tim::tool
