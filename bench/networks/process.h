// What a measurement knows of its own process (Linux).
#ifndef TIM_BENCH_NETWORKS_PROCESS_H_
#define TIM_BENCH_NETWORKS_PROCESS_H_

#include <cstdint>

#include "base/status.h"

namespace tim::bench {

/// Keeps this process on the first `count` of the processors it may use, and
/// PoCL to as many threads.  Before anything calls OpenCL.
Status PinThreads(int count);

/// Resident memory, 0 where it is not known.
int64_t ResidentBytes();

}  // namespace tim::bench

#endif  // TIM_BENCH_NETWORKS_PROCESS_H_
