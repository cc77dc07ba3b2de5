// Additions of this library to the API that the partition front follows.
#ifndef TIM_GRAPH_EXTENSION_HPP_
#define TIM_GRAPH_EXTENSION_HPP_

#include <cstddef>
#include <vector>

#include "tim/graph/c_extension.h"
#include "tim/graph/graph.hpp"
#include "tim/graph/op_definition.hpp"
#include "tim/graph/residency.hpp"

namespace tim {
namespace graph {

/// Limits of partitions; 0: none.  invalid_arguments where they contradict one
/// another.
struct partition_options {
  partition::policy policy = partition::policy::fusion;
  std::size_t max_ops = 0;         ///< Per partition.
  std::size_t min_ops = 1;         ///< Smaller supported ones are dissolved.
  std::size_t max_partitions = 0;  ///< Supported ones; the cheapest dissolve.
  std::size_t max_anchors = 0;     ///< Convolutions and products per partition.
};

inline std::vector<partition> graph::get_partitions(
    const partition_options& options) {
  tim_graph_partition_options_t in_c;
  in_c.policy = static_cast<tim_graph_partition_policy_t>(options.policy);
  in_c.max_ops = options.max_ops;
  in_c.min_ops = options.min_ops;
  in_c.max_partitions = options.max_partitions;
  in_c.max_anchors = options.max_anchors;
  error::wrap_c_api(tim_graph_graph_filter_with_options(get(), &in_c),
                    "could not partition the graph");
  return filtered_partitions();
}

}  // namespace graph
}  // namespace tim

#endif  // TIM_GRAPH_EXTENSION_HPP_
