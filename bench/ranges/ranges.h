// Ranges of the results of networks' layers, which bench/calibrate.py finds and
// writes into the files of this folder.
#ifndef TIM_BENCH_RANGES_RANGES_H_
#define TIM_BENCH_RANGES_RANGES_H_

#include <span>

#include "bench/networks/codes.h"

namespace tim::bench {

/// One for each layer of the float32 network, by its number.
std::span<const Range> Resnet50Ranges();
std::span<const Range> MobilenetV2Ranges();
std::span<const Range> MobilenetV3SmallRanges();

}  // namespace tim::bench

#endif  // TIM_BENCH_RANGES_RANGES_H_
