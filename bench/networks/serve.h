// Runs a network for another process.
#ifndef TIM_BENCH_NETWORKS_SERVE_H_
#define TIM_BENCH_NETWORKS_SERVE_H_

#include <cstdio>

#include "base/status.h"
#include "bench/networks/network.h"

namespace tim::bench {

/// Writes a line when it is ready.  Then, for every turn read from `in`, a
/// count (int64) and as many inputs (float32, dense), runs them one after the
/// other, and writes the seconds of all (float64), then the outputs of all
/// (float32), in the machine's byte order.  Ends with `in`; fails where a turn
/// is cut short, empty, or of more than 2^28 floats.  peers.py speaks the same.
Status Serve(const Network& network, std::FILE* in, std::FILE* out);

}  // namespace tim::bench

#endif  // TIM_BENCH_NETWORKS_SERVE_H_
