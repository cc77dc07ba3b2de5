// Layers computed by CLBlast, beside which ours are shown.
#ifndef TIM_BENCH_CLBLAST_CLBLAST_LAYER_H_
#define TIM_BENCH_CLBLAST_CLBLAST_LAYER_H_

#include <functional>

#include "base/status.h"
#include "bench/networks/network.h"
#include "device/opencl/driver/cl_api.h"

namespace tim::bench {

/// Enqueues the layer on zeros: Convgemm (im2col and GEMM in one kernel) for a
/// kConv2d without its bias, Gemm for a kMatmul.  kUnimplemented for others.
Result<std::function<Status()>> ClblastLayer(const cl::CommandQueue& queue,
                                             const Network& network,
                                             const Layer& layer);

}  // namespace tim::bench

#endif  // TIM_BENCH_CLBLAST_CLBLAST_LAYER_H_
