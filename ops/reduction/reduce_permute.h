// permute_rule of operators that reduce axes.
#ifndef TIM_OPS_REDUCTION_REDUCE_PERMUTE_H_
#define TIM_OPS_REDUCTION_REDUCE_PERMUTE_H_

#include <span>

#include "ir/permuted_node.h"
#include "ops/reduction/reduce_axes.h"

namespace tim::ops {

/// Whether float results may depend on the order of elements, which a
/// permutation changes.
enum class ReduceOrder : uint8_t { kAny, kMatters };

/// Of the axes that the attribute `name` lists, with or without keep_dims.
/// Refuses where the order would be another one and matters.
Result<ir::PermutedNode> PermuteReduced(const ir::NodeView& view,
                                        const char* name, ReduceOrder order,
                                        std::span<const int> perm);

/// Of the one axis that the attribute `axis` names, which goes.
Result<ir::PermutedNode> PermuteWithoutAxis(const ir::NodeView& view,
                                            std::span<const int> perm);

}  // namespace tim::ops

#endif  // TIM_OPS_REDUCTION_REDUCE_PERMUTE_H_
