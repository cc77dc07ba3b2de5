// Convolutions of tensors [W, H, C, N], their adjoints and the gradients of
// their weights, which rules of operators with windows are made of.
#ifndef TIM_OPS_GRADIENTS_GRADIENT_WINDOWS_H_
#define TIM_OPS_GRADIENTS_GRADIENT_WINDOWS_H_

#include <array>
#include <cstdint>

#include "ops/gradients/vjp_builder.h"

namespace tim::ops {

/// How windows of a kernel move over an image along W or H.
struct GradientWindow {
  int64_t image = 1;   ///< Extent that windows read,
  int64_t kernel = 1;  ///< of so many taps,
  int64_t count = 1;   ///< and how many there are.
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t front = 0;  ///< Cells of the first window before the image.
};
using GradientWindows = std::array<GradientWindow, 2>;

/// The convolution of x [image.., C, N] with weights [kernel.., C / groups, O]:
/// [count.., O, N].
ir::ValueId Convolve(VjpBuilder& b, ir::ValueId x, ir::ValueId weights,
                     const GradientWindows& windows);

/// Its adjoint: what each element of g [count.., O, N] adds to the elements of
/// x that its window reads: [image.., C, N].
ir::ValueId SpreadWindows(VjpBuilder& b, ir::ValueId g, ir::ValueId weights,
                          const GradientWindows& windows, int64_t groups);

/// The gradient of its weights.
ir::ValueId WeightsGradient(VjpBuilder& b, ir::ValueId x, ir::ValueId g,
                            const GradientWindows& windows, int64_t groups);

/// Weights [.., C / groups, O] become [.., O / groups, C].
ir::ValueId ExchangeChannels(VjpBuilder& b, ir::ValueId weights,
                             int64_t groups);

/// Sums of g [.., O, N] for each of the O channels.
ir::ValueId ChannelSums(VjpBuilder& b, ir::ValueId g);

}  // namespace tim::ops

#endif  // TIM_OPS_GRADIENTS_GRADIENT_WINDOWS_H_
