// The figures of one network.
#ifndef TIM_BENCH_NETWORKS_MEASURE_H_
#define TIM_BENCH_NETWORKS_MEASURE_H_

#include <nlohmann/json.hpp>

#include "base/status.h"
#include "bench/networks/network.h"

namespace tim::bench {

struct MeasureOptions {
  int runs = 20;  ///< At least.
  /// The caller computes that long before each run.
  double seconds_between = 0;
};

/// Compiles, runs with a new input each time, and gives
///   network, type, device, runs, median_ms, min_ms (of Graph::Run()),
///   compile_s, core_to_core_ns  see timing/core_to_core.h; after the runs
///   weight_bytes     parameters, in the types they have
///   peak_bytes, lower_bound_bytes    planned memory of a run, and the most
///                    that lives at any one step
///   planned_bytes    arenas and packed constants, on all devices
///   counted_bytes    what the library's allocators hold: that, and the tensors
///   resident_bytes   of the process, after the runs
Result<nlohmann::json> Measure(const Network& network,
                               const MeasureOptions& options);

}  // namespace tim::bench

#endif  // TIM_BENCH_NETWORKS_MEASURE_H_
