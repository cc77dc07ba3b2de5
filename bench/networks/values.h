// Seeded numbers that every language computes alike: no weight file is needed.
#ifndef TIM_BENCH_NETWORKS_VALUES_H_
#define TIM_BENCH_NETWORKS_VALUES_H_

#include <cstdint>
#include <span>

namespace tim::bench {

/// Element i of a stream is a 24-bit integer k of a hash of (stream, i), as
/// (k * 2^-23 - 1) * bound: uniform in [-bound, bound), one rounding.
/// bench/onnx_model.py has the same function.
void FillValues(uint64_t stream, float bound, std::span<float> values);

}  // namespace tim::bench

#endif  // TIM_BENCH_NETWORKS_VALUES_H_
