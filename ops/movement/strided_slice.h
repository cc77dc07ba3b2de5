// Which elements of its input StridedSlice takes.
#ifndef TIM_OPS_MOVEMENT_STRIDED_SLICE_H_
#define TIM_OPS_MOVEMENT_STRIDED_SLICE_H_

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "ir/attribute.h"
#include "ir/shape.h"

namespace tim::ops {

/// `count` elements along an axis, from `begin` on by `stride`.
struct SlicedRange {
  int64_t begin = 0;
  int64_t stride = 1;
  int64_t count = 1;
};

/// One for each axis of the input, in whose order they make the output; the
/// output's extents rule.  Both shapes are static and passed inference.
Result<std::vector<SlicedRange>> SlicedRangesOf(
    const ir::AttributeMap& attributes, const ir::Shape& input,
    const ir::Shape& output);

}  // namespace tim::ops

#endif  // TIM_OPS_MOVEMENT_STRIDED_SLICE_H_
