// Networks in 8 bits.
#ifndef TIM_BENCH_NETWORKS_QUANTIZE_H_
#define TIM_BENCH_NETWORKS_QUANTIZE_H_

#include <span>

#include "base/status.h"
#include "bench/networks/codes.h"
#include "bench/networks/network.h"

namespace tim::bench {

/// `network` in codes of `type`, kInt8 or kUint8, but for its input and its
/// output: layers of their own convert these.
///
/// Results have one scale and zero point each, of `ranges`, which has the range
/// of every layer's result by its number.  What only a Relu reads has the codes
/// of that Relu, which then follows from saturation; a MaxPool has those of its
/// input.  Weights have a scale for each output channel in kInt8, one scale
/// and zero point in kUint8; biases are kInt32.
///
/// kInvalidArgument where ranges are missing; kUnimplemented for kinds of
/// layers that the quantized networks do not have.
Result<Network> Quantize(const Network& network, std::span<const Range> ranges,
                         ElementType type);

}  // namespace tim::bench

#endif  // TIM_BENCH_NETWORKS_QUANTIZE_H_
