// What convolutions of 8-bit codes do between the sum and the store: limits,
// then Add of a tensor of the output's shape, then limits of its result.  What
// the Add reads of the sum is codes, or the real value where the convolution's
// own result is float32.
#ifndef TIM_OPS_CONVOLUTION_I8_CODE_EPILOGUE_H_
#define TIM_OPS_CONVOLUTION_I8_CODE_EPILOGUE_H_

#include "ir/kernel_def.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"

namespace tim::ops {

struct CodeEpilogue {
  Epilogue sums;  ///< Of the codes of KernelNode::anchor_output.
  int add = -1;   ///< The Add that follows, in KernelNode::epilogue; -1: none.
  int residual = -1;  ///< Its other operand, index in KernelNode::inputs.
  Epilogue results;   ///< Of what the Add stores.
};

/// That of the node, or why it cannot be done before the store.
Result<CodeEpilogue> CodeEpilogueOf(const ir::KernelNode& node);

/// CheckByteTypes() of a node with such an epilogue.
Status CheckCodeTypes(const ir::KernelNode& node);

/// Of conv2d_nchw16c_i8.cl: output, output_zero, low, high, and those of
/// -DRESIDUAL.
void AddCodeEpilogue(const ir::KernelNode& node, const CodeEpilogue& epilogue,
                     Launch* launch);

}  // namespace tim::ops

#endif  // TIM_OPS_CONVOLUTION_I8_CODE_EPILOGUE_H_
