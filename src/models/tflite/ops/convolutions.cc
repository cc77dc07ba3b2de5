// Convolutions and transposed convolutions.
#include <algorithm>

#include "models/tflite/node.h"
#include "models/tflite/ops/images.h"
#include "tim/vx/ops/conv2d.h"
#include "tim/vx/ops/conv3d.h"
#include "tim/vx/ops/deconv.h"

namespace tim::models::tflite {
namespace {

namespace ops = vx::ops;

// The image with its channels first, weights in `order`, and the bias.
Result<std::vector<Value>> Operands(Node& node, size_t image, size_t weights,
                                    size_t bias,
                                    const std::vector<int>& order) {
  const int rank = static_cast<int>(order.size());
  TIM_RETURN_IF_ERROR(node.ExpectRank(image, rank));
  TIM_RETURN_IF_ERROR(node.ExpectRank(weights, rank));
  std::vector<Value> operands(2);
  TIM_ASSIGN_OR_RETURN(operands[0], ChannelsFirst(node, node.inputs[image]));
  TIM_ASSIGN_OR_RETURN(const Value real, node.WeightsFor(node.inputs[image],
                                                         node.inputs[weights]));
  TIM_ASSIGN_OR_RETURN(operands[1], node.Permuted(real, order));
  if (node.Has(bias)) {
    TIM_RETURN_IF_ERROR(node.ExpectRank(bias, 1));
    TIM_ASSIGN_OR_RETURN(
        Value added, node.WeightsFor(node.inputs[image], node.inputs[bias]));
    operands.push_back(std::move(added));
  }
  return operands;
}

Status Conv2d(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 3));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::Conv2d>());
  TIM_ASSIGN_OR_RETURN(const auto padding, PaddingOf(node, options->padding()));
  TIM_ASSIGN_OR_RETURN(
      const auto stride,
      Cells(node, "stride", options->stride_w(), options->stride_h()));
  TIM_ASSIGN_OR_RETURN(
      const auto dilation,
      Cells(node, "dilation", options->dilation_w(), options->dilation_h()));
  TIM_ASSIGN_OR_RETURN(const auto operands,
                       Operands(node, 0, 1, 2, {0, 3, 1, 2}));
  return SetImage(node,
                  node.builder().Add<ops::Conv2d>(operands, node.WantedOf(0),
                                                  padding, stride, dilation),
                  options->activation());
}

// Weights [1, H, W, C * m]; the options' multiplier is redundant.
Status DepthwiseConv2d(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(2, 3));
  TIM_ASSIGN_OR_RETURN(const auto* options,
                       node.Options<fbs::DepthwiseConv2d>());
  TIM_ASSIGN_OR_RETURN(const auto padding, PaddingOf(node, options->padding()));
  TIM_ASSIGN_OR_RETURN(
      const auto stride,
      Cells(node, "stride", options->stride_w(), options->stride_h()));
  TIM_ASSIGN_OR_RETURN(
      const auto dilation,
      Cells(node, "dilation", options->dilation_w(), options->dilation_h()));
  TIM_ASSIGN_OR_RETURN(const auto operands,
                       Operands(node, 0, 1, 2, {0, 3, 1, 2}));
  const int64_t channels = node.inputs[0].dims[3];
  const int64_t made = node.inputs[1].dims[3];
  if (node.inputs[1].dims[0] != 1 || channels < 1 || made % channels != 0 ||
      made < channels) {
    return node.Refuse("input 1", Describe(node.inputs[1]), " for ", channels,
                       " channels");
  }
  return SetImage(node,
                  node.builder().Add<ops::Conv2d>(
                      operands, node.WantedOf(0), padding, stride, dilation,
                      static_cast<int32_t>(made / channels)),
                  options->activation());
}

struct Cut {
  int64_t before = 0;
  int64_t after = 0;
};

// Cells that a transposed convolution makes beyond an output of extent `out`:
// those that the convolution of that output would be padded with.
Cut CutOf(int64_t in, int64_t out, int64_t kernel, int64_t stride,
          vx::PadType padding) {
  const int64_t windows = padding == vx::PadType::SAME
                              ? (out + stride - 1) / stride
                              : (out + stride - kernel) / stride;
  const int64_t padded =
      std::max<int64_t>((windows - 1) * stride + kernel - out, 0);
  Cut cut;
  cut.before = padded / 2;
  cut.after = (in - 1) * stride + kernel - cut.before - out;
  return cut;
}

Status TransposedConv(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(3, 4));
  TIM_ASSIGN_OR_RETURN(const auto* options,
                       node.Options<fbs::TransposedConv>());
  TIM_ASSIGN_OR_RETURN(const auto padding, PaddingOf(node, options->padding()));
  TIM_ASSIGN_OR_RETURN(
      const auto stride,
      Cells(node, "stride", options->stride_w(), options->stride_h()));
  TIM_ASSIGN_OR_RETURN(const auto shape, node.ConstantInts(0));
  if (shape.size() != 4 || *std::min_element(shape.begin(), shape.end()) < 1 ||
      *std::max_element(shape.begin(), shape.end()) > INT32_MAX) {
    return node.Refuse("input 0", "the output's extents are [",
                       StrJoin(shape, ","), "]");
  }
  TIM_ASSIGN_OR_RETURN(const auto operands,
                       Operands(node, 2, 1, 3, {0, 3, 1, 2}));
  const Dims& image = node.inputs[2].dims;
  const Dims& weights = node.inputs[1].dims;
  if (shape[0] != image[0] || shape[3] != weights[0] ||
      image[3] != weights[3]) {
    return node.Refuse("input 0", "extents [", StrJoin(shape, ","),
                       "] do not fit ", Describe(node.inputs[2]), " and ",
                       Describe(node.inputs[1]));
  }
  const Cut rows = CutOf(image[1], shape[1], weights[1], stride[1], padding);
  const Cut columns = CutOf(image[2], shape[2], weights[2], stride[0], padding);
  const std::array<uint32_t, 4> pad = {static_cast<uint32_t>(columns.before),
                                       static_cast<uint32_t>(columns.after),
                                       static_cast<uint32_t>(rows.before),
                                       static_cast<uint32_t>(rows.after)};
  const std::array<uint32_t, 2> window = {static_cast<uint32_t>(weights[2]),
                                          static_cast<uint32_t>(weights[1])};
  const std::array<uint32_t, 2> no_more = {0, 0};
  return SetImage(
      node,
      node.builder().Add<ops::DeConv2d>(
          operands, node.WantedOf(0), static_cast<int32_t>(weights[0]),
          vx::PadType::AUTO, window, stride, no_more, pad, uint32_t{1}),
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
                       Operands(node, 0, 1, 2, {4, 3, 0, 1, 2}));
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
  to["TRANSPOSE_CONV"] = TransposedConv;
  to["CONV_3D"] = Conv3d;
}

}  // namespace tim::models::tflite
