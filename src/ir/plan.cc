#include "ir/plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

namespace tim::ir {
namespace {

// Of values inside of others; others are aligned to their device.
constexpr int64_t kOffsetAlignment = 64;

constexpr const char* kSlotNames[] = {"arena",  "constant",   "input",
                                      "output", "state read", "state write"};

std::string SlotText(const Slot& slot) {
  std::string text =
      StrCat(kSlotNames[static_cast<int>(slot.kind)], " ", slot.index,
             " on device ", slot.device, ", ", slot.bytes, " bytes");
  if (slot.kind == SlotKind::kArena || slot.kind == SlotKind::kConstant ||
      slot.offset != 0) {
    text += StrCat(" at ", slot.offset);
  }
  return text;
}

std::string StepText(const Plan& plan, size_t index) {
  const Step& step = plan.steps[index];
  std::string text = StrCat("step ", index, " on ", step.device, " [",
                            step.label, "] ", ToString(step.action), " :");
  for (size_t i = 0; i < step.operands.size(); ++i) {
    text += StrCat(" ", step.written[i] ? ">" : "<", step.operands[i]);
  }
  if (!step.waits.empty()) text += StrCat(" after ", StrJoin(step.waits, ", "));
  return text;
}

int64_t SlotLimit(const Plan& plan, const Slot& slot) {
  switch (slot.kind) {
    case SlotKind::kArena:
      return static_cast<int64_t>(plan.arenas.size());
    case SlotKind::kConstant:
      return INT32_MAX;  // the constants are filled in last
    case SlotKind::kInput:
      return static_cast<int64_t>(plan.inputs.size());
    case SlotKind::kOutput:
      return static_cast<int64_t>(plan.outputs.size());
    case SlotKind::kStateRead:
    case SlotKind::kStateWrite:
      return static_cast<int64_t>(plan.states.size());
  }
  return 0;
}

Status CheckSlot(const Plan& plan, const Slot& slot) {
  const bool known_device =
      slot.device >= 0 && slot.device < static_cast<int>(plan.devices.size());
  if (!known_device || slot.index < 0 || slot.index >= SlotLimit(plan, slot)) {
    return TIM_INTERNAL("slot out of range: ", SlotText(slot));
  }
  if (slot.kind == SlotKind::kArena &&
      (slot.offset < 0 ||
       slot.offset + slot.bytes > plan.arenas[slot.index].bytes ||
       slot.offset % kOffsetAlignment != 0)) {
    return TIM_INTERNAL("slot outside its arena: ", SlotText(slot));
  }
  return OkStatus();
}

Status CheckStep(const Plan& plan, size_t index) {
  const Step& step = plan.steps[index];
  if (step.operands.size() != step.written.size()) {
    return TIM_INTERNAL("step ", index, " does not say what it writes");
  }
  for (size_t i = 0; i < step.operands.size(); ++i) {
    if (step.operands[i] < 0 ||
        step.operands[i] >= static_cast<int>(plan.slots.size())) {
      return TIM_INTERNAL("step ", index, " names slot ", step.operands[i]);
    }
    const SlotKind kind = plan.slots[step.operands[i]].kind;
    const bool read_only = kind == SlotKind::kConstant ||
                           kind == SlotKind::kInput ||
                           kind == SlotKind::kStateRead;
    if (step.written[i] && read_only) {
      return TIM_INTERNAL("step ", index, " writes ",
                          SlotText(plan.slots[step.operands[i]]));
    }
  }
  for (const int wait : step.waits) {
    if (wait < 0 || wait >= static_cast<int>(index)) {
      return TIM_INTERNAL("step ", index, " waits for step ", wait);
    }
  }
  return OkStatus();
}

// Steps between the first write and the last access of an arena slot.
struct Life {
  int slot = 0;
  int first = 0;
  int last = 0;
};

// What lies in each other is there as long as all of it.
void LiveTogether(const Plan& plan, std::vector<Life>* lives) {
  std::map<std::pair<int, int>, Life> whole;  // by arena and allocation
  for (const bool apply : {false, true}) {
    for (Life& life : *lives) {
      const Slot& slot = plan.slots[life.slot];
      if (slot.allocation < 0) continue;
      Life& all =
          whole.try_emplace({slot.index, slot.allocation}, life).first->second;
      Life& longer = apply ? life : all;
      longer.first = std::min(all.first, life.first);
      longer.last = std::max(all.last, life.last);
    }
  }
}

std::vector<Life> Lives(const Plan& plan) {
  // A slot that is written anew after its last read starts another life.
  std::vector<Life> lives;
  std::map<int, size_t> open;
  for (int index = 0; index < static_cast<int>(plan.steps.size()); ++index) {
    const Step& step = plan.steps[index];
    for (size_t i = 0; i < step.operands.size(); ++i) {
      const int slot = step.operands[i];
      if (plan.slots[slot].kind != SlotKind::kArena) continue;
      const auto it = open.find(slot);
      if (it != open.end() && !step.written[i]) {
        lives[it->second].last = index;
        continue;
      }
      const bool same_step =
          it != open.end() && lives[it->second].last == index;
      if (same_step) continue;
      open[slot] = lives.size();
      lives.push_back({slot, index, index});
    }
  }
  LiveTogether(plan, &lives);
  return lives;
}

bool Overlap(const Slot& a, const Slot& b) {
  if (a.allocation >= 0 && a.allocation == b.allocation) return false;
  return a.index == b.index && a.offset < b.offset + b.bytes &&
         b.offset < a.offset + a.bytes;
}

Status CheckOverlaps(const Plan& plan) {
  std::vector<Life> live;
  std::vector<Life> lives = Lives(plan);
  std::sort(lives.begin(), lives.end(), [](const Life& a, const Life& b) {
    return std::tie(a.first, a.slot) < std::tie(b.first, b.slot);
  });
  for (const Life& life : lives) {
    std::erase_if(live, [&](const Life& l) { return l.last < life.first; });
    for (const Life& other : live) {
      if (other.slot == life.slot ||
          !Overlap(plan.slots[other.slot], plan.slots[life.slot])) {
        continue;
      }
      return TIM_INTERNAL("values live at step ", life.first,
                          " overlap: ", SlotText(plan.slots[other.slot]),
                          " and ", SlotText(plan.slots[life.slot]));
    }
    live.push_back(life);
  }
  return OkStatus();
}

// Each text that a step is built from, once.
std::string Programs(const Plan& plan) {
  std::string out;
  std::set<std::string> seen;
  for (const Step& step : plan.steps) {
    const auto* launch = std::get_if<KernelLaunch>(&step.action);
    if (launch == nullptr || !launch->source.empty()) continue;
    if (seen.insert(launch->text).second) out += ProgramText(*launch);
  }
  return out;
}

}  // namespace

std::string Dump(const Plan& plan) {
  std::string out = StrCat("plan of graph '", plan.graph, "'\n");
  for (size_t i = 0; i < plan.devices.size(); ++i) {
    out += StrCat("device ", i, ": ", plan.devices[i].ToString(), "\n");
  }
  for (const Arena& arena : plan.arenas) {
    out += StrCat("arena on device ", arena.device, ": ", arena.bytes,
                  " bytes, ", ToString(arena.memory), " memory\n");
  }
  for (const ConstantBlock& block : plan.constants) {
    out += StrCat("constants on device ", block.device, ": ", block.bytes,
                  " bytes\n");
    for (const PlacedConstant& constant : block.constants) {
      out += StrCat("  ", constant.id, ", ", constant.bytes, " bytes at ",
                    constant.offset, "\n");
    }
  }
  for (const PlanTensor& input : plan.inputs) {
    out += StrCat("input ", input.name, ": ", input.desc.ToString(), "\n");
  }
  for (const PlanTensor& output : plan.outputs) {
    out += StrCat("output ", output.name, ": ", output.desc.ToString(), "\n");
  }
  for (const PlanState& state : plan.states) {
    out += StrCat("state ", state.name, ": ", state.desc.ToString(),
                  state.in_place  ? ", written in place\n"
                  : state.written ? ", written\n"
                                  : "\n");
  }
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    out += StrCat("slot ", i, ": ", SlotText(plan.slots[i]), "\n");
  }
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    out += StepText(plan, i) + "\n";
  }
  out +=
      StrCat("memory: no_reuse_sum ", plan.memory.no_reuse_sum, " lower_bound ",
             plan.memory.lower_bound, " peak ", plan.memory.peak,
             " eval_scratch ", plan.memory.eval_scratch, "\n");
  for (const Decision& decision : plan.decisions) {
    out += StrCat("decision ", decision.node, ": ", decision.chosen, "\n");
    for (const std::string& refused : decision.refused) {
      out += StrCat("  not ", refused, "\n");
    }
  }
  return out + Programs(plan);
}

Status Verify(const Plan& plan) {
  for (const Slot& slot : plan.slots) {
    TIM_RETURN_IF_ERROR(CheckSlot(plan, slot));
  }
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    TIM_RETURN_IF_ERROR(CheckStep(plan, i));
  }
  return CheckOverlaps(plan);
}

}  // namespace tim::ir
