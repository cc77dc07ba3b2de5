// The chunks of a memory pool, and which parts of them are free.
#ifndef TIM_DEVICE_POOL_BLOCKS_H_
#define TIM_DEVICE_POOL_BLOCKS_H_

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "device/device.h"

namespace tim::device {

/// Work that may still use memory: what one stream was given before `event`.
struct LastUse {
  uint64_t stream = 0;  ///< Stream::id(); 0: none.
  /// Null with a stream that could not record it: nobody knows when.
  std::shared_ptr<Event> event;
  uint64_t number = 0;  ///< Later ones of a stream have higher numbers.
};

struct PoolChunk;

/// A part of a chunk, free or in use.
struct PoolBlock {
  PoolChunk* chunk = nullptr;
  int64_t offset = 0;  ///< In bytes.
  int64_t bytes = 0;
  bool free = true;
  LastUse last_use;  ///< Before it was taken, of one in use.
};

/// Memory of the device and the blocks that it is divided into, by offset.
struct PoolChunk {
  uint64_t number = 0;
  std::unique_ptr<Buffer> buffer;
  std::map<int64_t, PoolBlock> blocks;
};

/// Blocks stay where they are until they are freed; sizes are the caller's to
/// align.  One thread at a time.
class PoolBlocks {
 public:
  /// The smallest free block of `bytes` or more that nobody uses any more, or
  /// that `stream` (0: none) used last, whose later work comes after; or null.
  PoolBlock* Find(int64_t bytes, uint64_t stream) const;
  /// A new chunk is one free block.
  PoolBlock* Add(std::unique_ptr<Buffer> chunk);
  /// The free block is in use from now on, but for what it has beyond `bytes`.
  void Take(PoolBlock& block, int64_t bytes);
  /// The block in use is free, its `last_use` set, and joined with free
  /// neighbours.
  void Free(PoolBlock& block);
  /// Free blocks whose events have been reached are anybody's.
  void Settle();
  /// Events that Settle() waits for.
  std::vector<std::shared_ptr<Event>> Pending() const;
  /// Takes out chunks that are free as a whole and used by nobody, the newest
  /// first, as long as the rest has `keep_bytes` or more.
  std::vector<std::unique_ptr<Buffer>> RemoveUnused(int64_t keep_bytes);

  /// Bytes of all chunks.
  int64_t bytes() const { return bytes_; }

 private:
  using Blocks = std::map<int64_t, PoolBlock>;
  // Size, chunk and offset: of equal sizes the oldest chunk's first is taken,
  // so that the newest become free.
  using Key = std::tuple<int64_t, uint64_t, int64_t>;

  static Key KeyOf(const PoolBlock& block) {
    return {block.bytes, block.chunk->number, block.offset};
  }
  void Enlist(PoolBlock& block);
  void Delist(PoolBlock& block);
  void Join(PoolBlock& block);
  void Absorb(Blocks::iterator block, Blocks::iterator next);

  static constexpr int kBins = 63;

  std::list<PoolChunk> chunks_;  // oldest first
  // Free blocks; bin i has those of 2^i bytes and more, up to twice as many.
  std::array<std::map<Key, PoolBlock*>, kBins> bins_;
  std::set<PoolBlock*> pending_;  // free ones that a stream may use
  uint64_t next_number_ = 1;
  int64_t bytes_ = 0;
};

}  // namespace tim::device

#endif  // TIM_DEVICE_POOL_BLOCKS_H_
