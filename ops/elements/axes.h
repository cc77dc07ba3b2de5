// Loops over several tensors at once: axes with one stride per operand.
#ifndef TIM_OPS_ELEMENTS_AXES_H_
#define TIM_OPS_ELEMENTS_AXES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "ir/kernel_def.h"

namespace tim::ops {

struct Axis {
  int64_t extent = 1;
  std::vector<int64_t> strides;  ///< In elements, one per operand.
};

/// Axes of the loop over `extents` (fastest first), where strides[k] has the
/// strides of operand k.  Axes of extent 1 are dropped, and an axis that
/// continues the one before in every operand joins it.  At least one remains.
std::vector<Axis> JoinAxes(const std::vector<int64_t>& extents,
                           const std::vector<std::vector<int64_t>>& strides);

/// Strides of a dense tensor of `dims` that is broadcast to `output_dims`: 0
/// where its extent is 1, missing slow axes included.
std::vector<int64_t> BroadcastStrides(const std::vector<int64_t>& dims,
                                      const std::vector<int64_t>& output_dims);

/// Table of ints for kernels: a row {extent, stride of each operand} per axis.
ir::PackedConstant PackAxes(std::span<const Axis> axes, int operands);

/// Product of the extents.
int64_t CountElements(std::span<const Axis> axes);

/// Element of an operand with `strides` that belongs to element i of a dense
/// tensor of `extents`.
int64_t IndexOf(int64_t i, const std::vector<int64_t>& extents,
                const std::vector<int64_t>& strides);

}  // namespace tim::ops

#endif  // TIM_OPS_ELEMENTS_AXES_H_
