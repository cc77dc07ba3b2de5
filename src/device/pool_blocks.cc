// Divides chunks into blocks, and joins what is free beside each other.
#include "device/pool_blocks.h"

#include <bit>
#include <iterator>
#include <utility>

namespace tim::device {
namespace {

size_t BinOf(int64_t bytes) {
  return static_cast<size_t>(std::bit_width(static_cast<uint64_t>(bytes))) - 1;
}

}  // namespace

PoolBlock* PoolBlocks::Find(int64_t bytes, uint64_t stream) const {
  for (size_t bin = BinOf(bytes); bin < bins_.size(); ++bin) {
    const auto& blocks = bins_[bin];
    for (auto at = blocks.lower_bound({bytes, 0, 0}); at != blocks.end();
         ++at) {
      const uint64_t last = at->second->last_use.stream;
      if (last == 0 || last == stream) return at->second;
    }
  }
  return nullptr;
}

PoolBlock* PoolBlocks::Add(std::unique_ptr<Buffer> chunk) {
  const int64_t bytes = chunk->bytes();
  PoolChunk& added = chunks_.emplace_back();
  added.number = next_number_++;
  added.buffer = std::move(chunk);
  PoolBlock& block = added.blocks[0];
  block.chunk = &added;
  block.bytes = bytes;
  bytes_ += bytes;
  Enlist(block);
  return &block;
}

void PoolBlocks::Take(PoolBlock& block, int64_t bytes) {
  Delist(block);
  if (block.bytes > bytes) {
    PoolBlock& rest = block.chunk->blocks[block.offset + bytes];
    rest = block;
    rest.offset += bytes;
    rest.bytes -= bytes;
    block.bytes = bytes;
    Enlist(rest);
  }
  block.free = false;
}

void PoolBlocks::Free(PoolBlock& block) {
  block.free = true;
  Enlist(block);
  Join(block);
}

void PoolBlocks::Settle() {
  std::vector<PoolBlock*> reached;
  for (PoolBlock* block : pending_) {
    const auto& event = block->last_use.event;
    if (event != nullptr && event->Ready()) reached.push_back(block);
  }
  // A block that is still pending is not joined with one that is not: none of
  // `reached` ends before its turn.
  for (PoolBlock* block : reached) {
    pending_.erase(block);
    block->last_use = {};
    Join(*block);
  }
}

std::vector<std::shared_ptr<Event>> PoolBlocks::Pending() const {
  std::vector<std::shared_ptr<Event>> events;
  for (const PoolBlock* block : pending_) {
    if (block->last_use.event != nullptr) {
      events.push_back(block->last_use.event);
    }
  }
  return events;
}

std::vector<std::unique_ptr<Buffer>> PoolBlocks::RemoveUnused(
    int64_t keep_bytes) {
  std::vector<std::unique_ptr<Buffer>> removed;
  for (auto at = chunks_.end(); at != chunks_.begin();) {
    --at;
    PoolBlock& first = at->blocks.begin()->second;
    const bool unused =
        at->blocks.size() == 1 && first.free && first.last_use.stream == 0;
    if (!unused || bytes_ - first.bytes < keep_bytes) continue;
    Delist(first);
    bytes_ -= first.bytes;
    removed.push_back(std::move(at->buffer));
    at = chunks_.erase(at);
  }
  return removed;
}

void PoolBlocks::Enlist(PoolBlock& block) {
  bins_[BinOf(block.bytes)].emplace(KeyOf(block), &block);
  if (block.last_use.stream != 0) pending_.insert(&block);
}

void PoolBlocks::Delist(PoolBlock& block) {
  bins_[BinOf(block.bytes)].erase(KeyOf(block));
  pending_.erase(&block);
}

void PoolBlocks::Join(PoolBlock& block) {
  Blocks& blocks = block.chunk->blocks;
  const auto at = blocks.find(block.offset);
  Absorb(at, std::next(at));
  if (at != blocks.begin()) Absorb(std::prev(at), at);
}

// Makes one block of `block` and `next`, where there is one, if both are free
// and the same stream, or none, may use them.
void PoolBlocks::Absorb(Blocks::iterator block, Blocks::iterator next) {
  PoolBlock& first = block->second;
  if (next == first.chunk->blocks.end()) return;
  PoolBlock& second = next->second;
  if (!first.free || !second.free ||
      first.last_use.stream != second.last_use.stream) {
    return;
  }
  Delist(first);
  Delist(second);
  first.bytes += second.bytes;
  if (first.last_use.number < second.last_use.number) {
    first.last_use = second.last_use;
  }
  first.chunk->blocks.erase(next);
  Enlist(first);
}

}  // namespace tim::device
