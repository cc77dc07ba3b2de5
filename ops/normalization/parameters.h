// Scales, shifts and statistics that normalisations take as inputs.
#ifndef TIM_OPS_NORMALIZATION_PARAMETERS_H_
#define TIM_OPS_NORMALIZATION_PARAMETERS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "ir/op_schema.h"

namespace tim::ops {

/// Strides of a dense parameter along every axis of an input of `dims`: of rank
/// 1 and as long as `axis`, it lies along that axis; of any other shape it is
/// broadcast.  Fails where it does not broadcast.
Result<std::vector<int64_t>> ParameterStrides(
    const std::vector<int64_t>& parameter, const std::vector<int64_t>& dims,
    int axis);

/// Whether input `input` of rank 1 is that of the first case.  Fails where its
/// extent, or the axis's, is unknown.
Result<bool> LiesAlongAxis(const ir::NodeView& view, int input, int axis);

/// Leaves parameters that lie along `axis` as they are; the others are permuted
/// as `out` has it.
Status KeepParametersAlong(const ir::NodeView& view, int axis,
                           ir::PermutedNode* out);
/// OpSchema::permute_rule of operators that normalise along the attribute
/// `axis`.
Result<ir::PermutedNode> PermuteAlongAxis(const ir::NodeView& view, int operand,
                                          std::span<const int> perm);

/// ParameterStrides of inputs [first, last), or the failure that names the
/// input as `names` do.  Shapes must be static.
Result<std::vector<std::vector<int64_t>>> StridesOfInputs(
    const ir::NodeView& view, int first, const std::vector<const char*>& names,
    int axis);

/// "gamma (input 2) is int8, expected a float type"
Status CheckFloatInput(const ir::NodeView& view, int input, const char* name);

/// The attribute `axis` is an axis of input 0, where its rank is known.
Status CheckAxis(const ir::InferContext& context);
/// infer_shapes of operators of one input along that axis.
Status InferAlongAxis(ir::InferContext& context);

/// infer_shapes of operators whose output has the shape of input 0.  `check` of
/// shapes is called where all are static, with a view that has no outputs.
Status InferNorm(ir::InferContext& context,
                 Status (*check)(const ir::NodeView& view));

}  // namespace tim::ops

#endif  // TIM_OPS_NORMALIZATION_PARAMETERS_H_
