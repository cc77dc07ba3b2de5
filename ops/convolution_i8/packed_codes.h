// What the kernels of Conv2d on 8-bit codes share, and how those in blocks of
// 16 channels have weights.
#ifndef TIM_OPS_CONVOLUTION_I8_PACKED_CODES_H_
#define TIM_OPS_CONVOLUTION_I8_PACKED_CODES_H_

#include <cstdint>

#include "ir/kernel_def.h"
#include "ops/convolution/conv2d_node.h"
#include "ops/convolution/convolution.h"
#include "ops/convolution_i8/code_epilogue.h"
#include "ops/elements/byte_sum.h"

namespace tim::ops {

/// What follows this convolution of codes in a fused node, or why these kernels
/// do not take the node: types, epilogue, elements, sums.
Result<CodeEpilogue> CheckedCodeEpilogueOf(const ir::KernelNode& node,
                                           const Conv2dShape& shape);
/// The same of a convolution whose results are the sums of plain codes
/// themselves, as int32, for a kernel that stores such.
Status CheckTotals(const ir::KernelNode& node, const Conv2dShape& shape);
/// The convolution that a Conv2d node does, for kernels without a fused Add, or
/// why they do not take it (all this, and positions).
Result<ConvProblem> CodeConv2dOf(const ir::KernelNode& node);

/// Where its weights are.
ByteWeights ByteWeightsOf(const Conv2dShape& shape);

/// How weights are packed: signed bytes [4 ic, lanes oc, ic_block / 4, Kw, Kh,
/// read_blocks, tiles of oc].
struct PackedCodes {
  int64_t lanes = 16;
  int64_t ic_block = 16;  ///< Or 4; 64 for tiles of AMX.
  int64_t in_blocks = 1;  ///< Of the input.
  /// What a tile reads of them: those of its groups, see conv2d_nchw16c_i8.cl.
  int64_t read_blocks = 1;
  int64_t tiles = 1;

  int64_t bytes(const Conv2dShape& shape) const;
};
PackedCodes PackedCodesOf(const Conv2dShape& shape, int64_t lanes,
                          int64_t ic_block);

/// Constant 1 of the node, the weights of `shape`, in this form.
ir::PackedConstant PackedCodeWeights(const ir::KernelNode& node,
                                     const Conv2dShape& shape,
                                     const PackedCodes& packed,
                                     const ByteShifts& shifts);

}  // namespace tim::ops

#endif  // TIM_OPS_CONVOLUTION_I8_PACKED_CODES_H_
