// What the convolutions that Conv2d computes add to its rules.
#ifndef TIM_OPS_CONVOLUTION_CONV_DELEGATE_H_
#define TIM_OPS_CONVOLUTION_CONV_DELEGATE_H_

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "ir/op_schema.h"

namespace tim::ops {

/// The attribute `group` is what input [.., C, N] and weights [.., C / group,
/// O] with so many spatial axes say, and divides O.  Unknown extents pass.
Status CheckGroup(const ir::InferContext& context, int spatial_axes);

/// Conv1d's and GroupedConv1d's attributes but for groups.
std::vector<ir::AttributeSpec> Conv1dWindowSpecs();
/// As Conv2d's, with a kernel of 1 along H.
Result<ir::AttributeMap> Conv1dWindowIn2d(const ir::AttributeMap& attributes);
/// Weights that are quantized per channel are so along their last axis, or
/// along the one before it where depthwise weights [K, C * m, 1] are legal.
enum class WeightsForm : uint8_t { kGrouped, kDepthwise };
Status CheckConv1dWeights(const ir::InferContext& context, WeightsForm form);

}  // namespace tim::ops

#endif  // TIM_OPS_CONVOLUTION_CONV_DELEGATE_H_
