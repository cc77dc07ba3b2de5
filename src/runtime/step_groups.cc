#include "runtime/step_groups.h"

#include <map>
#include <optional>
#include <utility>

namespace tim::runtime {

std::vector<StepGroup> GroupSteps(const ir::Plan& plan) {
  std::vector<StepGroup> groups;
  size_t next = 0;
  const auto add_singles = [&](size_t end) {
    for (; next < end; ++next) groups.push_back({.first = next});
  };
  for (const ir::Chain& chain : plan.chains) {
    add_singles(static_cast<size_t>(chain.first));
    groups.push_back({.first = next,
                      .count = static_cast<size_t>(chain.count),
                      .chain = true});
    next += groups.back().count;
  }
  add_singles(plan.steps.size());
  return groups;
}

std::vector<device::ChainLink> LinksOf(
    const ir::Plan& plan, const StepGroup& group,
    std::span<const std::optional<double>> work) {
  std::vector<device::ChainLink> links;
  std::map<std::pair<ir::SlotKind, int>, int> numbers;  // of buffers
  for (size_t i = group.first; i < group.first + group.count; ++i) {
    device::ChainLink& link = links.emplace_back();
    link.action = &plan.steps[i].action;
    link.predicted_us = work[i];
    for (const int operand : plan.steps[i].operands) {
      const ir::Slot& slot = plan.slots[operand];
      const int next = static_cast<int>(numbers.size());
      link.buffers.push_back(
          numbers.emplace(std::pair(slot.kind, slot.index), next)
              .first->second);
    }
  }
  return links;
}

}  // namespace tim::runtime
