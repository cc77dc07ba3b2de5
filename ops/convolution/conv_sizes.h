// The sizes of a convolution as its kernels take them.
#ifndef TIM_OPS_CONVOLUTION_CONV_SIZES_H_
#define TIM_OPS_CONVOLUTION_CONV_SIZES_H_

#include "ops/convolution/convolution.h"
#include "ops/launch/launch.h"

namespace tim::ops {

/// The struct of ops/convolution/conv_sizes.clh.
Launch::Fields ConvSizes(const ConvShape& shape);

}  // namespace tim::ops

#endif  // TIM_OPS_CONVOLUTION_CONV_SIZES_H_
