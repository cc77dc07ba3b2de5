// Layers as operations of tim::vx.
#ifndef TIM_BENCH_NETWORKS_LAYER_OPERATIONS_H_
#define TIM_BENCH_NETWORKS_LAYER_OPERATIONS_H_

#include <memory>

#include "bench/networks/network.h"
#include "tim/vx/graph.h"
#include "tim/vx/operation.h"

namespace tim::bench {

/// Not bound; null for what is no operation: inputs, constants and parts.
std::shared_ptr<vx::Operation> MakeOperation(vx::Graph& graph,
                                             const Network& network,
                                             const Layer& layer);

}  // namespace tim::bench

#endif  // TIM_BENCH_NETWORKS_LAYER_OPERATIONS_H_
