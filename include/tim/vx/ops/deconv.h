// Two-dimensional transposed convolution.
#ifndef TIM_VX_OPS_DECONV_H_
#define TIM_VX_OPS_DECONV_H_

#include <array>
#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Every in(x, y, c, n) adds in(x, y, c, n) * kernel(i, j, c, o) to
///   out(x * stride_w - left + i, y * stride_h - top + j, o, n),
/// which begins as bias(o); what falls outside of the output is dropped.
///
/// Input 0: [W, H, C, N].  Input 1, kernel: [Kw, Kh, C / g, O] for g groups, of
/// which outputs [i * O / g, (i + 1) * O / g) read channels [i * C / g,
/// (i + 1) * C / g); where every channel is a group (depthwise) also [Kw, Kh,
/// C, 1].  It may be an INPUT.  Input 2, bias, optional: [O]; FLOAT32, FLOAT16,
/// or INT32 (INT64 for 16-bit data) with scale = input scale * kernel scale.
/// Output 0: [Wo, Ho, O, N], Wo = (W - 1) * stride_w + Kw - left - right +
/// output_padding_w, Ho likewise.
/// Types: FLOAT32, FLOAT16, or quantized; the kernel may be quantized per
/// channel along O (the axis of C in a kernel [Kw, Kh, C, 1]).
///
/// - oc_count_, ksize: for information; the kernel's shape counts.
/// - pad_type: without effect; `pad` alone moves the output.
/// - stride: {W, H}, cells of the output per cell of the input.
/// - output_padding: {W, H}, cells that an inferred output has more at its
///        right and bottom.
/// - pad: {left, right, top, bottom}, cells of the output that are cut.
/// Negative
///        ones, as uint32_t(-1), are cells that it has more at that end, which
///        no input reaches: the bias alone.
/// - group: g >= 1, a divisor of C and of O.
/// - input_layout, kernel_layout: tim::transform::LayoutInference alone
///        acts on them.
/// The declared W and H of an OUTPUT tensor rule: so many cells are computed.
/// Errors: Compile() fails on a rank other than 4, kernel or bias extents that
/// do not fit, a stride of 0, strides and pads above 2^31 - 1, an output to
/// infer that is empty, and other types.
/// Source: ONNX ConvTranspose-11, TFLite TRANSPOSE_CONV.
class DeConv2d : public BuiltinOpOf<DeConv2d> {
 public:
  static const char* OpName() { return "DeConv2d"; }

  DeConv2d(Graph* graph, int32_t oc_count_, PadType pad_type,
           const std::array<uint32_t, 2>& ksize,
           const std::array<uint32_t, 2>& stride,
           const std::array<uint32_t, 2>& output_padding,
           DataLayout input_layout = DataLayout::WHCN,
           DataLayout kernel_layout = DataLayout::WHIcOc)
      : BuiltinOpOf(graph, {{"oc_count", oc_count_},
                            {"padding", pad_type},
                            {"ksize", ksize},
                            {"stride", stride},
                            {"output_padding", output_padding},
                            {"input_layout", input_layout},
                            {"kernel_layout", kernel_layout}}) {}

  DeConv2d(Graph* graph, int32_t oc_count_, PadType pad_type,
           const std::array<uint32_t, 2>& ksize,
           const std::array<uint32_t, 2>& stride,
           const std::array<uint32_t, 2>& output_padding,
           const std::array<uint32_t, 4>& pad, const uint32_t group = 1,
           DataLayout input_layout = DataLayout::WHCN,
           DataLayout kernel_layout = DataLayout::WHIcOc)
      : BuiltinOpOf(graph, {{"oc_count", oc_count_},
                            {"padding", pad_type},
                            {"ksize", ksize},
                            {"stride", stride},
                            {"output_padding", output_padding},
                            {"pad", pad},
                            {"group", group},
                            {"input_layout", input_layout},
                            {"kernel_layout", kernel_layout}}) {}

  DataLayout KernelDataLayout() {
    DataLayout layout = DataLayout::WHIcOc;
    GetAttribute("kernel_layout", &layout);
    return layout;
  }
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_DECONV_H_
