#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "ir/verify/checks.h"

namespace tim::ir {
namespace {

Status CheckChain(const Plan& plan, const Chain& chain, int behind) {
  const int steps = static_cast<int>(plan.steps.size());
  if (chain.first < behind || chain.count < 1 || chain.first >= steps ||
      chain.count > steps - chain.first) {
    return InvalidArgument("of ", chain.count, " steps from step ", chain.first,
                           " of ", steps, ", the one before ends at ", behind);
  }
  std::set<std::pair<SlotKind, int>> buffers;
  const Step& head = plan.steps[chain.first];
  for (int i = chain.first; i < chain.first + chain.count; ++i) {
    const Step& step = plan.steps[i];
    if (!InOneQueue(step, head)) {
      return InvalidArgument("on device ", head.device, " has step ", i,
                             " on device ", step.device, ", stream ",
                             step.stream);
    }
    if (std::holds_alternative<Copy>(step.action)) {
      return InvalidArgument("has the copy ", i);
    }
    for (const int operand : step.operands) {
      const Slot& slot = plan.slots[operand];
      buffers.emplace(slot.kind, slot.index);
      if (buffers.size() <= kMaxChainBuffers) continue;
      return InvalidArgument("works in more than ", kMaxChainBuffers,
                             " buffers");
    }
  }
  return OkStatus();
}

// Per step: its chain, -1 where it is in none.
std::vector<int> ChainOfSteps(const Plan& plan) {
  std::vector<int> chain_of(plan.steps.size(), -1);
  for (size_t c = 0; c < plan.chains.size(); ++c) {
    const Chain& chain = plan.chains[c];
    for (int i = 0; i < chain.count; ++i) {
      chain_of[chain.first + i] = static_cast<int>(c);
    }
  }
  return chain_of;
}

Status CheckWaits(const Plan& plan) {
  const std::vector<int> chain_of = ChainOfSteps(plan);
  for (int i = 0; i < static_cast<int>(plan.steps.size()); ++i) {
    for (const int wait : plan.steps[i].waits) {
      if (InOneQueue(plan.steps[wait], plan.steps[i])) continue;
      const int own = chain_of[i];
      if (own >= 0 && plan.chains[own].first != i) {
        return InvalidArgument("chain ", own, ": its step ", i,
                               ", not the first, waits for step ", wait);
      }
      const int other = chain_of[wait];
      if (other >= 0 &&
          plan.chains[other].first + plan.chains[other].count - 1 != wait) {
        return InvalidArgument("chain ", other, ": step ", i,
                               " waits for its step ", wait, ", not the last");
      }
    }
  }
  return OkStatus();
}

}  // namespace

Status CheckChains(const Plan& plan) {
  int behind = 0;
  for (size_t c = 0; c < plan.chains.size(); ++c) {
    const Status status = CheckChain(plan, plan.chains[c], behind);
    if (!status.ok()) {
      return InvalidArgument("chain ", c, " ", status.message());
    }
    behind = plan.chains[c].first + plan.chains[c].count;
  }
  return CheckWaits(plan);
}

}  // namespace tim::ir
