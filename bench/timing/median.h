#ifndef TIM_BENCH_TIMING_MEDIAN_H_
#define TIM_BENCH_TIMING_MEDIAN_H_

#include <algorithm>
#include <vector>

namespace tim::bench {

/// Of an even number of values the upper one in the middle; not empty.
inline double Median(std::vector<double> values) {
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace tim::bench

#endif  // TIM_BENCH_TIMING_MEDIAN_H_
