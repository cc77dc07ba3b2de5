#include "bench/operators/plan_edit.h"

#include <cstring>
#include <map>
#include <span>
#include <utility>

#include "base/aligned_memory.h"
#include "base/str_cat.h"
#include "bench/networks/values.h"

namespace tim::bench {
namespace {

// The label lists instance names: "Conv2d#3+Relu#4".
bool Names(const ir::Step& step, std::string_view type) {
  return StrCat("+", step.label).find(StrCat("+", type, "#")) !=
         std::string::npos;
}

// Values share memory by turns, which are others where steps are missing or
// come again.
void GiveEveryValueItsMemory(ir::Plan* plan) {
  for (ir::Slot& slot : plan->slots) {
    if (slot.kind != ir::SlotKind::kArena) continue;
    int64_t& end = plan->arenas[slot.index].bytes;
    const int64_t alignment = plan->devices[slot.device].alignment;
    end = (end + alignment - 1) / alignment * alignment;
    slot.offset = end;
    end += slot.bytes;
    slot.allocation = -1;
  }
}

AlignedMemory NewContent(const ir::Plan& plan, const ir::ConstantBlock& block) {
  return AllocateAligned(block.bytes, plan.devices[block.device].alignment);
}

void GiveRandomContent(const ir::Plan& plan, ir::ConstantBlock* block) {
  AlignedMemory memory = NewContent(plan, *block);
  FillValues(0, 1.0f,
             {reinterpret_cast<float*>(memory.get()),
              static_cast<size_t>(block->bytes) / sizeof(float)});
  block->data = std::move(memory);
}

// A plan that has run may have forgotten what a device keeps: other values.
void GiveConstantsContent(ir::Plan* plan) {
  for (ir::ConstantBlock& block : plan->constants) {
    if (block.data == nullptr) GiveRandomContent(*plan, &block);
  }
}

// Which slots steps write, by number.
std::vector<bool> WrittenSlots(const ir::Plan& plan) {
  std::vector<bool> written(plan.slots.size());
  for (const ir::Step& step : plan.steps) {
    for (size_t i = 0; i < step.operands.size(); ++i) {
      if (step.written[i]) written[step.operands[i]] = true;
    }
  }
  return written;
}

class ConstantCopies {
 public:
  explicit ConstantCopies(ir::Plan* plan) : plan_(*plan) {}

  // The slot of the copy of `slot`'s constant; other slots stay.
  int CopyOf(int slot) {
    if (plan_.slots[slot].kind != ir::SlotKind::kConstant) return slot;
    const auto [copy, is_new] = slots_.emplace(slot, 0);
    if (!is_new) return copy->second;
    ir::Slot added = plan_.slots[slot];
    added.index = BlockFor(added.index);
    copy->second = static_cast<int>(plan_.slots.size());
    plan_.slots.push_back(added);
    return copy->second;
  }

 private:
  int BlockFor(int block) {
    const auto [copy, is_new] =
        blocks_.emplace(block, static_cast<int>(plan_.constants.size()));
    if (is_new) {
      ir::ConstantBlock added = plan_.constants[block];
      added.data = CopyOfContent(added);
      plan_.constants.push_back(std::move(added));
    }
    return copy->second;
  }

  std::shared_ptr<const std::byte[]> CopyOfContent(
      const ir::ConstantBlock& block) const {
    AlignedMemory memory = NewContent(plan_, block);
    std::memcpy(memory.get(), block.data.get(),
                static_cast<size_t>(block.bytes));
    return memory;
  }

  ir::Plan& plan_;
  std::map<int, int> slots_;
  std::map<int, int> blocks_;
};

}  // namespace

ir::Plan OnlyOperations(ir::Plan plan, std::string_view type) {
  std::erase_if(plan.steps,
                [&](const ir::Step& step) { return !Names(step, type); });
  for (ir::Step& step : plan.steps) step.waits.clear();
  plan.chains.clear();
  GiveEveryValueItsMemory(&plan);
  GiveConstantsContent(&plan);
  return plan;
}

ir::Plan Repeated(ir::Plan plan, int times) {
  const std::vector<ir::Step> steps = plan.steps;
  plan.chains.clear();
  for (int i = 1; i < times; ++i) {
    ConstantCopies copies(&plan);
    for (ir::Step step : steps) {
      for (int& operand : step.operands) operand = copies.CopyOf(operand);
      plan.steps.push_back(std::move(step));
    }
  }
  return plan;
}

ir::Plan WithRandomInputs(ir::Plan plan) {
  const std::vector<bool> written = WrittenSlots(plan);
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    ir::Slot& slot = plan.slots[i];
    const bool is_input =
        slot.kind == ir::SlotKind::kInput || slot.kind == ir::SlotKind::kArena;
    if (!is_input || written[i]) continue;
    ir::ConstantBlock block;
    block.device = slot.device;
    block.bytes = slot.bytes;
    GiveRandomContent(plan, &block);
    slot = {.kind = ir::SlotKind::kConstant,
            .device = slot.device,
            .index = static_cast<int>(plan.constants.size()),
            .bytes = slot.bytes};
    plan.constants.push_back(std::move(block));
  }
  return plan;
}

}  // namespace tim::bench
