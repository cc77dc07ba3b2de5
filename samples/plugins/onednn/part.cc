// Places the memory between the steps of a part, and runs them.
#include "part.h"

#include <algorithm>
#include <utility>

namespace tim {
namespace onednn {
namespace {

std::size_t RoundUp(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

void FindLives(const std::vector<Step>& steps, std::vector<Slot>* slots) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (const Operand& operand : steps[i].operands) {
      Slot& slot = (*slots)[static_cast<std::size_t>(operand.slot)];
      if (slot.first < 0) slot.first = static_cast<int>(i);
      slot.last = static_cast<int>(i);
    }
  }
}

bool Meet(const Slot& a, const Slot& b) {
  return a.first <= b.last && b.first <= a.last;
}

// Gives the workspaces offsets, the largest first, each the lowest at which
// none lies that lives at the same time; the bytes of all together.
std::size_t PlaceWorkspaces(std::vector<Slot>* slots) {
  std::vector<Slot*> order;
  for (Slot& slot : *slots) {
    if (slot.place == Slot::Place::kWorkspace && slot.first >= 0) {
      order.push_back(&slot);
    }
  }
  std::stable_sort(
      order.begin(), order.end(),
      [](const Slot* a, const Slot* b) { return a->bytes > b->bytes; });
  std::size_t end = 0;
  std::vector<const Slot*> placed;  // by offset
  for (Slot* const slot : order) {
    std::size_t offset = 0;
    for (const Slot* const other : placed) {
      if (!Meet(*slot, *other)) continue;
      if (offset + slot->bytes <= other->offset) break;
      offset = std::max(offset, RoundUp(other->offset + other->bytes));
    }
    slot->offset = offset;
    end = std::max(end, RoundUp(offset + slot->bytes));
    placed.insert(std::upper_bound(placed.begin(), placed.end(), slot,
                                   [](const Slot* a, const Slot* b) {
                                     return a->offset < b->offset;
                                   }),
                  slot);
  }
  return end;
}

}  // namespace

Bytes::Bytes(std::size_t count) : memory_(new char[count + kAlignment]) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory_.get());
  data_ = memory_.get() + (RoundUp(begin) - begin);
}

Part::Part(const dnnl::engine& engine, std::vector<Slot> slots,
           std::vector<Step> steps, std::vector<Bytes> constants)
    : slots_(std::move(slots)),
      constants_(std::move(constants)),
      addresses_(slots_.size(), nullptr) {
  FindLives(steps, &slots_);
  workspace_bytes_ = PlaceWorkspaces(&slots_);
  for (Step& step : steps) {
    Launch launch;
    launch.primitive = std::move(step.primitive);
    for (const Operand& operand : step.operands) {
      const dnnl::memory memory(operand.desc, engine, DNNL_MEMORY_NONE);
      launch.arguments.emplace(operand.argument, memory);
      bound_.push_back({operand.slot, memory});
    }
    launches_.push_back(std::move(launch));
  }
}

void* Part::AddressOf(const Slot& slot, const std::vector<void*>& inputs,
                      const std::vector<void*>& outputs,
                      void* workspace) const {
  switch (slot.place) {
    case Slot::Place::kInput:
      return inputs[slot.index];
    case Slot::Place::kOutput:
      return outputs[slot.index];
    case Slot::Place::kConstant:
      return constants_[slot.index].data();
    case Slot::Place::kWorkspace:
      break;
  }
  return static_cast<char*>(workspace) + slot.offset;
}

void Part::Run(dnnl::stream& stream, const std::vector<void*>& inputs,
               const std::vector<void*>& outputs, void* workspace) {
  std::vector<void*> addresses;
  for (const Slot& slot : slots_) {
    addresses.push_back(AddressOf(slot, inputs, outputs, workspace));
  }
  // Before the first step: a new address may be filled with zeros where the
  // format has lanes without elements.  Constants are bound once.
  for (Bound& one : bound_) {
    const auto slot = static_cast<std::size_t>(one.slot);
    if (addresses[slot] == addresses_[slot]) continue;
    one.memory.set_data_handle(addresses[slot]);
  }
  addresses_ = std::move(addresses);
  for (const Launch& launch : launches_) {
    launch.primitive.execute(stream, launch.arguments);
  }
  stream.wait();
}

}  // namespace onednn
}  // namespace tim
