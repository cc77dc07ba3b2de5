// Cost of a trace to the runs of a network.
#ifndef TIM_BENCH_NETWORKS_TRACE_COST_H_
#define TIM_BENCH_NETWORKS_TRACE_COST_H_

#include <nlohmann/json.hpp>
#include <string>

#include "base/status.h"
#include "bench/networks/network.h"

namespace tim::bench {

/// Runs without a trace and with one that goes to `file`, in turn, and gives
///   network, type, device, runs     of each kind
///   off_us, on_us, write_us    of a run: without, with, and what the writing
///   of
///                    its events takes, which a process does now and then
///   ratio, ratio_with_writing  on to off, the medians of the turns
///   bytes            of the file, of a run
/// The file has the last turn.
Result<nlohmann::json> MeasureTraceCost(const Network& network,
                                        const std::string& file);

}  // namespace tim::bench

#endif  // TIM_BENCH_NETWORKS_TRACE_COST_H_
