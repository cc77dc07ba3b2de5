// What convolution, FullyConnected and Matmul kernels do in a fused node
// between the sum and the store: Add of one float32 per output channel, Add of
// a tensor of the output's shape, then an operator of one input, or one of two
// of which the other has a float32 per output channel.
#ifndef TIM_OPS_LAUNCH_EPILOGUE_H_
#define TIM_OPS_LAUNCH_EPILOGUE_H_

#include <cstdint>
#include <span>

#include "ir/kernel_def.h"
#include "ops/launch/activation.h"
#include "ops/launch/launch.h"

namespace tim::ops {

/// result = f(result + add[channel] + residual[i]), in real values; f sets
/// limits, or is any formula where the output is float32, maybe one of two
/// operands, f(result, by[channel]).
struct Epilogue {
  int add = -1;  ///< Index in KernelNode::inputs; -1: none.
  int residual = -1;
  int by = -1;
  ir::Limits limits;
  Activation formula;  ///< None where it is no more than the limits.
  int operators = 0;   ///< Of KernelNode::epilogue that it stands for.

  /// Whether there is any f.
  bool activates() const;
};

/// Whether a kernel adds a tensor of the output's shape.
enum class Residual : uint8_t { kRefused, kTaken };
/// Whether it applies formulas of two operands.
enum class ByChannel : uint8_t { kRefused, kTaken };

/// The operand of an Add beside the running value; -1 where there is none.
int OtherOperand(const ir::EpilogueStep& step);

/// Reads the epilogue of a node whose output channels lie along `channel_axis`,
/// or says why it cannot be done before the store.
Result<Epilogue> EpilogueOf(const ir::KernelNode& node, int channel_axis,
                            Residual residual = Residual::kRefused,
                            ByChannel by = ByChannel::kRefused);

/// The same of some of its steps, which begin with a value of `begin`.
Result<Epilogue> EpilogueOf(const ir::KernelNode& node,
                            std::span<const ir::EpilogueStep> steps,
                            const ir::TensorDesc& begin, int channel_axis,
                            Residual residual = Residual::kRefused,
                            ByChannel by = ByChannel::kRefused);

/// The arguments `low, high` of kernels/activate.clh: real values for a float
/// output, codes for an integer one, or the parameters of a formula, whose
/// macro is -DACTIVATE.  The launch then applies all operators of the epilogue.
void AddActivation(const Epilogue& epilogue, const ir::TensorDesc& output,
                   Launch* launch);

/// The operand `bias`, an index or -1, those of the epilogue, output 0 and the
/// activation, with -DBIAS, -DADD and -DRESIDUAL where there are such operands,
/// and -DBY_CHANNEL, the formula's macro, where it takes `by`.
/// The kernel reads an element of the residual just before it stores the sum:
/// the output may lie there.
void AddEpilogue(const ir::KernelNode& node, int bias, const Epilogue& epilogue,
                 Launch* launch);

}  // namespace tim::ops

#endif  // TIM_OPS_LAUNCH_EPILOGUE_H_
