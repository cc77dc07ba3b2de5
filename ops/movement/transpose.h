// Tiles of a tensor whose axes are exchanged, for operators that move elements.
#ifndef TIM_OPS_MOVEMENT_TRANSPOSE_H_
#define TIM_OPS_MOVEMENT_TRANSPOSE_H_

#include <vector>

#include "base/status.h"
#include "ir/kernel_def.h"
#include "kernels/elements.h"
#include "ops/elements/axes.h"

namespace tim::ops {

struct Tiles {
  /// At least two, with strides of input and output: the first has a stride of
  /// 1 in the output, the second is the fastest of the others in the input.
  std::vector<Axis> axes;
  kernels::ConvertRule rule = kernels::ConvertRule::kBits;
};

/// Moves elements by transpose.cl, a tile of 16 x 16 per work-item.
Result<ir::Lowering> LowerTiles(const Tiles& tiles, const ir::KernelNode& node,
                                const ir::DeviceInfo& device);

}  // namespace tim::ops

#endif  // TIM_OPS_MOVEMENT_TRANSPOSE_H_
