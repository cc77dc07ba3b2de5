// Rules of gradients of operators that look rows up.
#ifndef TIM_OPS_INDEXING_GATHER_RULES_H_
#define TIM_OPS_INDEXING_GATHER_RULES_H_

#include <vector>

#include "ops/gradients/vjp_builder.h"

namespace tim::ops {

/// Gather without a batch.
Result<std::vector<ir::ValueId>> GatherVjp(const ir::VjpContext& context);
Result<std::vector<ir::ValueId>> EmbeddingLookupVjp(
    const ir::VjpContext& context);

}  // namespace tim::ops

#endif  // TIM_OPS_INDEXING_GATHER_RULES_H_
