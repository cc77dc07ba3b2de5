// Costs of tim::graph beside tim::vx, and beside the runtime below both.
#ifndef TIM_BENCH_NETWORKS_FRONTS_H_
#define TIM_BENCH_NETWORKS_FRONTS_H_

#include <nlohmann/json.hpp>

#include "base/status.h"
#include "bench/networks/network.h"

namespace tim::bench {

/// Runs of the network through both fronts, in turn: medians, the median of
/// the turns' ratios, and how far the outputs are apart.
Result<nlohmann::json> MeasureFronts(const Network& network, int turns);

/// An execute() of a partition of one ReLU of 64 elements, in turn with
/// ExecutionContext::Run() of its plan: medians of microseconds, and the median
/// of their differences.
Result<nlohmann::json> MeasureExecuteCost(int turns);

}  // namespace tim::bench

#endif  // TIM_BENCH_NETWORKS_FRONTS_H_
