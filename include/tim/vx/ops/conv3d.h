// Three-dimensional convolution.
#ifndef TIM_VX_OPS_CONV3D_H_
#define TIM_VX_OPS_CONV3D_H_

#include <array>
#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// out(x, y, z, o, n) = bias(o) + sum over (i, j, k, c) of
///   in(x * stride_w - left + i * dilation_w,
///      y * stride_h - top + j * dilation_h,
///      z * stride_d - front + k * dilation_d, c, n) * kernel(i, j, k, c, o);
/// cells outside of the volume are 0.
///
/// Input 0: [W, H, D, C, N].  Input 1, kernel: [Kw, Kh, Kd, C, O]; it may be an
/// INPUT.  Input 2, bias, optional: [O]; FLOAT32, FLOAT16, or INT32 (INT64 for
/// 16-bit data) with scale = input scale * kernel scale.
/// Output 0: [Wo, Ho, Do, O, N],
/// Wo = floor((W + left + right - E) / stride_w) + 1 where
/// E = (Kw - 1) * dilation_w + 1, Ho and Do likewise.
/// Types: FLOAT32, FLOAT16, or quantized; the kernel may be quantized per
/// channel along O.
///
/// - padding: AUTO and NONE = the pads given, else 0.  VALID: 0.  SAME: the
///        output is ceil(W / stride_w) wide; of an odd total the right, bottom
///        and rear get one more.  SAME and VALID discard `pad`.
/// - pad: {left, right, top, bottom, front, rear}, cells.
/// - stride, dilation: {W, H, D}, cells; dilation 0 means 1.
/// - multiplier: 0 = convolution; kernel dimension 3 = C / g means g groups.
///        m > 0 = depthwise, kernel [Kw, Kh, Kd, C * m, 1], output channel o
///        reads input channel o / m only.
/// - weights, ksize: for information; the kernel's shape counts.
/// - input_layout, kernel_layout: tim::transform::LayoutInference alone
///        acts on them, on CWHDN, and OcIcWHD beside it.
/// The declared W, H and D of an OUTPUT tensor rule: so many cells are
/// computed, and what lies beyond the padded input reads as 0.
/// Errors: Compile() fails on a rank other than 5, kernel or bias extents that
/// do not fit, a stride below 1, negative dilations and pads, any of them above
/// 2^31 - 1, an output to infer that is empty, and other types.
/// Source: ONNX Conv-11, TFLite CONV_3D.
class Conv3d : public BuiltinOpOf<Conv3d> {
 public:
  static const char* OpName() { return "Conv3d"; }

  Conv3d(Graph* graph, PadType padding, const std::array<int32_t, 3>& stride,
         const std::array<int32_t, 3>& dilation, int32_t multiplier = 0,
         DataLayout input_layout = DataLayout::WHDCN,
         DataLayout kernel_layout = DataLayout::WHDIcOc)
      : BuiltinOpOf(graph, {{"padding", padding},
                            {"stride", stride},
                            {"dilation", dilation},
                            {"multiplier", multiplier},
                            {"input_layout", input_layout},
                            {"kernel_layout", kernel_layout}}) {}

  Conv3d(Graph* graph, const std::array<int32_t, 6> pad,
         const std::array<int32_t, 3>& stride,
         const std::array<int32_t, 3>& dilation, int32_t multiplier = 0,
         DataLayout input_layout = DataLayout::WHDCN,
         DataLayout kernel_layout = DataLayout::WHDIcOc)
      : BuiltinOpOf(graph, {{"padding", PadType::AUTO},
                            {"pad", pad},
                            {"stride", stride},
                            {"dilation", dilation},
                            {"multiplier", multiplier},
                            {"input_layout", input_layout},
                            {"kernel_layout", kernel_layout}}) {}

  Conv3d(Graph* graph, int32_t weights, PadType padding,
         const std::array<int32_t, 3>& ksize,
         const std::array<int32_t, 3>& stride,
         const std::array<int32_t, 3>& dilation, int32_t multiplier = 0,
         DataLayout input_layout = DataLayout::WHDCN,
         DataLayout kernel_layout = DataLayout::WHDIcOc)
      : BuiltinOpOf(graph, {{"weights", weights},
                            {"padding", padding},
                            {"ksize", ksize},
                            {"stride", stride},
                            {"dilation", dilation},
                            {"multiplier", multiplier},
                            {"input_layout", input_layout},
                            {"kernel_layout", kernel_layout}}) {}

  Conv3d(Graph* graph, int32_t weights, PadType padding,
         const std::array<int32_t, 3>& ksize,
         const std::array<int32_t, 3>& stride,
         const std::array<int32_t, 3>& dilation,
         const std::array<int32_t, 6>& pad, int32_t multiplier = 0,
         DataLayout input_layout = DataLayout::WHDCN,
         DataLayout kernel_layout = DataLayout::WHDIcOc)
      : BuiltinOpOf(graph, {{"weights", weights},
                            {"padding", padding},
                            {"ksize", ksize},
                            {"stride", stride},
                            {"dilation", dilation},
                            {"pad", pad},
                            {"multiplier", multiplier},
                            {"input_layout", input_layout},
                            {"kernel_layout", kernel_layout}}) {}

  DataLayout KernelDataLayout() {
    DataLayout layout = DataLayout::WHDIcOc;
    GetAttribute("kernel_layout", &layout);
    return layout;
  }
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_CONV3D_H_
