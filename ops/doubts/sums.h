// Doubts about operators that sum products and add a bias.
#ifndef TIM_OPS_DOUBTS_SUMS_H_
#define TIM_OPS_DOUBTS_SUMS_H_

#include "ir/op_schema.h"
#include "ops/doubts/codes.h"

namespace tim::ops {

/// Adds integers without quantization as input `bias` beside factors, the
/// inputs `input` and `weights`, of which one is of a float type: codes count
/// as real numbers.  Absent operands, also by an index beyond the node's, have
/// no doubts.
void AddBareBiasDoubt(const ir::NodeView& view, int input, int weights,
                      int bias, Doubts* doubts);

/// Adds a scale of input 2, the bias, that differs by more than 2 % from the
/// scale of input 0 x that of input 1, of any channel: its codes are hardly
/// made with it.  (The product is made in float by some clients and rounded.)
void AddBiasScaleDoubt(const ir::NodeView& view, Doubts* doubts);

/// doubts of operators by ops/elements/product_sum.h, without their shapes.
Doubts SumDoubts(const ir::NodeView& view);

/// Adds arguments that are for information alone and say something else than
/// the kernel, of which `axes` extents are spatial: attribute 'ksize', and
/// attribute 'weights' (the number of output channels), 0 where not given.
void AddKernelDoubt(const ir::NodeView& view, int axes, Doubts* doubts);

}  // namespace tim::ops

#endif  // TIM_OPS_DOUBTS_SUMS_H_
