// One-dimensional convolution.
#ifndef TIM_VX_OPS_CONV1D_H_
#define TIM_VX_OPS_CONV1D_H_

#include <array>
#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// out(x, o, n) = bias(o) + sum over (i, c) of
///   in(x * stride - left + i * dilation, c, n) * kernel(i, c, o);
/// cells outside of the input are 0.
///
/// Input 0: [W, C, N].  Input 1, kernel: [K, C, O]; it may be an INPUT.
/// Input 2, bias, optional: [O]; FLOAT32, FLOAT16, or INT32 (INT64 for 16-bit
/// data) with scale = input scale * kernel scale.
/// Output 0: [Wo, O, N], Wo = floor((W + left + right - E) / stride) + 1 where
/// E = (K - 1) * dilation + 1.
/// Types: FLOAT32, FLOAT16, or quantized; the kernel may be quantized per
/// channel along O (axis 2).
///
/// - padding: AUTO and NONE = the pads given, else 0.  VALID: 0.  SAME: the
///        output is ceil(W / stride) long; of an odd total the end gets one
///        more.  SAME and VALID discard `pad`.
/// - pad: {left, right}, cells.
/// - stride, dilation: cells; dilation 0 means 1.
/// - multiplier: 0 = convolution; kernel dimension 1 = C / g means g groups.
///        m > 0 = depthwise, kernel [K, 1, C * m], output channel o reads
///        input channel o / m only.
/// - weights, ksize: for information; the kernel's shape counts.
/// - input_layout, kernel_layout: without effect.
/// The declared length of an OUTPUT tensor rules: so many cells are computed,
/// and what lies beyond the padded input reads as 0.
/// Errors: Compile() fails on a rank other than 3, kernel or bias extents that
/// do not fit, a stride of 0, strides, dilations and pads above 2^31 - 1, an
/// output to infer that is empty, and other types.
/// Source: ONNX Conv-11; TFLite CONV_2D and DEPTHWISE_CONV_2D of height 1.
class Conv1d : public BuiltinOpOf<Conv1d> {
 public:
  static const char* OpName() { return "Conv1d"; }

  Conv1d(Graph* graph, PadType padding, uint32_t stride, uint32_t dilation,
         int32_t multiplier = 0, DataLayout input_layout = DataLayout::WCN,
         DataLayout kernel_layout = DataLayout::WIcOc)
      : BuiltinOpOf(graph, {{"padding", padding},
                            {"stride", stride},
                            {"dilation", dilation},
                            {"multiplier", multiplier},
                            {"input_layout", input_layout},
                            {"kernel_layout", kernel_layout}}) {}

  Conv1d(Graph* graph, const std::array<uint32_t, 2>& pad, uint32_t stride,
         uint32_t dilation, int32_t multiplier = 0,
         DataLayout input_layout = DataLayout::WCN,
         DataLayout kernel_layout = DataLayout::WIcOc)
      : BuiltinOpOf(graph, {{"padding", PadType::AUTO},
                            {"pad", pad},
                            {"stride", stride},
                            {"dilation", dilation},
                            {"multiplier", multiplier},
                            {"input_layout", input_layout},
                            {"kernel_layout", kernel_layout}}) {}

  Conv1d(Graph* graph, int32_t weights, PadType padding, uint32_t ksize,
         uint32_t stride, uint32_t dilation, int32_t multiplier = 0,
         DataLayout input_layout = DataLayout::WCN,
         DataLayout kernel_layout = DataLayout::WIcOc)
      : BuiltinOpOf(graph, {{"weights", weights},
                            {"padding", padding},
                            {"ksize", ksize},
                            {"stride", stride},
                            {"dilation", dilation},
                            {"multiplier", multiplier},
                            {"input_layout", input_layout},
                            {"kernel_layout", kernel_layout}}) {}

  Conv1d(Graph* graph, int32_t weights, PadType padding, uint32_t ksize,
         uint32_t stride, uint32_t dilation, const std::array<uint32_t, 2>& pad,
         int32_t multiplier = 0, DataLayout input_layout = DataLayout::WCN,
         DataLayout kernel_layout = DataLayout::WIcOc)
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
    DataLayout layout = DataLayout::WIcOc;
    GetAttribute("kernel_layout", &layout);
    return layout;
  }
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_CONV1D_H_
