// Runs a network for another process.
#ifndef TIM_BENCH_NETWORKS_SERVE_H_
#define TIM_BENCH_NETWORKS_SERVE_H_

#include <cstdio>

#include "base/status.h"
#include "bench/networks/network.h"

namespace tim::bench {

/// Writes a line when it is ready; then for every input (float32, dense) read
/// from `in`: the seconds of the run (float64) and the output (float32), in
/// the machine's byte order.  Ends with `in`.  peers.py speaks the same.
Status Serve(const Network& network, std::FILE* in, std::FILE* out);

}  // namespace tim::bench

#endif  // TIM_BENCH_NETWORKS_SERVE_H_
