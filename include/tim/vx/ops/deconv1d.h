// One-dimensional transposed convolution.
#ifndef TIM_VX_OPS_DECONV1D_H_
#define TIM_VX_OPS_DECONV1D_H_

#include <array>
#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Every in(x, c, n) adds in(x, c, n) * kernel(i, c, o) to
///   out(x * stride - left + i, o, n),
/// which begins as bias(o); what falls outside of the output is dropped.
///
/// Input 0: [W, C, N].  Input 1, kernel: [K, C / g, O] for g groups, of which
/// outputs [i * O / g, (i + 1) * O / g) read channels [i * C / g,
/// (i + 1) * C / g); where every channel is a group (depthwise) also [K, C, 1].
/// It may be an INPUT.  Input 2, bias, optional: [O]; FLOAT32, FLOAT16, or
/// INT32 (INT64 for 16-bit data) with scale = input scale * kernel scale.
/// Output 0: [Wo, O, N], Wo = (W - 1) * stride + K - left - right +
/// output_padding.
/// Types: FLOAT32, FLOAT16, or quantized; the kernel may be quantized per
/// channel along O (the axis of C in a kernel [K, C, 1]).
///
/// - oc_count_, ksize: for information; the kernel's shape counts.
/// - pad_type: without effect; `pad` alone moves the output.
/// - stride: cells of the output per cell of the input.
/// - output_padding: cells that an inferred output has more at its end.
/// - pad: {left, right}, cells of the output that are cut.  Negative
///        ones, as uint32_t(-1), are cells that it has more at that end, which
///        no input reaches: the bias alone.
/// - group: g >= 1, a divisor of C and of O.
/// - input_layout, kernel_layout: without effect.
/// The declared length of an OUTPUT tensor rules: so many cells are computed.
/// Errors: Compile() fails on a rank other than 3, kernel or bias extents that
/// do not fit, a stride of 0, strides and pads above 2^31 - 1, an output to
/// infer that is empty, and other types.
/// Source: ONNX ConvTranspose-11.
class DeConv1d : public BuiltinOpOf<DeConv1d> {
 public:
  static const char* OpName() { return "DeConv1d"; }

  DeConv1d(Graph* graph, PadType pad_type, uint32_t stride,
           uint32_t output_padding, uint32_t group = 1,
           DataLayout input_layout = DataLayout::WHCN,
           DataLayout kernel_layout = DataLayout::WHIcOc)
      : BuiltinOpOf(graph, {{"padding", pad_type},
                            {"stride", stride},
                            {"output_padding", output_padding},
                            {"group", group},
                            {"input_layout", input_layout},
                            {"kernel_layout", kernel_layout}}) {}

  DeConv1d(Graph* graph, const std::array<uint32_t, 2>& pad, uint32_t stride,
           uint32_t output_padding, uint32_t group = 1,
           DataLayout input_layout = DataLayout::WHCN,
           DataLayout kernel_layout = DataLayout::WHIcOc)
      : BuiltinOpOf(graph, {{"padding", PadType::AUTO},
                            {"pad", pad},
                            {"stride", stride},
                            {"output_padding", output_padding},
                            {"group", group},
                            {"input_layout", input_layout},
                            {"kernel_layout", kernel_layout}}) {}

  DeConv1d(Graph* graph, int32_t oc_count_, PadType pad_type, uint32_t ksize,
           uint32_t stride, uint32_t output_padding)
      : BuiltinOpOf(graph, {{"oc_count", oc_count_},
                            {"padding", pad_type},
                            {"ksize", ksize},
                            {"stride", stride},
                            {"output_padding", output_padding}}) {}

  DeConv1d(Graph* graph, int32_t oc_count_, PadType pad_type, uint32_t ksize,
           uint32_t stride, uint32_t output_padding,
           const std::array<uint32_t, 2>& pad, uint32_t group = 1)
      : BuiltinOpOf(graph, {{"oc_count", oc_count_},
                            {"padding", pad_type},
                            {"ksize", ksize},
                            {"stride", stride},
                            {"output_padding", output_padding},
                            {"pad", pad},
                            {"group", group}}) {}

  DeConv1d(Graph* graph, PadType pad_type, uint32_t stride,
           uint32_t output_padding, const std::array<uint32_t, 2>& pad,
           uint32_t group, DataLayout input_layout, DataLayout kernel_layout)
      : BuiltinOpOf(graph, {{"padding", pad_type},
                            {"stride", stride},
                            {"output_padding", output_padding},
                            {"pad", pad},
                            {"group", group},
                            {"input_layout", input_layout},
                            {"kernel_layout", kernel_layout}}) {}
};

}  // namespace ops
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_OPS_DECONV1D_H_
