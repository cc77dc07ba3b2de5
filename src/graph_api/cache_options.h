// Environment variables about caches, engines and checks.
#ifndef TIM_GRAPH_API_CACHE_OPTIONS_H_
#define TIM_GRAPH_API_CACHE_OPTIONS_H_

#include <cstddef>
#include <string>

namespace tim::graph {

struct CacheOptions {
  int compiled_entries = 1024;        ///< TIMCL_GRAPH_COMPILED_CACHE.
  size_t cpu_constant_megabytes = 0;  ///< TIMCL_GRAPH_CONSTANT_CACHE.
  size_t gpu_constant_megabytes = 0;
  /// TIMCL_GRAPH_CHECK: executes look for changed constants and for outputs
  /// that lie on inputs.
  bool check = false;
  bool all_are_gpus = false;  ///< TIMCL_GRAPH_GPU=all.
};

/// Parses the variables with `get(name)` (null: unset); where one of ours is
/// unset, oneDNN's name of it counts.  An illegal value leaves its default and
/// adds a line to `warnings`.
CacheOptions ParseCacheOptions(const char* (*get)(const char* name),
                               std::string* warnings);

/// Options of this process, read once.  Any thread.
const CacheOptions& GetCacheOptions();

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_CACHE_OPTIONS_H_
