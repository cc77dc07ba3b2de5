// What convolution, FullyConnected and Matmul kernels do in a fused node
// between the sum and the store: Add of one float32 per output channel, Add of
// a tensor of the output's shape, then Relu or Relu6.
#ifndef TIM_OPS_LAUNCH_EPILOGUE_H_
#define TIM_OPS_LAUNCH_EPILOGUE_H_

#include <cstdint>
#include <limits>

#include "ir/kernel_def.h"
#include "ops/launch/launch.h"

namespace tim::ops {

/// result = clamp(result + add[channel] + residual[i], low, high), in real
/// values.
struct Epilogue {
  int add = -1;  ///< Index in KernelNode::inputs; -1: none.
  int residual = -1;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

/// Whether a kernel adds a tensor of the output's shape.
enum class Residual : uint8_t { kRefused, kTaken };

/// Reads the epilogue of a node whose output channels lie along `channel_axis`,
/// or says why it cannot be done before the store.
Result<Epilogue> EpilogueOf(const ir::KernelNode& node, int channel_axis,
                            Residual residual = Residual::kRefused);

/// The arguments `low, high` of kernels/product_sum.clh: real values for a
/// float output, codes for an integer one.
void AddLimits(const Epilogue& epilogue, const ir::TensorDesc& output,
               Launch* launch);

/// The operand `bias`, an index or -1, those of the epilogue, output 0 and the
/// limits, with -DBIAS, -DADD and -DRESIDUAL where there are such operands. The
/// kernel reads an element of the residual just before it stores the sum: the
/// output may lie there.
void AddEpilogue(const ir::KernelNode& node, int bias, const Epilogue& epilogue,
                 Launch* launch);

}  // namespace tim::ops

#endif  // TIM_OPS_LAUNCH_EPILOGUE_H_
