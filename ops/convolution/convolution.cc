#include "ops/convolution/convolution.h"

#include <algorithm>
#include <limits>

#include "base/checked_math.h"
#include "ops/elements/data_layout.h"
#include "ops/elements/product_sum.h"
#include "ops/elements/shapes.h"

namespace tim::ops {
namespace {

Status CheckRank(const char* operand, const ir::Shape& shape, int rank) {
  if (!shape.ranked() || shape.rank() == rank) return OkStatus();
  return InvalidArgument(operand, " ", shape.ToString(), " has rank ",
                         shape.rank(), ", expected ", rank);
}

Status CheckExtent(int axis, int64_t output, int64_t input, int64_t kernel) {
  if (output > 0 || output == ir::kUnknownDim) return OkStatus();
  return InvalidArgument("along ", SpatialAxisName(axis), " the kernel (",
                         kernel, ") does not fit the input (", input,
                         ") with its padding, and the output is not declared");
}

Result<ConvGroups> DepthwiseGroups(int64_t input_channels, int64_t kernel_in,
                                   int64_t kernel_out, int64_t multiplier) {
  ConvGroups out{.channels = 1, .outputs = multiplier};
  if (input_channels == ir::kUnknownDim) return out;
  out.out_channels = input_channels * multiplier;
  const auto matches = [&](int64_t many, int64_t one) {
    return (many == ir::kUnknownDim || many == out.out_channels) &&
           (one == ir::kUnknownDim || one == 1);
  };
  if (matches(kernel_in, kernel_out) || matches(kernel_out, kernel_in)) {
    return out;
  }
  return InvalidArgument(
      "a depthwise kernel of ", input_channels, " channels with multiplier ",
      multiplier, " must end in [", out.out_channels, ", 1] or [1, ",
      out.out_channels, "], not in [", kernel_in, ", ", kernel_out, "]");
}

}  // namespace

ir::AttributeSpec PaddingSpec() {
  return {"padding",
          ir::AttributeType::kInt,
          int64_t{0},
          {{"none", -1}, {"auto", 0}, {"valid", 1}, {"same", 2}}};
}

int64_t EffectiveKernel(const ConvWindow& window, int64_t kernel) {
  return (kernel - 1) * std::max<int64_t>(window.dilation, 1) + 1;
}

ConvPads PadsOf(const ConvWindow& window, int64_t input, int64_t kernel) {
  if (window.mode == PadMode::kValid) return {};
  if (window.mode != PadMode::kSame) return {window.front, window.back};
  const int64_t covered = (CeilDiv(input, window.stride) - 1) * window.stride +
                          EffectiveKernel(window, kernel);
  const int64_t pads = std::max<int64_t>(covered - input, 0);
  return {pads / 2, pads - pads / 2};
}

bool ArePadsKnown(const ConvWindow& window, int64_t input, int64_t kernel) {
  return window.mode != PadMode::kSame ||
         (input != ir::kUnknownDim && kernel != ir::kUnknownDim);
}

int64_t OutputExtent(const ConvWindow& window, int64_t input, int64_t kernel) {
  if (input == ir::kUnknownDim) return ir::kUnknownDim;
  if (window.mode == PadMode::kSame) return CeilDiv(input, window.stride);
  if (kernel == ir::kUnknownDim) return ir::kUnknownDim;
  const int64_t pads =
      window.mode == PadMode::kValid ? 0 : window.front + window.back;
  const int64_t room = input + pads - EffectiveKernel(window, kernel);
  return room < 0 ? 0 : room / window.stride + 1;
}

Status CheckWindow(const ConvWindow& window) {
  constexpr int64_t kLimit = std::numeric_limits<int32_t>::max();
  if (std::max({window.stride, window.dilation, window.front, window.back}) >
      kLimit) {
    return InvalidArgument("stride ", window.stride, ", dilation ",
                           window.dilation, ", pad ", window.front, " and ",
                           window.back, ": expected at most ", kLimit);
  }
  if (window.stride < 1) {
    return InvalidArgument("stride is ", window.stride, ", expected >= 1");
  }
  if (window.dilation < 0) {
    return InvalidArgument("dilation is ", window.dilation, ", expected >= 0");
  }
  if (window.front < 0 || window.back < 0) {
    return InvalidArgument("pad is ", window.front, " and ", window.back,
                           ", expected >= 0");
  }
  return OkStatus();
}

const char* SpatialAxisName(int axis) {
  static constexpr const char* kNames[] = {"W", "H", "D"};
  return kNames[axis];
}

Status CheckLength(const ir::AttributeMap& attributes, const char* name,
                   size_t expected) {
  const size_t length = attributes.Ints(name).size();
  if (length == expected) return OkStatus();
  return InvalidArgument("attribute '", name, "' has ", length,
                         " elements, expected ", expected);
}

Result<std::vector<ConvWindow>> WindowsOf(const ir::AttributeMap& attributes,
                                          int axes) {
  const auto& pad = attributes.Ints("pad");
  const auto& stride = attributes.Ints("stride");
  const auto& dilation = attributes.Ints("dilation");
  TIM_RETURN_IF_ERROR(CheckLength(attributes, "pad", 2 * axes));
  TIM_RETURN_IF_ERROR(CheckLength(attributes, "stride", axes));
  TIM_RETURN_IF_ERROR(CheckLength(attributes, "dilation", axes));
  const auto mode = static_cast<PadMode>(attributes.Int("padding"));
  std::vector<ConvWindow> out;
  for (int i = 0; i < axes; ++i) {
    out.push_back({mode, pad[2 * i], pad[2 * i + 1], stride[i], dilation[i]});
    TIM_RETURN_IF_ERROR(
        CheckWindow(out[i]).WithContext(StrCat("along ", SpatialAxisName(i))));
  }
  return out;
}

std::optional<ir::AttributeMap> PaddedBy(const ir::Padding& padding,
                                         const std::vector<ConvPads>& pads,
                                         const ir::AttributeMap& attributes) {
  constexpr int64_t kLimit = std::numeric_limits<int32_t>::max();
  const size_t rank = padding.front.size();
  if (padding.value != 0 || rank < pads.size()) return std::nullopt;
  for (size_t axis = pads.size(); axis < rank; ++axis) {
    if (padding.front[axis] != 0 || padding.back[axis] != 0)
      return std::nullopt;
  }
  std::vector<int64_t> pad;
  for (size_t axis = 0; axis < pads.size(); ++axis) {
    if (std::max(padding.front[axis], padding.back[axis]) > kLimit) {
      return std::nullopt;
    }
    pad.push_back(pads[axis].front + padding.front[axis]);
    pad.push_back(pads[axis].back + padding.back[axis]);
  }
  if (*std::max_element(pad.begin(), pad.end()) > kLimit) return std::nullopt;
  ir::AttributeMap padded = attributes;
  padded.Set("padding", static_cast<int64_t>(PadMode::kAuto));
  padded.Set("pad", std::move(pad));
  return padded;
}

ConvAxis AxisOf(const ConvWindow& window, int64_t input, int64_t kernel,
                int64_t output) {
  return {.input = input,
          .kernel = kernel,
          .output = output,
          .stride = window.stride,
          .dilation = std::max<int64_t>(window.dilation, 1),
          .pad = PadsOf(window, input, kernel).front};
}

Result<ConvGroups> GroupsOf(int64_t input_channels, int64_t kernel_in,
                            int64_t kernel_out, int64_t multiplier) {
  if (multiplier < 0) {
    return InvalidArgument("multiplier is ", multiplier, ", expected >= 0");
  }
  if (multiplier > 0) {
    return DepthwiseGroups(input_channels, kernel_in, kernel_out, multiplier);
  }
  ConvGroups out{.out_channels = kernel_out, .channels = kernel_in};
  if (input_channels == ir::kUnknownDim || kernel_in == ir::kUnknownDim ||
      kernel_out == ir::kUnknownDim) {
    return out;
  }
  if (kernel_in < 1 || input_channels % kernel_in != 0) {
    return InvalidArgument("the kernel reads ", kernel_in,
                           " channels, which does not divide the input's ",
                           input_channels);
  }
  const int64_t groups = input_channels / kernel_in;
  if (groups < 1 || kernel_out % groups != 0) {
    return InvalidArgument("the kernel's ", kernel_out,
                           " output channels are not a multiple of the ",
                           groups, " groups");
  }
  out.outputs = kernel_out / groups;
  return out;
}

Result<ConvShape> ConvShapeOf(const ir::AttributeMap& attributes,
                              const ir::Shape& input, const ir::Shape& kernel,
                              const ir::Shape& output) {
  const int axes = input.rank() - 2;
  TIM_ASSIGN_OR_RETURN(const std::vector<ConvWindow> windows,
                       WindowsOf(attributes, axes));
  ConvShape out{.batch = input[axes + 1], .channels = input[axes]};
  TIM_ASSIGN_OR_RETURN(out.group,
                       GroupsOf(input[axes], kernel[axes], kernel[axes + 1],
                                attributes.Int("multiplier")));
  const bool rules = output.rank() == axes + 2 &&
                     output[axes + 1] == out.batch &&
                     output[axes] == out.group.out_channels;
  ConvAxis* const places[] = {&out.w, &out.h, &out.d};
  for (int i = 0; i < axes; ++i) {
    *places[i] = AxisOf(
        windows[i], input[i], kernel[i],
        rules ? output[i] : OutputExtent(windows[i], input[i], kernel[i]));
  }
  return out;
}

int64_t DimOf(const ir::Shape& shape, int axis) {
  return shape.ranked() ? shape[axis] : ir::kUnknownDim;
}

Status CheckConvRanks(const ir::InferContext& context, int axes) {
  TIM_RETURN_IF_ERROR(CheckRank("input 0", context.shape(0), axes + 2));
  return CheckRank("the kernel (input 1)", context.shape(1), axes + 2);
}

void SetConvShape(const ir::Shape& inferred, ir::InferContext* context) {
  ir::Shape shape = inferred;
  const int rank = shape.rank();
  const ir::Shape* declared = context->outputs[0].declared;
  if (declared != nullptr && declared->rank() == rank) {
    const auto agrees = [&](int axis) {
      return shape[axis] == ir::kUnknownDim || (*declared)[axis] == shape[axis];
    };
    if (agrees(rank - 2) && agrees(rank - 1)) {
      for (int axis = 0; axis < rank; ++axis) {
        if ((*declared)[axis] == ir::kUnknownDim) continue;
        shape.set_dim(axis, (*declared)[axis]);
      }
    }
  }
  context->outputs[0].desc.shape = shape;
}

Status CheckConvChannels(const ir::InferContext& context, int64_t channels) {
  SumDescs descs = {context.inputs[0].desc, context.inputs[1].desc, nullptr,
                    &context.outputs[0].desc};
  if (context.has_input(2)) descs.bias = context.inputs[2].desc;
  return CheckSumChannels(descs, channels);
}

Status InferConvolution(ir::InferContext& context, int axes) {
  const ir::Shape& input = context.shape(0);
  const ir::Shape& kernel = context.shape(1);
  TIM_RETURN_IF_ERROR(CheckConvRanks(context, axes));
  TIM_ASSIGN_OR_RETURN(const std::vector<ConvWindow> windows,
                       WindowsOf(context.attributes(), axes));
  TIM_ASSIGN_OR_RETURN(
      const ConvGroups groups,
      GroupsOf(DimOf(input, axes), DimOf(kernel, axes), DimOf(kernel, axes + 1),
               context.attributes().Int("multiplier")));
  InferTypeFromInput(context);
  std::vector<int64_t> extents;
  for (int i = 0; i < axes; ++i) {
    extents.push_back(
        OutputExtent(windows[i], DimOf(input, i), DimOf(kernel, i)));
  }
  extents.push_back(groups.out_channels);
  extents.push_back(DimOf(input, axes + 1));
  SetConvShape(ir::Shape(extents), &context);
  const ir::Shape& output = context.outputs[0].desc.shape;
  for (int i = 0; i < axes; ++i) {
    TIM_RETURN_IF_ERROR(
        CheckExtent(i, output[i], DimOf(input, i), DimOf(kernel, i)));
  }
  return CheckConvChannels(context, groups.out_channels);
}

Status CheckConvolution(const ir::NodeView& view, int axes) {
  const SumDescs descs = DescsOf(view);
  const int last = axes + 1;
  if (view.node.attributes.Int("multiplier") <= 0) {
    return CheckSumTypes(descs, {last});
  }
  const int64_t in = DimOf(descs.weights->shape, axes);
  const int64_t out = DimOf(descs.weights->shape, last);
  if (in == 1 && out == 1) return CheckSumTypes(descs, {axes, last});
  return CheckSumTypes(descs, {out > 1 ? last : axes});
}

std::optional<ir::AttributeMap> AbsorbIntoConvolution(
    const ir::NodeView& view, const ir::Padding& padding, int axes) {
  const ir::AttributeMap& attributes = view.node.attributes;
  const auto windows = WindowsOf(attributes, axes);
  if (!windows.ok()) return std::nullopt;
  std::vector<ConvPads> pads;
  for (int i = 0; i < axes; ++i) {
    const int64_t input = view.inputs[0]->shape[i];
    const int64_t kernel = view.inputs[1]->shape[i];
    if (!ArePadsKnown((*windows)[i], input, kernel)) return std::nullopt;
    pads.push_back(PadsOf((*windows)[i], input, kernel));
  }
  return PaddedBy(padding, pads, attributes);
}

// Weights of depthwise convolutions may have the channels before the last axis.
std::optional<ir::SumChannels> ConvolutionSums(const ir::NodeView& view,
                                               int axes) {
  const bool depthwise = view.node.attributes.Int("multiplier") > 0;
  const bool last = !depthwise || view.inputs[1]->shape[axes + 1] > 1;
  return ir::SumChannels{.axis = axes, .weights_axis = last ? axes + 1 : axes};
}

Result<ir::PermutedNode> PermuteSpatialAxes(
    const ir::NodeView& view, int operand, std::span<const int> perm, int axes,
    std::initializer_list<const char*> attributes) {
  bool passes = operand <= 1;
  for (int i = 0; i < static_cast<int>(perm.size()); ++i) {
    passes &= i < axes ? perm[i] < axes : perm[i] == i;
  }
  if (!passes) {
    return Unimplemented(view.node.schema->name, " needs its ", axes,
                         " spatial axes first, with the channels behind them");
  }
  ir::PermutedNode out = ir::UnpermutedNode(view);
  for (const char* name : attributes) {
    if (view.node.attributes.Find(name) == nullptr) continue;
    const std::vector<int64_t>& old = view.node.attributes.Ints(name);
    const size_t each = old.size() / axes;
    std::vector<int64_t> moved;
    for (int i = 0; i < axes; ++i) {
      for (size_t end = 0; end < each; ++end) {
        moved.push_back(old[perm[i] * each + end]);
      }
    }
    out.attributes.Set(name, std::move(moved));
  }
  out.inputs[0] = out.inputs[1] = out.outputs[0] = {perm.begin(), perm.end()};
  return out;
}

Result<ir::PermutedNode> ConvInDefaultLayout(const ir::NodeView& view) {
  ir::PermutedNode out = ir::UnpermutedNode(view);
  TIM_ASSIGN_OR_RETURN(
      out.inputs[0],
      TakeDataLayout(*view.inputs[0], "input_layout", &out.attributes));
  TIM_ASSIGN_OR_RETURN(
      out.inputs[1],
      TakeKernelLayout(*view.inputs[1], "kernel_layout", &out.attributes));
  out.outputs[0] = out.inputs[0];
  return out;
}

}  // namespace tim::ops
