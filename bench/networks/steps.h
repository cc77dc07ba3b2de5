// What every step of a network's plan costs.
#ifndef TIM_BENCH_NETWORKS_STEPS_H_
#define TIM_BENCH_NETWORKS_STEPS_H_

#include <nlohmann/json.hpp>

#include "base/status.h"
#include "bench/networks/network.h"

namespace tim::bench {

/// A list of {step, kernel, options, global, microseconds, chosen, operations,
/// bytes, peak_gflops, peak_gbps}: medians of each step alone, several
/// times in a row with one wait.
Result<nlohmann::json> MeasureSteps(const Network& network);

}  // namespace tim::bench

#endif  // TIM_BENCH_NETWORKS_STEPS_H_
