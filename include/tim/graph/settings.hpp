// Settings of the process: caches, dumps, modes.
#ifndef TIM_GRAPH_SETTINGS_HPP_
#define TIM_GRAPH_SETTINGS_HPP_

#include <cstddef>

#include "tim/graph/c.h"
#include "tim/graph/common.hpp"

namespace tim {
namespace graph {

/// Bits of what is written to files.
enum class graph_dump_mode : unsigned {
  none = tim_graph_dump_mode_none,
  subgraph = tim_graph_dump_mode_subgraph,
  graph = tim_graph_dump_mode_graph,
};
TIM_GRAPH_BIT_OPERATORS(graph_dump_mode);

/// A refusal is returned, not thrown.
inline status set_dump_mode(graph_dump_mode modes) {
  return static_cast<status>(
      tim_graph_set_dump_mode(static_cast<tim_graph_dump_mode_t>(modes)));
}

/// Compiled partitions that the cache may hold.
inline int get_compiled_partition_cache_capacity() {
  int capacity = 0;
  error::wrap_c_api(tim_graph_get_compiled_partition_cache_capacity(&capacity),
                    "could not get the capacity of the compiled cache");
  return capacity;
}
/// 0: none is kept.
inline void set_compiled_partition_cache_capacity(int capacity) {
  error::wrap_c_api(tim_graph_set_compiled_partition_cache_capacity(capacity),
                    "could not set the capacity of the compiled cache");
}

/// 0: constants are derived in every execute; above: kept without limit.
inline void set_constant_tensor_cache(int flag) {
  error::wrap_c_api(tim_graph_set_constant_tensor_cache(flag),
                    "could not set the cache of constants");
}
inline int get_constant_tensor_cache() {
  int flag = 0;
  error::wrap_c_api(tim_graph_get_constant_tensor_cache(&flag),
                    "could not get the cache of constants");
  return flag;
}
/// Empties the caches of that kind.
inline void set_constant_tensor_cache_capacity(engine::kind kind,
                                               std::size_t megabytes) {
  error::wrap_c_api(tim_graph_set_constant_tensor_cache_capacity(
                        convert_to_c(kind), megabytes),
                    "could not set the capacity of the cache of constants");
}
inline std::size_t get_constant_tensor_cache_capacity(engine::kind kind) {
  std::size_t megabytes = 0;
  error::wrap_c_api(tim_graph_get_constant_tensor_cache_capacity(
                        convert_to_c(kind), &megabytes),
                    "could not get the capacity of the cache of constants");
  return megabytes;
}

/// Mode of graphs that are created without one.
inline fpmath_mode get_default_fpmath_mode() {
  tim_graph_fpmath_mode_t mode = tim_graph_fpmath_mode_strict;
  error::wrap_c_api(tim_graph_get_default_fpmath_mode(&mode),
                    "could not get the default fpmath mode");
  return static_cast<fpmath_mode>(mode);
}
inline status set_default_fpmath_mode(fpmath_mode mode) {
  return static_cast<status>(
      tim_graph_set_default_fpmath_mode(convert_to_c(mode)));
}
inline status set_verbose(int level) {
  return static_cast<status>(tim_graph_set_verbose(level));
}

using version_t = tim_graph_version_t;
inline const version_t* version() { return tim_graph_version(); }

}  // namespace graph
}  // namespace tim

#undef TIM_GRAPH_BIT_OPERATORS

#endif  // TIM_GRAPH_SETTINGS_HPP_
