#include "runtime/step_groups.h"

#include <map>
#include <set>
#include <utility>

namespace tim::runtime {
namespace {

// Kernels take a kilobyte of arguments at least, a pointer per buffer.
constexpr size_t kMaxBuffers = 96;

// Slots of equal key lie in the same buffer.
using BufferKey = std::pair<ir::SlotKind, int>;

BufferKey KeyOf(const ir::Slot& slot) { return {slot.kind, slot.index}; }

}  // namespace

std::vector<StepGroup> GroupSteps(
    const ir::Plan& plan,
    std::span<const std::shared_ptr<device::Device>> devices,
    std::span<const StepOrder> order) {
  std::vector<StepGroup> groups;
  std::set<BufferKey> buffers;  // of the last group
  bool open = false;            // whether the last group can go on
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const ir::Step& step = plan.steps[i];
    const bool chains = devices[step.device]->CanChain(step.action);
    std::set<BufferKey> more = buffers;
    for (const int operand : step.operands) {
      more.insert(KeyOf(plan.slots[operand]));
    }
    if (open && chains && plan.steps[i - 1].device == step.device &&
        order[i].host_waits.empty() && order[i].stream_waits.empty() &&
        more.size() <= kMaxBuffers) {
      ++groups.back().count;
      groups.back().chain = true;
      buffers = std::move(more);
    } else {
      groups.push_back({.first = i});
      buffers.clear();
      for (const int operand : step.operands) {
        buffers.insert(KeyOf(plan.slots[operand]));
      }
    }
    open = chains && !order[i].record && buffers.size() <= kMaxBuffers;
  }
  if (groups.size() == 1 && open &&
      devices[plan.steps[0].device]->ChainsSingles()) {
    groups[0].chain = true;
  }
  return groups;
}

std::vector<device::ChainLink> LinksOf(const ir::Plan& plan,
                                       const StepGroup& group) {
  std::vector<device::ChainLink> links;
  std::map<BufferKey, int> numbers;
  for (size_t i = group.first; i < group.first + group.count; ++i) {
    device::ChainLink& link = links.emplace_back();
    link.action = &plan.steps[i].action;
    for (const int operand : plan.steps[i].operands) {
      const int next = static_cast<int>(numbers.size());
      link.buffers.push_back(
          numbers.emplace(KeyOf(plan.slots[operand]), next).first->second);
    }
  }
  return links;
}

}  // namespace tim::runtime
