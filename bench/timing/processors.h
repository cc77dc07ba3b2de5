// The processors that this process may use (Linux).
#ifndef TIM_BENCH_TIMING_PROCESSORS_H_
#define TIM_BENCH_TIMING_PROCESSORS_H_

#include <vector>

namespace tim::bench {

/// Their numbers, ascending.
std::vector<int> AllowedProcessors();

/// Keeps the calling thread on those; false where the system refuses.
bool StayOn(const std::vector<int>& processors);

}  // namespace tim::bench

#endif  // TIM_BENCH_TIMING_PROCESSORS_H_
