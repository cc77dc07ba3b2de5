#include "compiler/constant_blocks.h"

#include <algorithm>
#include <cstring>

#include "base/aligned_memory.h"
#include "base/checked_math.h"
#include "base/guarded.h"
#include "base/page_memory.h"
#include "base/parallel_for.h"
#include "ir/packed_form.h"

namespace tim::compiler {
namespace {

// Kernels take offsets in elements, of a byte or more, as an int.
constexpr int64_t kMaxBlockBytes = int64_t{1} << 31;
// A block of its own is another argument of kernels.
constexpr int64_t kLargeBytes = int64_t{1} << 20;

// Some drivers import whole pages only.
std::shared_ptr<std::byte[]> AllocateBlock(int64_t bytes, int64_t alignment) {
  if (alignment > kPageBytes) return AllocateAligned(bytes, alignment);
  return AllocatePages(bytes);
}

}  // namespace

ir::Slot ConstantBlocks::Add(int device, const std::string& id, int64_t bytes,
                             Fill fill) {
  const auto [it, added] = slots_.try_emplace({device, id});
  if (added) {
    it->second = Append(device, id, bytes);
    jobs_.push_back({it->second, id, std::move(fill)});
  }
  return it->second;
}

ir::Slot ConstantBlocks::Add(int device,
                             std::shared_ptr<const ir::ConstantData> constant) {
  const auto bytes = static_cast<int64_t>(constant->bytes.size());
  const ir::DeviceInfo& info = devices_[device];
  if (device == 0 ||
      (info.unified_memory && bytes >= kLargeBytes && bytes <= kMaxBlockBytes &&
       IsAligned(constant->bytes.data(), info.alignment))) {
    return AddView(device, std::move(constant));
  }
  return Add(device, constant->hash.ToString(), bytes,
             [constant](std::span<std::byte> out) {
               std::copy(constant->bytes.begin(), constant->bytes.end(),
                         out.begin());
               return OkStatus();
             });
}

// With the gap behind it; nothing is empty.
int64_t ConstantBlocks::RoomFor(int device, int64_t bytes) const {
  return AlignUp(std::max<int64_t>(bytes, 1), devices_[device].alignment);
}

// Behind the last constant of the device, or in a new block.
ir::Slot ConstantBlocks::Append(int device, const std::string& id,
                                int64_t bytes) {
  const int64_t limit =
      std::min(devices_[device].max_allocation_bytes, kMaxBlockBytes);
  const int64_t room = RoomFor(device, bytes);
  const auto open = open_.find(device);
  if (open == open_.end() || blocks_[open->second].bytes > limit - room) {
    open_[device] = static_cast<int>(blocks_.size());
    blocks_.push_back({.device = device, .data = nullptr, .constants = {}});
  }
  const int index = open_[device];
  ir::ConstantBlock& block = blocks_[index];
  const ir::Slot slot{.kind = ir::SlotKind::kConstant,
                      .device = device,
                      .index = index,
                      .offset = block.bytes,
                      .bytes = bytes};
  block.constants.push_back({id, block.bytes, bytes});
  block.bytes += room;
  return slot;
}

ir::Slot ConstantBlocks::AddView(
    int device, std::shared_ptr<const ir::ConstantData> constant) {
  const std::string id = constant->hash.ToString();
  const auto [it, added] = slots_.try_emplace({device, id});
  if (!added) return it->second;
  const auto bytes = static_cast<int64_t>(constant->bytes.size());
  it->second = {.kind = ir::SlotKind::kConstant,
                .device = device,
                .index = static_cast<int>(blocks_.size()),
                .bytes = bytes};
  const std::byte* const data = constant->bytes.data();
  blocks_.push_back({.device = device,
                     .bytes = bytes,
                     .data = {std::move(constant), data},
                     .constants = {{id, 0, bytes}}});
  return it->second;
}

Status ConstantBlocks::Allocate() {
  memory_.assign(blocks_.size(), nullptr);
  for (size_t i = 0; i < blocks_.size(); ++i) {
    ir::ConstantBlock& block = blocks_[i];
    if (block.data != nullptr) continue;
    auto memory = AllocateBlock(block.bytes, devices_[block.device].alignment);
    if (memory == nullptr) {
      return OutOfMemory("no host memory for ", block.bytes,
                         " bytes of constants");
    }
    memory_[i] = memory.get();
    block.data = std::move(memory);
  }
  return OkStatus();
}

Status ConstantBlocks::MakeOne(const Job& job) const {
  const ir::Slot& slot = job.slot;
  std::byte* const first = memory_[slot.index] + slot.offset;
  // The gap behind it too: blocks of equal constants are equal.
  const int64_t room = RoomFor(slot.device, slot.bytes);
  std::memset(first, 0, static_cast<size_t>(room));
  return GuardedCall([&] {
           return job.fill({first, static_cast<size_t>(slot.bytes)});
         })
      .WithContext(StrCat("packing ", job.id));
}

// Where a constant can be made again from what was packed of it.
void ConstantBlocks::KeepForm(const Job& job) const {
  const auto* packing = job.fill.target<ir::ReversiblePacking>();
  if (packing == nullptr) return;
  const auto& data = blocks_[job.slot.index].data;
  ir::PackedForms::Keep(*packing, {data, data.get() + job.slot.offset});
}

Result<std::vector<ir::ConstantBlock>> ConstantBlocks::Make() {
  TIM_RETURN_IF_ERROR(Allocate());
  TIM_RETURN_IF_ERROR(ParallelFor(
      jobs_.size(), [this](size_t i) { return MakeOne(jobs_[i]); }));
  for (const Job& job : jobs_) KeepForm(job);
  return std::move(blocks_);
}

}  // namespace tim::compiler
