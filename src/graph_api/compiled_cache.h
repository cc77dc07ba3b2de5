// Compiled partitions of equal calls.
#ifndef TIM_GRAPH_API_COMPILED_CACHE_H_
#define TIM_GRAPH_API_COMPILED_CACHE_H_

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "graph_api/compile.h"
#include "tim/graph/c.h"

namespace tim::graph {

/// What makes calls equal: the engine object, ops, descriptions as given, and
/// options.
std::string CompileKey(const CompileSource& source,
                       const std::vector<LogicalTensor>& inputs,
                       const std::vector<LogicalTensor>& outputs,
                       uint64_t engine_number,
                       const Residencies& residencies = {});

/// The least recently used entries go first.  One of the process; any thread.
class CompiledCache {
 public:
  explicit CompiledCache(int capacity) : capacity_(capacity) {}
  static CompiledCache& OfProcess();

  int capacity() const;
  void set_capacity(int capacity);

  /// The entry of the key, else what `compile` makes, which is kept where it
  /// succeeds.  Calls of the same key while it is made wait for it.
  /// \param hit whether nothing was made.
  CompileResult Get(const std::string& key, uint64_t engine_number,
                    const std::function<CompileResult()>& compile, bool* hit);
  /// Removes what was compiled for an engine that is gone.
  void ForgetEngine(uint64_t engine_number);
  int entries() const;

 private:
  /// Its mutex is held while it is made.
  struct Entry {
    std::mutex mutex;
    std::shared_ptr<const CompiledPartition> compiled;
    uint64_t engine_number = 0;
    std::list<std::string>::iterator place;
  };
  using Entries = std::map<std::string, std::shared_ptr<Entry>>;
  using Removed = std::vector<std::shared_ptr<Entry>>;

  std::shared_ptr<Entry> FindOrAdd(const std::string& key,
                                   uint64_t engine_number);
  void RemoveFailed(const std::string& key, const Entry* entry);
  // The caller holds the mutex, and drops what was removed without it.
  void Shrink(Removed* removed);
  Entries::iterator Erase(Entries::iterator entry, Removed* removed);

  mutable std::mutex mutex_;
  int capacity_;
  Entries entries_;
  std::list<std::string> order_;  ///< Keys, the least recently used first.
};

/// Compile() through the process's cache.
/// \param hit may be null.
CompileResult CompileOnce(const CompileSource& source,
                          const std::vector<LogicalTensor>& inputs,
                          const std::vector<LogicalTensor>& outputs,
                          std::shared_ptr<tim_graph_engine> engine,
                          bool* hit = nullptr,
                          const Residencies& residencies = {});

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_COMPILED_CACHE_H_
