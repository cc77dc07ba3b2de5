// Plans that compiled partitions derive from constants, kept between executes.
#ifndef TIM_GRAPH_API_CONSTANT_CACHE_H_
#define TIM_GRAPH_API_CONSTANT_CACHE_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "graph_api/runnable.h"
#include "tim/graph/c.h"

namespace tim::graph {

/// Plans with the constants of one execute in them, by compiled partition and
/// addresses.  One of the process, with a capacity per kind of engine, for each
/// of its devices.  Any thread.
class ConstantCache {
 public:
  struct Key {
    uint64_t partition = 0;
    std::vector<const void*> handles;
    auto operator<=>(const Key&) const = default;
  };
  struct Entry {
    tim_graph_engine_kind_t kind = tim_graph_cpu;
    const void* device = nullptr;
    int64_t bytes = 0;  ///< Of the constants.
    std::shared_ptr<Runnable> plan;
    std::vector<Hash128> hashes;  ///< Of the constants, when it was made.
  };

  static ConstantCache& OfProcess();

  /// In units of 2^20 bytes; that of GraphOptions until it is set.
  size_t capacity(tim_graph_engine_kind_t kind) const;
  /// Removes all of the kind's entries.
  void set_capacity(tim_graph_engine_kind_t kind, size_t megabytes);

  /// Null where there is none.
  std::shared_ptr<const Entry> Find(const Key& key) const;
  /// Whether an entry of so many bytes would be kept.
  bool HasRoom(tim_graph_engine_kind_t kind, const void* device,
               int64_t bytes) const;
  /// Kept where there is room, else not.
  void Keep(Key key, Entry entry);
  /// Removes the entries of a partition that is gone.
  void Forget(uint64_t partition);
  size_t entries() const;

 private:
  ConstantCache() = default;
  // The caller holds the mutex.
  bool Fits(tim_graph_engine_kind_t kind, const void* device,
            int64_t bytes) const;
  template <typename Condition>
  void Remove(const Condition& condition);

  mutable std::mutex mutex_;
  std::map<tim_graph_engine_kind_t, size_t> capacities_;
  std::map<Key, std::shared_ptr<const Entry>> entries_;
  std::map<std::pair<tim_graph_engine_kind_t, const void*>, int64_t> used_;
};

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_CONSTANT_CACHE_H_
