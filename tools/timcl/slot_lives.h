// The steps that slots of a plan live from and to.
#ifndef TIM_TOOLS_TIMCL_SLOT_LIVES_H_
#define TIM_TOOLS_TIMCL_SLOT_LIVES_H_

#include <string>
#include <vector>

#include "ir/plan.h"

namespace tim::tool {

/// The steps, by number, that use a slot; -1: none does.
struct SlotLife {
  int first = -1;
  int last = -1;
  std::string writer;  ///< Label of the first step that writes it.
};

/// Per slot.
std::vector<SlotLife> LivesOf(const ir::Plan& plan);

const char* NameOf(ir::SlotKind kind);  ///< "arena", "state_read", …

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_SLOT_LIVES_H_
