#include "ops/convolution/conv_delegate.h"

#include <utility>

#include "ops/convolution/convolution.h"
#include "ops/elements/data_layout.h"

namespace tim::ops {
namespace {

using ir::AttributeType;
using Ints = std::vector<int64_t>;

int64_t Extent(const ir::Shape& shape, int axis) {
  return axis < shape.rank() ? shape[axis] : ir::kUnknownDim;
}

bool Divides(int64_t group, int64_t channels) {
  return channels == ir::kUnknownDim || channels % group == 0;
}

}  // namespace

Status CheckGroup(const ir::InferContext& context, int spatial_axes) {
  const int64_t group = context.attributes().Int("group");
  if (group < 1) return InvalidArgument("group is ", group, ", expected >= 1");
  const ir::Shape& weights = context.shape(1);
  const int64_t channels = Extent(context.shape(0), spatial_axes);
  const int64_t read = Extent(weights, spatial_axes);
  const int64_t outputs = Extent(weights, spatial_axes + 1);
  if (!Divides(group, channels)) {
    return InvalidArgument("group ", group, " does not divide the ", channels,
                           " channels of input 0 ",
                           context.shape(0).ToString());
  }
  if (!Divides(group, outputs)) {
    return InvalidArgument("group ", group, " does not divide the ", outputs,
                           " output channels of the weights (input 1) ",
                           weights.ToString());
  }
  if (channels == ir::kUnknownDim || read == ir::kUnknownDim ||
      read == channels / group) {
    return OkStatus();
  }
  return InvalidArgument("the weights (input 1) ", weights.ToString(), " read ",
                         read, " channels, expected ", channels / group,
                         ", the ", channels, " of input 0 in ", group,
                         " groups");
}

std::vector<ir::AttributeSpec> Conv1dWindowSpecs() {
  return {
      PaddingSpec(),
      {"pad", AttributeType::kInts, Ints{0, 0}},
      {"stride", AttributeType::kInt, int64_t{1}},
      {"dilation", AttributeType::kInt, int64_t{1}},
      DataLayoutSpec("input_layout", DataLayout::kWcn),
      DataLayoutSpec("kernel_layout", DataLayout::kWIcOc),
  };
}

Result<ir::AttributeMap> Conv1dWindowIn2d(const ir::AttributeMap& attributes) {
  const Ints& pad = attributes.Ints("pad");
  TIM_RETURN_IF_ERROR(CheckLength(attributes, "pad", 2));
  return ir::AttributeMap{
      {"padding", attributes.Int("padding")},
      {"pad", Ints{pad[0], pad[1], 0, 0}},
      {"stride", Ints{attributes.Int("stride"), 1}},
      {"dilation", Ints{attributes.Int("dilation"), 1}},
  };
}

Status CheckConv1dWeights(const ir::InferContext& context, WeightsForm form) {
  const ir::Quantization& quantization = context.inputs[1].desc->quantization;
  const int axis = quantization.axis;
  if (!quantization.per_channel() || axis == 2 ||
      (axis == 1 && form == WeightsForm::kDepthwise)) {
    return OkStatus();
  }
  return InvalidArgument("input 1 is quantized per channel along axis ", axis,
                         ", expected axis 2");
}

}  // namespace tim::ops
