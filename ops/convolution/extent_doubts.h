// Doubts about declared extents, which rule where a formula gives others.
#ifndef TIM_OPS_CONVOLUTION_EXTENT_DOUBTS_H_
#define TIM_OPS_CONVOLUTION_EXTENT_DOUBTS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/op_schema.h"
#include "ops/convolution/convolution.h"
#include "ops/doubts/codes.h"

namespace tim::ops {

/// Extents that a reading of an operator's rule gives, from `low` to `high`.
struct ExtentRange {
  int64_t low = 0;
  int64_t high = 0;
};

/// Adds the axes of output 0 along which no range has its extent: readings[i]
/// are those along axis i.  Unknown extents, and axes without ranges, pass.
void AddExtentsDoubt(const ir::NodeView& view,
                     const std::vector<std::vector<ExtentRange>>& readings,
                     Doubts* doubts);

/// How many windows of `kernel` cells fit `room` + `kernel` cells, rounded down
/// and up; no range where the window does not fit.
std::vector<ExtentRange> WindowCounts(int64_t room, int64_t stride);
/// Those of a convolution along an axis, by SAME where its window says so.
std::vector<ExtentRange> ConvolvedExtents(const ConvWindow& window,
                                          int64_t input, int64_t kernel);

}  // namespace tim::ops

#endif  // TIM_OPS_CONVOLUTION_EXTENT_DOUBTS_H_
