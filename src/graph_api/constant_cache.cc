// The one cache of plans with constants in them.
#include "graph_api/constant_cache.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "base/fork/keep_one.h"
#include "graph_api/options.h"

namespace tim::graph {
namespace {

constexpr int kMegabyteBits = 20;
constexpr size_t kMostMegabytes =
    std::numeric_limits<size_t>::max() >> kMegabyteBits;

}  // namespace

ConstantCache& ConstantCache::OfProcess() {
  using Owner = std::unique_ptr<ConstantCache>;
  static constinit std::atomic<const Owner*> cache = nullptr;
  return *KeepOne(cache, [] {
    Owner made(new ConstantCache());
    const GraphOptions& options = GetGraphOptions();
    made->set_capacity(tim_graph_cpu, options.cpu_constant_megabytes);
    made->set_capacity(tim_graph_gpu, options.gpu_constant_megabytes);
    return made;
  });
}

size_t ConstantCache::capacity(tim_graph_engine_kind_t kind) const {
  const std::lock_guard lock(mutex_);
  const auto found = capacities_.find(kind);
  return found == capacities_.end() ? 0 : found->second;
}

template <typename Condition>
void ConstantCache::Remove(const Condition& condition) {
  // Plans go when the mutex is free.
  std::vector<std::shared_ptr<const Entry>> removed;
  const std::lock_guard lock(mutex_);
  for (auto it = entries_.begin(); it != entries_.end();) {
    if (!condition(it->first, *it->second)) {
      ++it;
      continue;
    }
    used_[{it->second->kind, it->second->device}] -= it->second->bytes;
    removed.push_back(std::move(it->second));
    it = entries_.erase(it);
  }
}

void ConstantCache::set_capacity(tim_graph_engine_kind_t kind,
                                 size_t megabytes) {
  {
    const std::lock_guard lock(mutex_);
    capacities_[kind] = std::min(megabytes, kMostMegabytes);
  }
  Remove([&](const Key&, const Entry& entry) { return entry.kind == kind; });
}

std::shared_ptr<const ConstantCache::Entry> ConstantCache::Find(
    const Key& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : found->second;
}

bool ConstantCache::Fits(tim_graph_engine_kind_t kind, const void* device,
                         int64_t bytes) const {
  const auto capacity = capacities_.find(kind);
  if (capacity == capacities_.end()) return false;
  const size_t most = capacity->second << kMegabyteBits;
  const auto used = used_.find({kind, device});
  const size_t now =
      used == used_.end() ? 0 : static_cast<size_t>(used->second);
  return now <= most && static_cast<size_t>(bytes) <= most - now;
}

bool ConstantCache::HasRoom(tim_graph_engine_kind_t kind, const void* device,
                            int64_t bytes) const {
  const std::lock_guard lock(mutex_);
  return Fits(kind, device, bytes);
}

void ConstantCache::Keep(Key key, Entry entry) {
  const std::lock_guard lock(mutex_);
  if (!Fits(entry.kind, entry.device, entry.bytes)) return;
  int64_t& used = used_[{entry.kind, entry.device}];
  const int64_t bytes = entry.bytes;
  const auto [place, added] = entries_.emplace(
      std::move(key), std::make_shared<const Entry>(std::move(entry)));
  if (added) used += bytes;
}

void ConstantCache::Forget(uint64_t partition) {
  Remove(
      [&](const Key& key, const Entry&) { return key.partition == partition; });
}

size_t ConstantCache::entries() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace tim::graph
