// What convolutions of float32 and of 8-bit codes share on GPUs.
#ifndef TIM_OPS_CONVOLUTION_SIMT_CONVOLUTION_H_
#define TIM_OPS_CONVOLUTION_SIMT_CONVOLUTION_H_

#include <cstdint>

#include "base/status.h"
#include "ir/kernel_def.h"
#include "ops/convolution/convolution.h"
#include "ops/launch/launch.h"
#include "ops/launch/simt_tile.h"

namespace tim::ops {

/// Terms of a sum that have `channels` input channels of one tap each.
int64_t SimtTerms(const Conv2dShape& shape, int64_t channels);

/// The matrix product of conv2d_simt.cl with such terms.
SimtProduct SimtProductOf(const Conv2dShape& shape, int64_t channels);

/// For each such term, in the order (kw, kh, ic): how far it is from the first
/// tap, dx, dy, and how many channels it has.
ir::PackedConstant SimtTaps(const Conv2dShape& shape, int64_t channels);

/// Ok, or why no work-item of a depthwise kernel makes a strip of output rows:
/// groups of several input channels, pixels of more rows than are kept.
Status CheckDepthwiseStrip(const Conv2dShape& shape);

/// The options of depthwise_strip.clh, and an item for each strip.
void AddDepthwiseStrip(const Conv2dShape& shape, Launch* launch);

}  // namespace tim::ops

#endif  // TIM_OPS_CONVOLUTION_SIMT_CONVOLUTION_H_
