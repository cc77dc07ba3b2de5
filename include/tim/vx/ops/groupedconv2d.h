// Two-dimensional convolution in groups of channels.
#ifndef TIM_VX_OPS_GROUPEDCONV2D_H_
#define TIM_VX_OPS_GROUPEDCONV2D_H_

#include <array>
#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Conv2d (its page has formula, types, `padding`, `strides` and `dilation`) of
/// g groups: the outputs [i * O / g, (i + 1) * O / g) read the input channels
/// [i * C / g, (i + 1) * C / g).
///
/// Input 0: [W, H, C, N].  Input 1, kernel: [Kw, Kh, C / g, O] (depthwise: [Kw,
/// Kh, 1, C], unlike Conv2d's); it may be an INPUT, and be quantized per
/// channel along O.  Input 2, bias, optional: [O]. Output 0: [Wo, Ho, O, N], as
/// Conv2d's; the declared W and H of an OUTPUT tensor rule.
///
/// - pad: {left, right, top, bottom}, cells; PadType AUTO.  Else 0.
/// - strides, dilation: {W, H}, cells; dilation 0 means 1.
/// - grouped_number, group_number: g >= 1, a divisor of C and of O.
/// - input_layout, kernel_layout: tim::transform::LayoutInference alone
///        acts on them.
/// Errors: those of Conv2d; a group that does not divide C and O or is not what
/// the kernel's extents say.
/// Source: ONNX Conv-11 (group), TFLite CONV_2D, NNAPI GROUPED_CONV_2D.
class GroupedConv2d : public BuiltinOpOf<GroupedConv2d> {
 public:
  static const char* OpName() { return "GroupedConv2d"; }

  GroupedConv2d(Graph* graph, PadType padding,
                const std::array<uint32_t, 2>& strides,
                const std::array<uint32_t, 2>& dilation, int32_t grouped_number,
                DataLayout input_layout = DataLayout::WHCN,
                DataLayout kernel_layout = DataLayout::WHIcOc)
      : BuiltinOpOf(graph, {{"padding", padding},
                            {"stride", strides},
                            {"dilation", dilation},
                            {"group", grouped_number},
                            {"input_layout", input_layout},
                            {"kernel_layout", kernel_layout}}) {}

  GroupedConv2d(Graph* graph, const std::array<uint32_t, 4>& pad,
                const std::array<uint32_t, 2>& strides,
                const std::array<uint32_t, 2>& dilation, int32_t group_number,
                DataLayout input_layout = DataLayout::WHCN,
                DataLayout kernel_layout = DataLayout::WHIcOc)
      : BuiltinOpOf(graph, {{"padding", PadType::AUTO},
                            {"pad", pad},
                            {"stride", strides},
                            {"dilation", dilation},
                            {"group", group_number},
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

#endif  // TIM_VX_OPS_GROUPEDCONV2D_H_
