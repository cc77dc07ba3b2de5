// Transposed convolutions as convolutions of stride 1.
// Output positions that differ by a multiple of the stride are of one phase:
// the same taps reach them.  Of a convolution with the output channels of every
// phase, output pixel (x, y) has those of the phases' pixels (x, y).
#ifndef TIM_OPS_DECONVOLUTION_DECONV_PHASES_H_
#define TIM_OPS_DECONVOLUTION_DECONV_PHASES_H_

#include "ir/kernel_def.h"
#include "ops/convolution/convolution.h"

namespace tim::ops {

/// The convolution that does what `deconv`, of one group, does.  The channels
/// of a phase are those of `deconv` in whole blocks of 16, phases count along
/// W, then along H.  Taps that a phase does not have are part of the kernel.
Conv2dShape PhasesOf(const Conv2dShape& deconv);

/// How many weights it has, with input channels in whole blocks of 16, too.
/// There may be more than 64 bits count, and PhasesOf can make.
double CountPhaseWeights(const Conv2dShape& deconv);

/// The node with the weights, and bias, of PhasesOf(deconv); those that are no
/// constants have none.  They are integers, or floats without quantization, of
/// whole bytes; taps and channels that do not exist have the weights' zero
/// point, and add nothing.
ir::KernelNode PhaseNodeOf(const ir::KernelNode& node,
                           const Conv2dShape& deconv);

/// Weights of one byte that are no constants in this form, by a launch that is
/// added to `lowering`: the index in Lowering::scratch.
/// \param phase_node PhaseNodeOf(deconv).
Result<int> PackPhases(const ir::KernelNode& phase_node,
                       const Conv2dShape& deconv, ir::Lowering* lowering);

}  // namespace tim::ops

#endif  // TIM_OPS_DECONVOLUTION_DECONV_PHASES_H_
