#include "compiler/chains.h"

#include <algorithm>
#include <set>
#include <utility>

#include "ir/index_limit.h"
#include "kernels/chain_rule.h"

namespace tim::compiler {
namespace {

// Slots of equal key lie in the same buffer.
using Buffers = std::set<std::pair<ir::SlotKind, int>>;

class ChainFinder {
 public:
  explicit ChainFinder(const ir::Plan& plan) : plan_(plan) {}

  std::vector<ir::Chain> Run() {
    const std::vector<bool> awaited = AwaitedSteps();
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      if (!Chains(plan_.steps[i])) {
        open_ = false;
        continue;
      }
      if (!Join(i)) Begin(i);
      open_ = open_ && !awaited[i];
    }
    const bool gains = plan_.steps.size() == 1 && open_ &&
                       plan_.devices[plan_.steps[0].device].chains_singles;
    if (!gains) {
      std::erase_if(chains_, [](const ir::Chain& c) { return c.count == 1; });
    }
    return std::move(chains_);
  }

 private:
  bool Chains(const ir::Step& step) const {
    const auto* launch = std::get_if<ir::KernelLaunch>(&step.action);
    return plan_.devices[step.device].chains && launch != nullptr &&
           kernels::CheckChainable(*launch).ok() && HasSmallOffsets(step);
  }

  // Kernels add offsets and indices in 32 bits; a chain has no views.
  bool HasSmallOffsets(const ir::Step& step) const {
    return std::all_of(step.operands.begin(), step.operands.end(),
                       [&](int operand) {
                         const ir::Slot& slot = plan_.slots[operand];
                         return ir::IndicesFit(slot.offset, slot.bytes);
                       });
  }

  // Steps that others of other queues wait for.
  std::vector<bool> AwaitedSteps() const {
    std::vector<bool> awaited(plan_.steps.size());
    for (const ir::Step& step : plan_.steps) {
      for (const int wait : step.waits) {
        if (IsOfOther(step, wait)) awaited[wait] = true;
      }
    }
    return awaited;
  }

  bool IsOfOther(const ir::Step& step, int other) const {
    return !ir::InOneQueue(plan_.steps[other], step);
  }

  void AddBuffers(const ir::Step& step, Buffers* buffers) const {
    for (const int operand : step.operands) {
      const ir::Slot& slot = plan_.slots[operand];
      buffers->emplace(slot.kind, slot.index);
    }
  }

  // Whether the last chain goes on with this step.
  bool Join(size_t index) {
    const ir::Step& step = plan_.steps[index];
    if (!open_ || !ir::InOneQueue(plan_.steps[index - 1], step)) return false;
    for (const int wait : step.waits) {
      if (IsOfOther(step, wait)) return false;
    }
    Buffers more = buffers_;
    AddBuffers(step, &more);
    if (more.size() > ir::kMaxChainBuffers) return false;
    buffers_ = std::move(more);
    ++chains_.back().count;
    return true;
  }

  void Begin(size_t index) {
    buffers_.clear();
    AddBuffers(plan_.steps[index], &buffers_);
    open_ = buffers_.size() <= ir::kMaxChainBuffers;
    if (open_) chains_.push_back({.first = static_cast<int>(index)});
  }

  const ir::Plan& plan_;
  std::vector<ir::Chain> chains_;
  Buffers buffers_;    // of the last chain
  bool open_ = false;  // whether it can go on
};

}  // namespace

std::vector<ir::Chain> FindChains(const ir::Plan& plan) {
  return ChainFinder(plan).Run();
}

}  // namespace tim::compiler
