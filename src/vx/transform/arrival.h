// The clients' permutation vectors.
#ifndef TIM_VX_TRANSFORM_ARRIVAL_H_
#define TIM_VX_TRANSFORM_ARRIVAL_H_

#include <map>
#include <memory>

#include "base/status.h"
#include "ir/permutation.h"
#include "tim/transform/permute_vector.h"
#include "vx/lowering/lowering.h"

namespace tim::transform {

using PermuteVectors =
    std::map<std::shared_ptr<vx::Tensor>, std::shared_ptr<IPermuteVector>>;

/// How graph inputs arrive, by value.  Fails for what is no permutation of an
/// INPUT or OUTPUT of the graph.
Result<std::map<ir::ValueId, ir::Permutation>> ArrivalOf(
    const PermuteVectors& vectors, const vx::GraphCore& core,
    const vx::LoweredGraph& lowered);

}  // namespace tim::transform

#endif  // TIM_VX_TRANSFORM_ARRIVAL_H_
