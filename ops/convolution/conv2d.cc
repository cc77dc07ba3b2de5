// Conv2d: y(x, y, oc, n) = bias(oc) + sum of input * weights; see
// ops/elements/product_sum.h for the arithmetic and
// ops/convolution/convolution.h for extents, padding and groups.
#include <algorithm>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ops/convolution/conv2d_node.h"
#include "ops/convolution/convolution.h"
#include "ops/elements/data_layout.h"
#include "ops/elements/product_sum.h"
#include "ops/elements/shapes.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"

namespace tim::ops {
namespace {

using ir::AttributeType;

// Extent `axis` of a shape, unknown where the rank is.
int64_t DimOf(const ir::Shape& shape, int axis) {
  return shape.ranked() ? shape[axis] : ir::kUnknownDim;
}

Status CheckRank(const char* operand, const ir::Shape& shape) {
  if (!shape.ranked() || shape.rank() == 4) return OkStatus();
  return InvalidArgument(operand, " ", shape.ToString(), " has rank ",
                         shape.rank(), ", expected 4");
}

Status CheckExtent(const char* axis, int64_t output, int64_t input,
                   int64_t kernel) {
  if (output > 0 || output == ir::kUnknownDim) return OkStatus();
  return InvalidArgument("along ", axis, " the kernel (", kernel,
                         ") does not fit the input (", input,
                         ") with its padding, and the output is not declared");
}

Status InferConv2d(ir::InferContext& context) {
  const ir::Shape& input = context.shape(0);
  const ir::Shape& kernel = context.shape(1);
  TIM_RETURN_IF_ERROR(CheckRank("input 0", input));
  TIM_RETURN_IF_ERROR(CheckRank("the kernel (input 1)", kernel));
  TIM_ASSIGN_OR_RETURN(const ConvWindows2d windows,
                       WindowsOf(context.attributes()));
  TIM_ASSIGN_OR_RETURN(
      const ConvGroups groups,
      GroupsOf(DimOf(input, 2), DimOf(kernel, 2), DimOf(kernel, 3),
               context.attributes().Int("multiplier")));
  InferTypeFromInput(context);
  ir::Shape inferred(
      {OutputExtent(windows.w, DimOf(input, 0), DimOf(kernel, 0)),
       OutputExtent(windows.h, DimOf(input, 1), DimOf(kernel, 1)),
       groups.out_channels, DimOf(input, 3)});
  const ir::Shape* declared = context.outputs[0].declared;
  if (declared != nullptr && declared->rank() == 4) {
    const auto agrees = [&](int axis) {
      return inferred[axis] == ir::kUnknownDim ||
             (*declared)[axis] == inferred[axis];
    };
    if (agrees(2) && agrees(3)) {
      for (int axis = 0; axis < 4; ++axis) {
        if ((*declared)[axis] == ir::kUnknownDim) continue;
        inferred.set_dim(axis, (*declared)[axis]);
      }
    }
  }
  TIM_RETURN_IF_ERROR(
      CheckExtent("W", inferred[0], DimOf(input, 0), DimOf(kernel, 0)));
  TIM_RETURN_IF_ERROR(
      CheckExtent("H", inferred[1], DimOf(input, 1), DimOf(kernel, 1)));
  context.outputs[0].desc.shape = inferred;
  SumDescs descs = {context.inputs[0].desc, context.inputs[1].desc, nullptr,
                    &context.outputs[0].desc};
  if (context.has_input(2)) descs.bias = context.inputs[2].desc;
  return CheckSumChannels(descs, groups.out_channels);
}

Status CheckConv2d(const ir::NodeView& view) {
  const SumDescs descs = DescsOf(view);
  if (view.node.attributes.Int("multiplier") <= 0) {
    return CheckSumTypes(descs, {3});
  }
  const int64_t in = DimOf(descs.weights->shape, 2);
  const int64_t out = DimOf(descs.weights->shape, 3);
  if (in == 1 && out == 1) return CheckSumTypes(descs, {2, 3});
  return out > 1 ? CheckSumTypes(descs, {3}) : CheckSumTypes(descs, {2});
}

// Taps [first, last) of a kernel axis that read inside of the input when the
// window begins at `begin`.
struct Taps {
  int64_t first;
  int64_t last;
};
Taps TapsInside(const ConvAxis& axis, int64_t begin) {
  const auto reach = [&](int64_t position) {
    return std::clamp<int64_t>(CeilDiv(position, axis.dilation), 0,
                               axis.kernel);
  };
  return {begin < 0 ? reach(-begin) : 0,
          begin < axis.input ? reach(axis.input - begin) : 0};
}

template <typename T, typename Sum>
Sum SumOfWindow(const Conv2dShape& shape, const std::vector<T>& input,
                const std::vector<T>& weights, int64_t first_channel,
                int64_t oc, int64_t x, int64_t y, Sum sum) {
  const int64_t left = x * shape.w.stride - shape.w.pad;
  const int64_t top = y * shape.h.stride - shape.h.pad;
  const Taps columns = TapsInside(shape.w, left);
  const Taps rows = TapsInside(shape.h, top);
  for (int64_t ic = 0; ic < shape.group.channels; ++ic) {
    for (int64_t kh = rows.first; kh < rows.last; ++kh) {
      const T* row = &input[((first_channel + ic) * shape.h.input + top +
                             kh * shape.h.dilation) *
                            shape.w.input];
      const T* taps =
          &weights[((oc * shape.group.channels + ic) * shape.h.kernel + kh) *
                   shape.w.kernel];
      for (int64_t kw = columns.first; kw < columns.last; ++kw) {
        sum = AddProduct(sum, row[left + kw * shape.w.dilation], taps[kw]);
      }
    }
  }
  return sum;
}

template <typename T, typename Sum>
void Convolve(const Conv2dShape& shape, const std::vector<T>& input,
              const std::vector<T>& weights, Sum zero, SumWriter* writer) {
  int64_t index = 0;
  for (int64_t n = 0; n < shape.batch; ++n) {
    for (int64_t oc = 0; oc < shape.group.out_channels; ++oc) {
      const int64_t first_channel =
          n * shape.channels + oc / shape.group.outputs * shape.group.channels;
      for (int64_t y = 0; y < shape.h.output; ++y) {
        for (int64_t x = 0; x < shape.w.output; ++x) {
          writer->Store(index++, oc,
                        SumOfWindow(shape, input, weights, first_channel, oc, x,
                                    y, zero));
        }
      }
    }
  }
}

Status EvalConv2d(const ir::EvalContext& context) {
  TIM_ASSIGN_OR_RETURN(
      const Conv2dShape shape,
      Conv2dShapeOf(context.attributes(), context.inputs[0].desc->shape,
                    context.inputs[1].desc->shape,
                    context.outputs[0].desc->shape));
  SumWriter writer(context, shape.group.out_channels);
  WithFactors(context, shape.terms(),
              [&](const auto& input, const auto& weights, auto zero) {
                Convolve(shape, input, weights, zero, &writer);
              });
  return OkStatus();
}

ir::ComputeEstimate EstimateConv2d(const ir::NodeView& view) {
  const Result<Conv2dShape> shape =
      Conv2dShapeOf(view.node.attributes, view.inputs[0]->shape,
                    view.inputs[1]->shape, view.outputs[0]->shape);
  return SumEstimate(view,
                     shape.ok() ? static_cast<double>(shape->terms()) : 0);
}

std::optional<ir::AttributeMap> AbsorbPadding(const ir::NodeView& view,
                                              const ir::Padding& padding) {
  const ir::AttributeMap& attributes = view.node.attributes;
  const auto windows = WindowsOf(attributes);
  if (!windows.ok()) return std::nullopt;
  const ir::Shape& input = view.inputs[0]->shape;
  const ir::Shape& kernel = view.inputs[1]->shape;
  return PaddedBy(padding, PadsOf(windows->w, input[0], kernel[0]),
                  PadsOf(windows->h, input[1], kernel[1]), attributes);
}

// Weights of depthwise convolutions may have the channels as axis 2.
std::optional<ir::SumChannels> SumChannelsOf(const ir::NodeView& view) {
  const bool depthwise = view.node.attributes.Int("multiplier") > 0;
  const bool last = !depthwise || view.inputs[1]->shape[3] > 1;
  return ir::SumChannels{.axis = 2, .weights_axis = last ? 3 : 2};
}

// W and H may change places.
Result<ir::PermutedNode> PermuteConv2d(const ir::NodeView& view, int operand,
                                       std::span<const int> perm) {
  const ir::Permutation swapped = {1, 0, 2, 3};
  if (operand > 1 ||
      !std::equal(perm.begin(), perm.end(), swapped.begin(), swapped.end())) {
    return Unimplemented(
        "Conv2d needs W and H as its first axes, with the "
        "channels behind them");
  }
  ir::PermutedNode out = ir::UnpermutedNode(view);
  SwapWidthAndHeight({"ksize", "stride", "dilation", "pad"}, &out.attributes);
  out.inputs[0] = out.inputs[1] = out.outputs[0] = swapped;
  return out;
}

Result<ir::PermutedNode> Conv2dInDefaultLayout(const ir::NodeView& view) {
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

Status SupportsConv2d(const ir::KernelNode& node, const ir::DeviceInfo&) {
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape, Conv2dShapeOf(node));
  TIM_RETURN_IF_ERROR(CheckKernelSizes(node, shape));
  TIM_RETURN_IF_ERROR(EpilogueOf(node, kConvChannelAxis).status());
  return CheckSumKernel(node, shape.terms());
}

Result<ir::Lowering> LowerConv2d(const ir::KernelNode& node,
                                 const ir::DeviceInfo& device) {
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape, Conv2dShapeOf(node));
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue,
                       EpilogueOf(node, kConvChannelAxis));
  const SumDescs descs = DescsOf(node);
  Launch launch("ops/convolution/conv2d.cl", "conv2d");
  AddSumOptions(node, shape.terms(), &launch);
  launch.Input("input", node, 0)
      .Input("weights", node, 1)
      .Packed("channels", ChannelTable(descs, shape.group.out_channels), 4);
  if (descs.bias != nullptr) launch.Input("bias", node, 2);
  if (epilogue.add >= 0)
    launch.Option("-DADD").Input("add", node, epilogue.add);
  launch.Output("output", node, 0)
      .InputQuantization("input", *descs.input)
      .OutputQuantization("output", *descs.output);
  AddActivation(epilogue, *descs.output, &launch);
  return launch.Int("in_w", shape.w.input)
      .Int("in_h", shape.h.input)
      .Int("in_channels", shape.channels)
      .Int("kernel_w", shape.w.kernel)
      .Int("kernel_h", shape.h.kernel)
      .Int("group_channels", shape.group.channels)
      .Int("group_outputs", shape.group.outputs)
      .Int("out_w", shape.w.output)
      .Int("out_h", shape.h.output)
      .Int("out_channels", shape.group.out_channels)
      .Int("batch", shape.batch)
      .Int("stride_w", shape.w.stride)
      .Int("stride_h", shape.h.stride)
      .Int("dilation_w", shape.w.dilation)
      .Int("dilation_h", shape.h.dilation)
      .Int("pad_left", shape.w.pad)
      .Int("pad_top", shape.h.pad)
      .Tiles(device, shape.w.output * shape.h.output, shape.group.out_channels,
             shape.batch)
      .Build();
}

ir::KernelDef Conv2dKernel() {
  ir::KernelDef kernel;
  kernel.op = "tim.Conv2d";
  kernel.name = "conv2d";
  kernel.supports = SupportsConv2d;
  kernel.cost = [](const ir::KernelNode& node, const ir::DeviceInfo& device) {
    return ir::EstimateMicroseconds(EstimateConv2d(AnchorView(node).view()),
                                    device, 0.012);
  };
  kernel.lower = LowerConv2d;
  return kernel;
}

}  // namespace

ir::OpSchema Conv2dSchema() {
  ir::OpSchema schema;
  schema.name = "Conv2d";
  schema.inputs = {2, 3};
  schema.attributes = {
      {"padding",
       AttributeType::kInt,
       int64_t{0},
       {{"none", -1}, {"auto", 0}, {"valid", 1}, {"same", 2}}},
      {"pad", AttributeType::kInts, std::vector<int64_t>{0, 0, 0, 0}},
      {"stride", AttributeType::kInts, std::vector<int64_t>{1, 1}},
      {"dilation", AttributeType::kInts, std::vector<int64_t>{1, 1}},
      {"multiplier", AttributeType::kInt, int64_t{0}},
      {"weights", AttributeType::kInt, int64_t{0}},
      {"ksize", AttributeType::kInts, std::vector<int64_t>{0, 0}},
      {"input_layout", AttributeType::kInt, int64_t{1}},
      {"kernel_layout", AttributeType::kInt, int64_t{6}},
  };
  schema.check = CheckConv2d;
  schema.infer_shapes = InferConv2d;
  schema.eval = EvalConv2d;
  schema.memory_estimate = FactorBytes;
  schema.compute_estimate = EstimateConv2d;
  schema.absorb_padding = AbsorbPadding;
  schema.sum_channels = SumChannelsOf;
  schema.permute_rule = PermuteConv2d;
  schema.layout_rule = Conv2dInDefaultLayout;
  return schema;
}

TIM_OPERATOR(conv2d) {
  registry.Add(Conv2dSchema());
  registry.Add(Conv2dKernel());
}

}  // namespace tim::ops
