// Codes for real values: which, and how they are made.
#ifndef TIM_BENCH_NETWORKS_CODES_H_
#define TIM_BENCH_NETWORKS_CODES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "bench/networks/network.h"

namespace tim::bench {

/// The least and the greatest of some values.
struct Range {
  float least = 0;
  float greatest = 0;
};

/// All codes of `type` (kInt8 or kUint8), spread over `range` and 0, which has
/// a code of its own.
Codes CodesOfRange(const Range& range, ElementType type);

/// kInt8 from -127 to 127, spread over each channel of `axis` by itself, with
/// the code 0 for 0.
Codes CodesOfChannels(std::span<const float> values, const Shape& shape,
                      int axis);

/// kInt32 for what is added to sums of products of codes, one per channel where
/// the weights have one scale per channel.
Codes CodesOfBias(const Codes& input, const Codes& weights);

/// clamp(rint(value / scale) + zero_point), ties to even; `bytes` becomes as
/// long as the codes.  encode() of bench/onnx_quantized.py gives the same.
void Encode(std::span<const float> values, const Shape& shape,
            const Codes& codes, std::vector<uint8_t>* bytes);

}  // namespace tim::bench

#endif  // TIM_BENCH_NETWORKS_CODES_H_
