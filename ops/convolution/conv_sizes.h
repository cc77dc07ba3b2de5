// The sizes of a convolution as its kernels take them.
#ifndef TIM_OPS_CONVOLUTION_CONV_SIZES_H_
#define TIM_OPS_CONVOLUTION_CONV_SIZES_H_

#include <array>
#include <cstdint>

#include "ops/convolution/convolution.h"
#include "ops/launch/launch.h"

namespace tim::ops {

/// The struct of ops/convolution/conv_sizes.clh, of the axes W, H and D.
Launch::Fields ConvSizes(const std::array<ConvAxis, 3>& axes,
                         const ConvGroups& group, int64_t channels,
                         int64_t batch);

/// That struct for a Conv2dShape or a Conv3dShape.
template <typename Shape>
Launch::Fields ConvSizes(const Shape& shape) {
  ConvAxis depth;
  if constexpr (requires { shape.d; }) depth = shape.d;
  return ConvSizes({shape.w, shape.h, depth}, shape.group, shape.channels,
                   shape.batch);
}

}  // namespace tim::ops

#endif  // TIM_OPS_CONVOLUTION_CONV_SIZES_H_
