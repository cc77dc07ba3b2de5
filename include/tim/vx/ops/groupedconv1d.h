// One-dimensional convolution in groups of channels.
#ifndef TIM_VX_OPS_GROUPEDCONV1D_H_
#define TIM_VX_OPS_GROUPEDCONV1D_H_

#include <array>
#include <cstdint>

#include "tim/vx/builtin_op.h"

namespace tim {
namespace vx {
namespace ops {

/// Conv1d (its page has formula, types, `padding`, `stride` and `dilation`) of
/// `group` groups: the outputs [i * O / group, (i + 1) * O / group) read the
/// input channels [i * C / group, (i + 1) * C / group).
///
/// Input 0: [W, C, N].  Input 1, kernel: [K, C / group, O]; it may be an INPUT.
/// Input 2, bias, optional: [O].
/// Output 0: [Wo, O, N], Wo = floor((W + left + right - E) / stride) + 1 where
/// E = (K - 1) * dilation + 1.
///
/// - pad: {left, right}, cells; SAME and VALID discard it.
/// - group: >= 1, a divisor of C and of O.
/// - input_layout, kernel_layout: without effect.
/// The declared length of an OUTPUT tensor rules: so many cells are computed,
/// and what lies beyond the padded input reads as 0.
/// Errors: those of Conv1d; a group that does not divide C and O or is not what
/// the kernel's extents say.
/// Source: ONNX Conv-11 (group); TFLite CONV_2D of height 1.
class GroupedConv1d : public BuiltinOpOf<GroupedConv1d> {
 public:
  static const char* OpName() { return "GroupedConv1d"; }

  GroupedConv1d(Graph* graph, PadType padding, std::array<uint32_t, 2> pad,
                uint32_t stride, uint32_t dilation, uint32_t group,
                DataLayout input_layout = DataLayout::WCN,
                DataLayout kernel_layout = DataLayout::WIcOc)
      : BuiltinOpOf(graph, {{"padding", padding},
                            {"pad", pad},
                            {"stride", stride},
                            {"dilation", dilation},
                            {"group", group},
                            {"input_layout", input_layout},
                            {"kernel_layout", kernel_layout}}) {}

  GroupedConv1d(Graph* graph, PadType padding, const uint32_t stride,
                const uint32_t dilation, uint32_t group,
                DataLayout input_layout = DataLayout::WCN,
                DataLayout kernel_layout = DataLayout::WIcOc)
      : BuiltinOpOf(graph, {{"padding", padding},
                            {"stride", stride},
                            {"dilation", dilation},
                            {"group", group},
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

#endif  // TIM_VX_OPS_GROUPEDCONV1D_H_
