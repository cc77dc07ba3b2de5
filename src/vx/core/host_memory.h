// Memory of the host that belongs to a graph.
#ifndef TIM_VX_CORE_HOST_MEMORY_H_
#define TIM_VX_CORE_HOST_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "base/memory_count.h"
#include "vx/core/dma_mapping.h"

namespace tim::vx {

/// What a host address needs so that devices can use it without a copy.
inline constexpr int64_t kHostAlignment = 64;

/// Blocks that live as long as the graph: a client that got one from
/// SwapHandle may use it, and swap it in again, until then.
class HostMemory {
 public:
  HostMemory() = default;
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  ~HostMemory();

  /// At least `bytes` zeros at a multiple of kHostAlignment, for one tensor;
  /// null where there is not enough.
  void* Allocate(int64_t bytes);
  /// Takes over a block from malloc(); one of its own stays its own.
  void Adopt(void* block) { blocks_.try_emplace(block); }
  /// Takes over a DMA buffer, for one tensor; its address.
  void* Adopt(std::unique_ptr<DmaMapping> mapping);

  /// Null for what is no DMA buffer of the graph.
  DmaMapping* MappingAt(const void* block) const;
  bool Owns(void* block) const { return blocks_.count(block) != 0; }

  // These do nothing with blocks that are not its own.

  /// One more tensor uses the block.
  void AddUser(void* block);
  /// One user less, the last one frees it.  A tensor that hands the block to
  /// the client leaves its own use to the client, for good.
  void RemoveUser(void* block);

 private:
  struct Block {
    int users = 0;
    CountedBytes counted = {};  // nothing of a client's
    std::unique_ptr<DmaMapping> mapping = nullptr;
    std::shared_ptr<std::byte[]> pages = nullptr;
  };
  using Blocks = std::map<const void*, Block>;

  static void Free(const Blocks::value_type& entry);

  Blocks blocks_;
  int mappings_ = 0;  // most graphs have none
};

}  // namespace tim::vx

#endif  // TIM_VX_CORE_HOST_MEMORY_H_
