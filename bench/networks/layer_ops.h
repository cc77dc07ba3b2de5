// A layer as operations of tim::graph.
#ifndef TIM_BENCH_NETWORKS_LAYER_OPS_H_
#define TIM_BENCH_NETWORKS_LAYER_OPS_H_

#include <cstddef>
#include <vector>

#include "base/status.h"
#include "bench/networks/network.h"
#include "tim/graph/graph.hpp"

namespace tim::bench {

/// An input that FillValues() fills.
struct ConstantPort {
  graph::logical_tensor tensor;
  const Parameter* parameter = nullptr;
};

/// Tensors and ops of a network, float32 without gaps.
struct LayerOps {
  std::vector<graph::logical_tensor> results = {};  ///< By layer.
  std::vector<ConstantPort> constants = {};
  std::vector<graph::op> ops = {};
};

/// Operations of the network's layers, in order.  kUnimplemented for kinds of
/// layers that are not among those of residual networks.
Result<LayerOps> OpsOfNetwork(const Network& network);

}  // namespace tim::bench

#endif  // TIM_BENCH_NETWORKS_LAYER_OPS_H_
