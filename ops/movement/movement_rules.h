// Rules of gradients of operators that move elements.
#ifndef TIM_OPS_MOVEMENT_MOVEMENT_RULES_H_
#define TIM_OPS_MOVEMENT_MOVEMENT_RULES_H_

#include <vector>

#include "ops/gradients/vjp_builder.h"

namespace tim::ops {

/// Output 0 has the elements of input 0 in their order: Reshape, Squeeze.
Result<std::vector<ir::ValueId>> ReshapeVjp(const ir::VjpContext& context);
Result<std::vector<ir::ValueId>> TransposeVjp(const ir::VjpContext& context);
Result<std::vector<ir::ValueId>> ReverseVjp(const ir::VjpContext& context);
Result<std::vector<ir::ValueId>> ConcatVjp(const ir::VjpContext& context);
Result<std::vector<ir::ValueId>> SplitVjp(const ir::VjpContext& context);
Result<std::vector<ir::ValueId>> StackVjp(const ir::VjpContext& context);
Result<std::vector<ir::ValueId>> UnstackVjp(const ir::VjpContext& context);
/// Pad and PadV2 in mode constant.
Result<std::vector<ir::ValueId>> PadVjp(const ir::VjpContext& context);
Result<std::vector<ir::ValueId>> SliceVjp(const ir::VjpContext& context);
Result<std::vector<ir::ValueId>> StridedSliceVjp(const ir::VjpContext& context);
Result<std::vector<ir::ValueId>> BroadcastVjp(const ir::VjpContext& context);
Result<std::vector<ir::ValueId>> TileVjp(const ir::VjpContext& context);

}  // namespace tim::ops

#endif  // TIM_OPS_MOVEMENT_MOVEMENT_RULES_H_
