// Times functions with Google Benchmark, all of them in turn.
#ifndef TIM_BENCH_TIMING_INTERLEAVED_H_
#define TIM_BENCH_TIMING_INTERLEAVED_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"

namespace tim::bench {

struct Timed {
  std::string name;
  std::function<Status()> run;
};

enum class Effort {
  kQuick,  ///< Once, to see that everything runs.
  kSteps,  ///< Medians of many short functions.
  kFull,   ///< Medians that can be reported.
};

/// Median seconds of one call of each, by name.  The repetitions of all
/// functions are shuffled, so that a slow moment of the machine spoils some of
/// everything and not all of one.
Result<std::map<std::string, double>> MedianSeconds(
    const std::vector<Timed>& functions, Effort effort);

}  // namespace tim::bench

#endif  // TIM_BENCH_TIMING_INTERLEAVED_H_
