// Networks as JSON, which onnx_model.py reads.
#ifndef TIM_BENCH_NETWORKS_DESCRIBE_H_
#define TIM_BENCH_NETWORKS_DESCRIBE_H_

#include <nlohmann/json.hpp>

#include "bench/networks/network.h"

namespace tim::bench {

/// {"name", "type", "layers": [{"kind", "inputs", "shape", "window": {"size",
/// "stride", "pad", "ceil"}, "axis", "groups", "extents", "permutation",
/// "begin", "stride", "coefficients", "parameters": [{"stream", "shape",
/// "bound", "center", "codes"}], "codes": {"type", "scales", "zero_point",
/// "axis"}}]}; axes slowest first, as ONNX and NumPy have them.
nlohmann::json Describe(const Network& network);

}  // namespace tim::bench

#endif  // TIM_BENCH_NETWORKS_DESCRIBE_H_
