// Where Resize reads: the elements of the input, and their weights, for every
// position along an axis of the output.
#ifndef TIM_OPS_RESIZE_RESIZE_SOURCES_H_
#define TIM_OPS_RESIZE_RESIZE_SOURCES_H_

#include <cstdint>
#include <vector>

#include "ir/kernel_def.h"
#include "ir/op_schema.h"

namespace tim::ops {

/// The numbers of tim::vx::ResizeType.
enum class ResizeType : int64_t { kNearest, kBilinear, kArea };

struct ResizeSource {
  int32_t lower = 0;
  int32_t upper = 0;  ///< lower where it has no weight.
  float weight = 0;   ///< Of upper; lower has the rest.
};

/// The sources of Resize along its first `axes` axes.
struct ResizeMap {
  /// Every element of the output is one of the input.
  bool moves = false;
  std::vector<ResizeSource> w;  ///< Of each position along axis 0.
  std::vector<ResizeSource> h;  ///< Axis 1.
  int64_t input_w = 1;
  int64_t input_h = 1;
  int64_t planes = 1;
};

/// Whether every element of the output is one of the input: the nearest, or the
/// shapes are equal.
bool ResizeMoves(const ir::AttributeMap& attributes, const ir::Shape& input,
                 const ir::Shape& output);

/// Static shapes; the output's extents rule.  eval and kernels read what this
/// function makes, so that all of them have the same coordinates.
ResizeMap ResizeMapOf(const ir::AttributeMap& attributes, int axes,
                      const ir::Shape& input, const ir::Shape& output);

/// The sources of w, then of h, as rows {lower, upper, bits of weight}.
ir::PackedConstant PackSources(const ResizeMap& map);

}  // namespace tim::ops

#endif  // TIM_OPS_RESIZE_RESIZE_SOURCES_H_
