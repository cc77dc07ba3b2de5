// When a pool takes chunks from its device, and when it gives them back.
#include "device/pool_allocator.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/checked_math.h"

namespace tim::device {
namespace {

constexpr int64_t kSmallestChunk = int64_t{2} << 20;
constexpr int64_t kLargestChunk = int64_t{64} << 20;
constexpr int64_t kLargestShared = int64_t{32} << 20;

}  // namespace

std::string ToString(const PoolStats& stats) {
  return StrCat(stats.in_use, " of ", stats.reserved, " bytes in use, at most ",
                stats.peak_in_use, " of ", stats.peak_reserved, " so far; ",
                stats.allocations, " allocations, ", stats.hits,
                " of them from free memory, ", stats.raw_calls, " raw calls, ",
                stats.trims, " trims");
}

PoolRange& PoolRange::operator=(PoolRange&& other) noexcept {
  if (this == &other) return *this;
  Release(nullptr);
  pool_ = std::exchange(other.pool_, nullptr);
  block_ = std::exchange(other.block_, nullptr);
  forks_ = other.forks_;
  view_ = std::move(other.view_);
  return *this;
}

BufferRange PoolRange::place() const {
  return {block_->chunk->buffer.get(), block_->offset, view_->bytes()};
}

void PoolRange::Release(Stream* last_user) {
  view_ = nullptr;
  PoolAllocator* const pool = std::exchange(pool_, nullptr);
  if (pool == nullptr || forks_ != Forks()) return;
  pool->Release(*block_, last_user);
}

Result<PoolRange> PoolAllocator::Allocate(int64_t bytes, const Stream* stream) {
  const int64_t alignment = device_.info().alignment;
  if (bytes < 0) return InvalidArgument("a range of ", bytes, " bytes");
  if (bytes > std::numeric_limits<int64_t>::max() - alignment) {
    return OutOfMemory("a range of ", bytes, " bytes");
  }
  const int64_t size = AlignUp(std::max<int64_t>(bytes, 1), alignment);
  const uint64_t user = stream != nullptr ? stream->id() : 0;
  State& state = state_.Get();
  std::unique_lock lock(state.mutex);
  ++state.stats.allocations;
  state.Settle();
  PoolBlock* block = state.BlocksFor(size).Find(size, user);
  if (block != nullptr) {
    ++state.stats.hits;
  } else {
    TIM_ASSIGN_OR_RETURN(block, Grow(state, lock, size, user));
  }
  state.BlocksFor(size).Take(*block, size);
  PoolStats& stats = state.stats;
  stats.in_use += size;
  stats.peak_in_use = std::max(stats.peak_in_use, stats.in_use);
  lock.unlock();
  PoolRange range(*this, *block);
  TIM_ASSIGN_OR_RETURN(range.view_,
                       block->chunk->buffer->View(block->offset, bytes));
  return range;
}

// Chunks are freed when the lock is no longer held.
int64_t PoolAllocator::Trim(int64_t keep_bytes) {
  State& state = state_.Get();
  std::vector<std::unique_ptr<Buffer>> unused;
  const std::lock_guard lock(state.mutex);
  state.Settle();
  const int64_t before = state.stats.reserved;
  unused = state.RemoveUnused(keep_bytes);
  return before - state.stats.reserved;
}

PoolStats PoolAllocator::stats() const {
  State& state = state_.Get();
  const std::lock_guard lock(state.mutex);
  return state.stats;
}

void PoolAllocator::Release(PoolBlock& block, Stream* last_user) {
  LastUse last_use;
  if (last_user != nullptr) {
    last_use.stream = last_user->id();
    auto event = last_user->Record();
    if (event.ok()) last_use.event = *std::move(event);
  }
  State& state = state_.Get();
  const std::lock_guard lock(state.mutex);
  state.stats.in_use -= block.bytes;
  // Without a user it is as free as it was when it was taken.
  if (last_user != nullptr) {
    last_use.number = ++state.uses;
    block.last_use = std::move(last_use);
  }
  state.BlocksFor(block.bytes).Free(block);
}

Result<PoolBlock*> PoolAllocator::Grow(State& state,
                                       std::unique_lock<std::mutex>& lock,
                                       int64_t bytes, uint64_t stream) {
  PoolBlocks& blocks = state.BlocksFor(bytes);
  // Large chunks that are free are too small, and would only be more and more.
  if (&blocks == &state.large) {
    blocks.RemoveUnused(0);
    state.CountReserved();
  }
  auto block = AddChunk(state, ChunkBytes(state, bytes), bytes);
  if (block.status().code() != StatusCode::kOutOfMemory) return block;
  auto events = state.shared.Pending();
  for (auto& event : state.large.Pending()) events.push_back(std::move(event));
  lock.unlock();
  // That work failed does not keep its memory.
  for (const auto& event : events) static_cast<void>(event->Wait());
  lock.lock();
  state.Settle();
  PoolBlock* const released = blocks.Find(bytes, stream);
  if (released != nullptr) return released;
  state.RemoveUnused(0);
  block = AddChunk(state, bytes, bytes);
  const Status& status = block.status();
  if (status.code() != StatusCode::kOutOfMemory) return block;
  return OutOfMemory(status.message(), "; the memory pool of ",
                     device_.info().name, ": ", ToString(state.stats));
}

Result<PoolBlock*> PoolAllocator::AddChunk(State& state, int64_t bytes,
                                           int64_t range_bytes) {
  PoolStats& stats = state.stats;
  if (most_bytes_ > 0 && bytes > most_bytes_ - stats.reserved) {
    return OutOfMemory("a chunk of ", bytes, " bytes beside ", stats.reserved,
                       " exceeds the ", most_bytes_ >> 20,
                       " MiB of TIMCL_POOL_MB");
  }
  ++stats.raw_calls;
  TIM_ASSIGN_OR_RETURN(auto chunk, device_.Allocate(bytes, kind_));
  if (range_bytes <= kLargestShared) state.last_chunk = bytes;
  PoolBlock* const block = state.BlocksFor(range_bytes).Add(std::move(chunk));
  state.CountReserved();
  return block;
}

// Bytes of a chunk for a range of `bytes`.
int64_t PoolAllocator::ChunkBytes(const State& state, int64_t bytes) const {
  if (bytes > kLargestShared) return bytes;
  int64_t chunk =
      std::clamp(2 * state.last_chunk, kSmallestChunk, kLargestChunk);
  const ir::DeviceInfo& info = device_.info();
  if (info.max_allocation_bytes > 0) {
    chunk = std::min(chunk, info.max_allocation_bytes);
  }
  if (most_bytes_ > 0) {
    chunk = std::min(chunk, most_bytes_ - state.stats.reserved);
  }
  return std::max(chunk / info.alignment * info.alignment, bytes);
}

PoolBlocks& PoolAllocator::State::BlocksFor(int64_t bytes) {
  return bytes > kLargestShared ? large : shared;
}

void PoolAllocator::State::Settle() {
  shared.Settle();
  large.Settle();
}

void PoolAllocator::State::CountReserved() {
  stats.reserved = shared.bytes() + large.bytes();
  stats.peak_reserved = std::max(stats.peak_reserved, stats.reserved);
}

std::vector<std::unique_ptr<Buffer>> PoolAllocator::State::RemoveUnused(
    int64_t keep_bytes) {
  ++stats.trims;
  auto unused = large.RemoveUnused(keep_bytes - shared.bytes());
  for (auto& chunk : shared.RemoveUnused(keep_bytes - large.bytes())) {
    unused.push_back(std::move(chunk));
  }
  if (shared.bytes() == 0) last_chunk = 0;
  CountReserved();
  return unused;
}

}  // namespace tim::device
