#include "ir/plan.h"

#include <set>
#include <variant>

namespace tim::ir {
namespace {

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
  if (step.stream != 0) text += StrCat(" in stream ", step.stream);
  if (!step.waits.empty()) text += StrCat(" after ", StrJoin(step.waits, ", "));
  return text;
}

// Each text that a step is built from, once.
std::string Programs(const Plan& plan) {
  std::string out;
  std::set<std::string> seen;
  for (const Step& step : plan.steps) {
    const std::string* text = TextOf(step.action);
    if (text != nullptr && seen.insert(*text).second) out += ProgramText(*text);
  }
  return out;
}

std::string PortText(const PlanTensor& port) {
  std::string text = StrCat(port.name, ": ", port.desc.ToString());
  if (port.device != 0) text += StrCat(" on device ", port.device);
  return text;
}

// Plans that steps run.
std::string InnerPlans(const Plan& plan) {
  std::string out;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const auto* call = std::get_if<ControlCall>(&plan.steps[i].action);
    if (call == nullptr) continue;
    for (const auto& inner : call->plans) {
      if (inner != nullptr) out += StrCat("of step ", i, ": ", Dump(*inner));
    }
  }
  return out;
}

}  // namespace

std::string Dump(const Plan& plan) {
  std::string out = StrCat("plan of graph '", plan.graph, "'\n");
  const PlanOptions& options = plan.options;
  out += StrCat("options:", options.strict ? " strict," : "", " fold to ",
                options.fold.growth, " times or ", options.fold.small_bytes,
                " bytes, ", options.fold.operations, " operations\n");
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
    out += StrCat("input ", PortText(input), "\n");
  }
  for (const PlanTensor& output : plan.outputs) {
    out += StrCat("output ", PortText(output), "\n");
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
  for (const Chain& chain : plan.chains) {
    out += StrCat("chain of ", chain.count, " steps from step ", chain.first,
                  "\n");
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
  return out + Programs(plan) + InnerPlans(plan);
}

}  // namespace tim::ir
