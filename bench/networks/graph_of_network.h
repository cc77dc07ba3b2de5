// A network as a graph of tim::vx.
#ifndef TIM_BENCH_NETWORKS_GRAPH_OF_NETWORK_H_
#define TIM_BENCH_NETWORKS_GRAPH_OF_NETWORK_H_

#include <memory>
#include <vector>

#include "bench/networks/network.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/tensor.h"

namespace tim::bench {

/// Not compiled yet.
struct NetworkGraph {
  std::shared_ptr<vx::Graph> graph;
  std::vector<std::shared_ptr<vx::Tensor>> results;  ///< By layer.
};

NetworkGraph GraphOfNetwork(vx::Context& context, const Network& network);

}  // namespace tim::bench

#endif  // TIM_BENCH_NETWORKS_GRAPH_OF_NETWORK_H_
