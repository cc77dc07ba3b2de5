// Transposed convolutions.
#include <algorithm>
#include <cstring>

#include "models/tflite/node.h"
#include "models/tflite/ops/images.h"
#include "tim/vx/ops/conv3d.h"
#include "tim/vx/ops/deconv.h"
#include "tim/vx/ops/pad.h"
#include "tim/vx/ops/reverse.h"
#include "tim/vx/ops/stridedslice.h"

namespace tim::models::tflite {
namespace {

namespace ops = vx::ops;

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

// Operands and options of a transposed convolution of two axes.
struct Layer {
  size_t image = 0;
  size_t weights = 1;
  size_t bias = 2;
  vx::PadType padding = vx::PadType::SAME;
  std::array<uint32_t, 2> stride = {};  ///< Width first.
  Dims made = {};                       ///< [N, H, W, O]
  fbs::Activation activation = fbs::Activation::NONE;
};

// Images [N, H, W, C], weights [O, H, W, C].
Status AddTransposedConv(Node& node, const Layer& layer) {
  TIM_ASSIGN_OR_RETURN(const auto operands,
                       ConvolutionOperands(node, layer.image, layer.weights,
                                           layer.bias, {0, 3, 1, 2}));
  const Dims& image = node.inputs[layer.image].dims;
  const Dims& weights = node.inputs[layer.weights].dims;
  const Dims& made = layer.made;
  if (made[0] != image[0] || made[3] != weights[0] || image[3] != weights[3]) {
    return node.Refuse("input 0", "extents [", StrJoin(made, ","),
                       "] do not fit ", Describe(node.inputs[layer.image]),
                       " and ", Describe(node.inputs[layer.weights]));
  }
  const Cut rows =
      CutOf(image[1], made[1], weights[1], layer.stride[1], layer.padding);
  const Cut columns =
      CutOf(image[2], made[2], weights[2], layer.stride[0], layer.padding);
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
          vx::PadType::AUTO, window, layer.stride, no_more, pad, uint32_t{1}),
      layer.activation);
}

// Input 0: the extents of the output.
Result<Dims> MadeDims(Node& node, size_t rank) {
  TIM_ASSIGN_OR_RETURN(const Dims dims, node.ConstantInts(0));
  if (dims.size() == rank && *std::min_element(dims.begin(), dims.end()) >= 1 &&
      *std::max_element(dims.begin(), dims.end()) <= INT32_MAX) {
    return dims;
  }
  return node.Refuse("input 0", "the output's extents are [",
                     StrJoin(dims, ","), "]");
}

Status TransposedConv(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(3, 4));
  TIM_ASSIGN_OR_RETURN(const auto* options,
                       node.Options<fbs::TransposedConv>());
  Layer layer{.image = 2, .bias = 3, .activation = options->activation()};
  TIM_ASSIGN_OR_RETURN(layer.padding, PaddingOf(node, options->padding()));
  TIM_ASSIGN_OR_RETURN(layer.stride, Cells(node, "stride", options->stride_w(),
                                           options->stride_h()));
  TIM_ASSIGN_OR_RETURN(layer.made, MadeDims(node, 4));
  return AddTransposedConv(node, layer);
}

// MediaPipe's operator has its options as three words: padding (1 SAME, 2
// VALID), stride of width, stride of height.  SAME makes as many cells as the
// image has times the stride.
Status TransposedConvBias(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(3, 3));
  const auto bytes = Items(node.table->custom_options());
  std::array<int32_t, 3> words = {};
  if (bytes.size() < sizeof(words)) {
    return node.Refuse("options", "they have ", bytes.size(), " bytes, not ",
                       sizeof(words));
  }
  std::memcpy(words.data(), bytes.data(), sizeof(words));
  if (words[0] != 1 && words[0] != 2) {
    return node.Refuse("padding", "number ", words[0],
                       "; SAME (1) and VALID (2) are taken");
  }
  TIM_RETURN_IF_ERROR(node.ExpectRank(0, 4));
  TIM_RETURN_IF_ERROR(node.ExpectRank(1, 4));
  Layer layer;
  layer.padding = words[0] == 1 ? vx::PadType::SAME : vx::PadType::VALID;
  TIM_ASSIGN_OR_RETURN(layer.stride, Cells(node, "stride", words[1], words[2]));
  const Dims& image = node.inputs[0].dims;
  const Dims& weights = node.inputs[1].dims;
  layer.made = {image[0], 0, 0, weights[0]};
  for (const size_t axis : {1, 2}) {
    const auto stride = static_cast<int64_t>(layer.stride[2 - axis]);
    layer.made[axis] = words[0] == 1
                           ? image[axis] * stride
                           : (image[axis] - 1) * stride + weights[axis];
    if (layer.made[axis] >= 1 && layer.made[axis] <= INT32_MAX) continue;
    return node.Refuse("stride", "it makes ", layer.made[axis], " cells of ",
                       image[axis]);
  }
  return AddTransposedConv(node, layer);
}

// `image` with `step` - 1 zeros behind each cell along an axis, the first
// `kept` of those cells.
Result<Value> Spread(Node& node, const Value& image, size_t axis, int64_t step,
                     int64_t kept) {
  GraphBuilder& build = node.builder();
  const Wanted wanted = Wanted::Like(image);
  int64_t outer = 1;
  for (size_t i = 0; i < axis; ++i) outer *= image.dims[i];
  const int64_t extent = image.dims[axis];
  const int64_t inner = image.ElementCount() / outer / extent;
  Value spread = image;
  if (step > 1) {
    TIM_ASSIGN_OR_RETURN(spread,
                         build.Reshape(image, {outer, extent, 1, inner}));
    const std::vector<uint32_t> none(4, 0);
    const std::vector<uint32_t> behind = {0, static_cast<uint32_t>(step - 1), 0,
                                          0};
    TIM_ASSIGN_OR_RETURN(
        spread, build.Add<ops::Pad>({spread}, wanted, none, behind, 0));
  }
  if (kept < extent * step) {
    TIM_ASSIGN_OR_RETURN(spread,
                         build.Reshape(spread, {outer, extent * step, inner}));
    const std::vector<int32_t> begin = {0, 0, 0};
    const std::vector<int32_t> stride = {1, 1, 1};
    const std::vector<int32_t> end = {static_cast<int32_t>(inner),
                                      static_cast<int32_t>(kept),
                                      static_cast<int32_t>(outer)};
    TIM_ASSIGN_OR_RETURN(
        spread, build.Add<ops::StridedSlice>({spread}, wanted, begin, end,
                                             stride, 0, 0, 0));
  }
  Dims dims = image.dims;
  dims[axis] = std::min(kept, extent * step);
  return build.Reshape(spread, dims);
}

// Inputs: the output's extents, weights [D, H, W, O, C], images
// [N, D, H, W, C], a bias.  It is the convolution of images with zeros between
// their cells by the kernel turned round.
Status TransposedConv3d(Node& node) {
  TIM_RETURN_IF_ERROR(node.Expect(3, 4));
  TIM_ASSIGN_OR_RETURN(const auto* options, node.Options<fbs::Conv3d>());
  TIM_ASSIGN_OR_RETURN(const auto padding, PaddingOf(node, options->padding()));
  const std::array<int32_t, 3> strides = {
      options->stride_d(), options->stride_h(), options->stride_w()};
  const std::array<int32_t, 3> dilations = {
      options->dilation_d(), options->dilation_h(), options->dilation_w()};
  for (const auto& counts : {strides, dilations}) {
    if (*std::min_element(counts.begin(), counts.end()) < 1 ||
        *std::max_element(counts.begin(), counts.end()) > (1 << 15)) {
      return node.Refuse("stride and dilation", "[", StrJoin(counts, ","), "]");
    }
  }
  TIM_ASSIGN_OR_RETURN(const Dims made, MadeDims(node, 5));
  TIM_ASSIGN_OR_RETURN(auto operands,
                       ConvolutionOperands(node, 2, 1, 3, {3, 4, 0, 1, 2}));
  const Dims& weights = node.inputs[1].dims;
  const Dims& image = node.inputs[2].dims;
  if (image[0] != made[0] || image[4] != weights[4] || made[4] != weights[3] ||
      operands[0].type != vx::DataType::FLOAT32 ||
      *std::min_element(image.begin(), image.end()) < 1 ||
      *std::min_element(weights.begin(), weights.end()) < 1 ||
      *std::max_element(made.begin(), made.end()) > (1 << 15) ||
      *std::max_element(weights.begin(), weights.begin() + 3) > (1 << 15)) {
    return node.Refuse("input 0", "extents [", StrJoin(made, ","), "] for ",
                       Describe(node.inputs[2]), " and ",
                       Describe(node.inputs[1]));
  }
  std::array<int32_t, 6> pads = {};
  std::array<int32_t, 3> dilation = {};
  for (size_t i = 0; i < 3; ++i) {
    const int64_t reach = int64_t{weights[i] - 1} * dilations[i] + 1;
    const int64_t before =
        CutOf(image[i + 1], made[i + 1], reach, strides[i], padding).before;
    TIM_ASSIGN_OR_RETURN(operands[0], Spread(node, operands[0], i + 2,
                                             strides[i], made[i + 1] + before));
    const size_t to = 2 - i;
    pads[2 * to] = static_cast<int32_t>(reach - 1 - before);
    pads[2 * to + 1] =
        static_cast<int32_t>(made[i + 1] + before - operands[0].dims[i + 2]);
    dilation[to] = dilations[i];
  }
  const std::vector<int32_t> axes = {0, 1, 2};
  TIM_ASSIGN_OR_RETURN(operands[1],
                       node.builder().Add<ops::Reverse>(
                           {operands[1]}, Wanted::Like(operands[1]), axes));
  const std::array<int32_t, 3> one = {1, 1, 1};
  return SetImage(node,
                  node.builder().Add<ops::Conv3d>(operands, node.WantedOf(0),
                                                  pads, one, dilation),
                  options->activation());
}

}  // namespace

void AddTransposed(OperatorTable* table) {
  OperatorTable& to = *table;
  to["TRANSPOSE_CONV"] = TransposedConv;
  to["Convolution2DTransposeBias"] = TransposedConvBias;
  to["CONV_3D_TRANSPOSE"] = TransposedConv3d;
}

}  // namespace tim::models::tflite
