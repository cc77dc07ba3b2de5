// Memory of a device that is used again.
//
// A pool takes chunks of a device's memory and gives out parts of them, as
// buffers like any other: views of the chunks.  What comes back is given out
// again, to the stream that used it last at once, to others when the work that
// it had then is done.  Chunks go back to the device when the pool is trimmed.
#ifndef TIM_DEVICE_POOL_ALLOCATOR_H_
#define TIM_DEVICE_POOL_ALLOCATOR_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/fork/per_process.h"
#include "base/status.h"
#include "device/device.h"
#include "device/pool_blocks.h"
#include "ir/tensor_desc.h"

namespace tim::device {

/// Bytes, those in use as they were rounded up, and counts since the start.
struct PoolStats {
  int64_t in_use = 0;    ///< In ranges.
  int64_t reserved = 0;  ///< In chunks.
  int64_t peak_in_use = 0;
  int64_t peak_reserved = 0;
  int64_t allocations = 0;
  int64_t hits = 0;       ///< Allocations that needed no new chunk.
  int64_t raw_calls = 0;  ///< Of Device::Allocate().
  int64_t trims = 0;
};
std::string ToString(const PoolStats& stats);

class PoolAllocator;

/// A part of a chunk, or nothing; given back when destroyed, which is before
/// the device.  A process that is forked off gives none back that it was not
/// given: the other's pool is not its own.
class PoolRange {
 public:
  PoolRange() = default;
  PoolRange(PoolRange&& other) noexcept { *this = std::move(other); }
  PoolRange& operator=(PoolRange&& other) noexcept;
  /// Work no longer uses it.
  ~PoolRange() { Release(nullptr); }

  explicit operator bool() const { return view_ != nullptr; }
  /// As many bytes as were asked for, of any content.
  Buffer& buffer() const { return *view_; }
  /// The same memory as a part of its chunk.
  BufferRange place() const;

  /// Gives it back while work that `last_user` was given may use it, and that
  /// of other streams only if that comes before; null: no work that began after
  /// it was allocated does.  Records an event there, which takes what the
  /// stream has to tell of failures so far.
  void Release(Stream* last_user);

 private:
  friend class PoolAllocator;
  PoolRange(PoolAllocator& pool, PoolBlock& block)
      : pool_(&pool), block_(&block), forks_(Forks()) {}

  PoolAllocator* pool_ = nullptr;
  PoolBlock* block_ = nullptr;
  uint32_t forks_ = 0;
  std::unique_ptr<Buffer> view_;
};

/// Any thread.  Chunks have 2 MiB or more, twice as many as the last one up to
/// 64 MiB; ranges of more than 32 MiB are chunks of their own, which no smaller
/// ones lie in.  A process that is forked off has chunks of its own.
class PoolAllocator {
 public:
  /// \param device where the chunks are; outlives the pool.
  /// \param most_bytes of all chunks; 0: no limit.
  PoolAllocator(Device& device, ir::MemoryKind kind, int64_t most_bytes)
      : device_(device), kind_(kind), most_bytes_(most_bytes) {}
  PoolAllocator(const PoolAllocator&) = delete;
  PoolAllocator& operator=(const PoolAllocator&) = delete;

  /// Memory of `bytes` >= 0 bytes at the device's alignment, of any content,
  /// for work of `stream`, and of others that comes after; null: for any work.
  /// Where device or limit have no room for a chunk, waits for what was
  /// released, gives back what is not used, and tries once more; kOutOfMemory,
  /// with the statistics, where that fails, too.
  Result<PoolRange> Allocate(int64_t bytes, const Stream* stream);

  /// Gives chunks back to the device in which nothing is in use, the newest
  /// first, as long as `keep_bytes` or more are left.  Returns their bytes.
  int64_t Trim(int64_t keep_bytes);

  PoolStats stats() const;

 private:
  friend class PoolRange;
  struct State {
    std::mutex mutex;
    PoolBlocks shared;
    PoolBlocks large;
    PoolStats stats;
    int64_t last_chunk = 0;  // of the shared ones, 0: none
    uint64_t uses = 0;

    PoolBlocks& BlocksFor(int64_t bytes);
    void Settle();
    void CountReserved();
    std::vector<std::unique_ptr<Buffer>> RemoveUnused(int64_t keep_bytes);
  };

  void Release(PoolBlock& block, Stream* last_user);
  // The lock is held, but by Grow() while it waits for work.
  Result<PoolBlock*> Grow(State& state, std::unique_lock<std::mutex>& lock,
                          int64_t bytes, uint64_t stream);
  // A chunk of `bytes`, for a range of `range_bytes`.
  Result<PoolBlock*> AddChunk(State& state, int64_t bytes, int64_t range_bytes);
  int64_t ChunkBytes(const State& state, int64_t bytes) const;

  Device& device_;
  const ir::MemoryKind kind_;
  const int64_t most_bytes_;
  mutable PerProcess<State> state_;
};

}  // namespace tim::device

#endif  // TIM_DEVICE_POOL_ALLOCATOR_H_
