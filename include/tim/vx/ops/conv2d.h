// Two-dimensional convolution.
#ifndef TIM_VX_OPS_CONV2D_H_
#define TIM_VX_OPS_CONV2D_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// out(x, y, o, n) = bias(o) + sum over (i, j, c) of
///   in(x * stride_w - left + i * dilation_w,
///      y * stride_h - top + j * dilation_h, c, n) * kernel(i, j, c, o);
/// cells outside of the image are 0.
///
/// Input 0: [W, H, C, N].  Input 1, kernel: [Kw, Kh, C, O]; it may be an INPUT.
/// Input 2, bias, optional: [O]; FLOAT32, FLOAT16, or INT32 (INT64 for 16-bit
/// data) with scale = input scale * kernel scale.
/// Output 0: [Wo, Ho, O, N], Wo = floor((W + left + right - E) / stride_w) + 1
/// where E = (Kw - 1) * dilation_w + 1, Ho likewise.
/// Types: FLOAT32, FLOAT16, or quantized; the kernel may be quantized per
/// channel along O.
///
/// - padding: AUTO and NONE = the pads given, else 0.  VALID: 0.  SAME: the
///        output is ceil(W / stride_w) wide; of an odd total the right and
///        bottom get one more.  SAME and VALID discard `pad`.
/// - pad: {left, right, top, bottom}, cells.
/// - stride, dilation: {W, H}, cells; dilation 0 means 1.
/// - multiplier: 0 = convolution; kernel dimension 2 = C / g means g groups.
///        m > 0 = depthwise, kernel [Kw, Kh, C * m, 1], output channel o reads
///        input channel o / m only.
/// - weights, ksize: for information; the kernel's shape counts.
/// - input_layout, kernel_layout: tim::transform::LayoutInference alone
///        acts on them.
/// The declared W and H of an OUTPUT tensor rule: so many cells are computed,
/// and what lies beyond the padded input reads as 0 (a warning where no
/// rounding of the rule gives them, see Graph::Compile()). Errors: Compile()
/// fails on a rank other than 4, kernel or bias extents that do not fit, a
/// stride of 0, strides, dilations and pads above 2^31 - 1, an output to infer
/// that is empty, and other types. Source: ONNX Conv-11, TFLite CONV_2D and
/// DEPTHWISE_CONV_2D.
class Conv2d : public BuiltinOpOf<Conv2d> {
 public:
  static const char* OpName() { return "Conv2d"; }

  Conv2d(Graph* graph, PadType padding, const std::array<uint32_t, 2>& stride,
         const std::array<uint32_t, 2>& dilation, int32_t multiplier = 0,
         DataLayout input_layout = DataLayout::WHCN,
         DataLayout kernel_layout = DataLayout::WHIcOc)
      : BuiltinOpOf(graph, {{"padding", padding},
                            {"stride", stride},
                            {"dilation", dilation},
                            {"multiplier", multiplier},
                            {"input_layout", input_layout},
                            {"kernel_layout", kernel_layout}}) {}

  Conv2d(Graph* graph, const std::array<uint32_t, 4> pad,
         const std::array<uint32_t, 2>& stride,
         const std::array<uint32_t, 2>& dilation, int32_t multiplier = 0,
         DataLayout input_layout = DataLayout::WHCN,
         DataLayout kernel_layout = DataLayout::WHIcOc)
      : BuiltinOpOf(graph, {{"padding", PadType::AUTO},
                            {"pad", pad},
                            {"stride", stride},
                            {"dilation", dilation},
                            {"multiplier", multiplier},
                            {"input_layout", input_layout},
                            {"kernel_layout", kernel_layout}}) {}

  Conv2d(Graph* graph, int32_t weights, PadType padding,
         const std::array<uint32_t, 2>& ksize,
         const std::array<uint32_t, 2>& stride,
         const std::array<uint32_t, 2>& dilation, int32_t multiplier = 0,
         DataLayout input_layout = DataLayout::WHCN,
         DataLayout kernel_layout = DataLayout::WHIcOc)
      : BuiltinOpOf(graph, {{"weights", weights},
                            {"padding", padding},
                            {"ksize", ksize},
                            {"stride", stride},
                            {"dilation", dilation},
                            {"multiplier", multiplier},
                            {"input_layout", input_layout},
                            {"kernel_layout", kernel_layout}}) {}

  Conv2d(Graph* graph, int32_t weights, PadType padding,
         const std::array<uint32_t, 2>& ksize,
         const std::array<uint32_t, 2>& stride,
         const std::array<uint32_t, 2>& dilation,
         const std::array<uint32_t, 4>& pad, int32_t multiplier = 0,
         DataLayout input_layout = DataLayout::WHCN,
         DataLayout kernel_layout = DataLayout::WHIcOc)
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
    DataLayout layout = DataLayout::WHIcOc;
    GetAttribute("kernel_layout", &layout);
    return layout;
  }

  /// Input 0 if every input is CONSTANT, else none.
  const std::vector<std::shared_ptr<Tensor>> ConstantInputsTensor()
      const override {
    const auto inputs = BuiltinOp::ConstantInputsTensor();
    if (inputs.empty()) return {};
    return {inputs.front()};
  }
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_CONV2D_H_
