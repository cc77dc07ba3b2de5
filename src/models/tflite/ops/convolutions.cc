// Convolutions.
#include <algorithm>
#include <array>

#include "models/tflite/node.h"
#include "models/tflite/ops/images.h"
#include "tim/vx/ops/conv2d.h"
#include "tim/vx/ops/conv3d.h"

namespace tim::models::tflite {
namespace {

namespace ops = vx::ops;

struct Windows {
  vx::PadType padding = vx::PadType::AUTO;
  std::array<uint32_t, 2> stride = {};
  std::array<uint32_t, 2> dilation = {};
};

// Windows of a convolution over width and height.
template <typename Options>
Result<Windows> WindowsOf(Node& node, const Options& options) {
  Windows windows;
  TIM_ASSIGN_OR_RETURN(windows.padding, PaddingOf(node, options.padding()));
  TIM_ASSIGN_OR_RETURN(windows.stride, Cells(node, "stride", options.stride_w(),
                                             options.stride_h()));
  TIM_ASSIGN_OR_RETURN(
      windows.dilation,
      Cells(node, "dilation", options.dilation_w(), options.dilation_h()));
  return windows;
}

Status Conv2d(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 3));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::Conv2d>());
  TIM_ASSIGN_OR_RETURN(const Windows windows, WindowsOf(node, *options));
  TIM_ASSIGN_OR_RETURN(const auto operands,
                       ConvolutionOperands(node, 0, 1, 2, {0, 3, 1, 2}));
  return SetImage(node,
                  node.builder().Add<ops::Conv2d>(
                      operands, node.WantedOf(0), windows.padding,
                      windows.stride, windows.dilation),
                  options->activation());
}

// Weights [1, H, W, C * m]; the options' multiplier is redundant.
Status DepthwiseConv2d(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 3));
  TIM_ASSIGN_OR_RETURN(const auto* options,
                       node.Options<fbs::DepthwiseConv2d>());
  TIM_ASSIGN_OR_RETURN(const Windows windows, WindowsOf(node, *options));
  TIM_ASSIGN_OR_RETURN(const auto operands,
                       ConvolutionOperands(node, 0, 1, 2, {0, 3, 1, 2}));
  const int64_t channels = node.inputs[0].dims[3];
  const int64_t made = node.inputs[1].dims[3];
  if (node.inputs[1].dims[0] != 1 || channels < 1 || made % channels != 0 ||
      made < channels) {
    return node.Refuse("input 1", Describe(node.inputs[1]), " for ", channels,
                       " channels");
  }
  return SetImage(
      node,
      node.builder().Add<ops::Conv2d>(
          operands, node.WantedOf(0), windows.padding, windows.stride,
          windows.dilation, static_cast<int32_t>(made / channels)),
      options->activation());
}

// Images [N, D, H, W, C], weights [D, H, W, C, O].
Status Conv3d(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 3));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::Conv3d>());
  TIM_ASSIGN_OR_RETURN(const auto padding, PaddingOf(node, options->padding()));
  const std::array<int32_t, 3> stride = {
      options->stride_w(), options->stride_h(), options->stride_d()};
  const std::array<int32_t, 3> dilation = {
      options->dilation_w(), options->dilation_h(), options->dilation_d()};
  for (const auto& counts : {stride, dilation}) {
    if (*std::min_element(counts.begin(), counts.end()) < 1) {
      return node.Refuse("stride and dilation", "[", StrJoin(counts, ","), "]");
    }
  }
  TIM_ASSIGN_OR_RETURN(const auto operands,
                       ConvolutionOperands(node, 0, 1, 2, {4, 3, 0, 1, 2}));
  return SetImage(node,
                  node.builder().Add<ops::Conv3d>(operands, node.WantedOf(0),
                                                  padding, stride, dilation),
                  options->activation());
}

}  // namespace

void AddConvolutions(OperatorTable* table) {
  OperatorTable& to = *table;
  to["CONV_2D"] = Conv2d;
  to["DEPTHWISE_CONV_2D"] = DepthwiseConv2d;
  to["CONV_3D"] = Conv3d;
}

}  // namespace tim::models::tflite
