// DeConv2d, a transposed convolution: every input element adds its products
// with the kernel to the output, whose bias they meet; see
// ops/deconvolution/deconv_node.h for extents and groups and
// ops/elements/product_sum.h for the arithmetic.
#include <algorithm>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/convolution/conv2d_node.h"
#include "ops/convolution/conv_sums.h"
#include "ops/convolution/extent_doubts.h"
#include "ops/deconvolution/deconv_node.h"
#include "ops/deconvolution/deconvolution_rules.h"
#include "ops/doubts/sums.h"
#include "ops/elements/data_layout.h"
#include "ops/elements/product_sum.h"
#include "ops/elements/shapes.h"
#include "ops/launch/prices.h"

namespace tim::ops {
namespace {

using ir::AttributeType;
using Ints = std::vector<int64_t>;

Status Infer(ir::InferContext& context) {
  const ir::Shape& input = context.shape(0);
  const ir::Shape& kernel = context.shape(1);
  TIM_RETURN_IF_ERROR(CheckConvRanks(context, 2));
  TIM_ASSIGN_OR_RETURN(const std::vector<TransposedWindow> windows,
                       TransposedWindowsOf(context.attributes()));
  TIM_ASSIGN_OR_RETURN(
      const ConvGroups groups,
      TransposedGroupsOf(DimOf(input, 2), DimOf(kernel, 2), DimOf(kernel, 3),
                         context.attributes().Int("group")));
  InferTypeFromInput(context);
  Ints extents;
  for (int i = 0; i < 2; ++i) {
    extents.push_back(
        TransposedExtent(windows[i], DimOf(input, i), DimOf(kernel, i)));
  }
  extents.push_back(groups.out_channels);
  extents.push_back(DimOf(input, 3));
  SetConvShape(ir::Shape(extents), &context);
  const ir::Shape& output = context.outputs[0].desc.shape;
  for (int i = 0; i < 2; ++i) {
    if (output[i] > 0 || output[i] == ir::kUnknownDim) continue;
    return InvalidArgument("along ", SpatialAxisName(i), " pads of ",
                           windows[i].front, " and ", windows[i].back,
                           " leave nothing, and the output is not declared");
  }
  return CheckConvChannels(context, groups.out_channels);
}

// A kernel [W, H, C, 1] of a group for every channel has these along axis 2.
bool ChannelsBeforeLast(const ir::NodeView& view) {
  const ir::Shape& kernel = view.inputs[1]->shape;
  return view.node.attributes.Int("group") > 1 && DimOf(kernel, 3) == 1;
}

Status Check(const ir::NodeView& view) {
  const SumDescs descs = DescsOf(view);
  return ChannelsBeforeLast(view) ? CheckSumTypes(descs, {2, 3})
                                  : CheckSumTypes(descs, {3});
}

// Sizes of which a convolution by this window, however rounded, makes the
// input; by 'padding', which has no effect, too.
std::vector<ExtentRange> Extents(const TransposedWindow& window, PadMode mode,
                                 int64_t input, int64_t kernel) {
  const int64_t whole = (input - 1) * window.stride + kernel;
  const int64_t made = whole - window.front - window.back;
  const int64_t more = std::max(window.stride - 1, window.output_padding);
  std::vector<ExtentRange> out = {{made - (window.stride - 1), made + more}};
  if (mode == PadMode::kSame) {
    out.push_back({(input - 1) * window.stride + 1, input * window.stride});
  } else if (mode == PadMode::kValid) {
    out.push_back({whole - (window.stride - 1), whole + more});
  }
  return out;
}

std::vector<std::string> FindDoubts(const ir::NodeView& view) {
  Doubts doubts = SumDoubts(view);
  AddKernelDoubt(view, 2, &doubts);
  const auto windows = TransposedWindowsOf(view.node.attributes);
  const ir::Shape& input = view.inputs[0]->shape;
  const ir::Shape& kernel = view.inputs[1]->shape;
  if (!windows.ok() || !input.IsStatic() || !kernel.IsStatic()) return doubts;
  const auto mode = static_cast<PadMode>(view.node.attributes.Int("padding"));
  std::vector<std::vector<ExtentRange>> readings;
  for (int i = 0; i < 2; ++i) {
    readings.push_back(Extents((*windows)[i], mode, input[i], kernel[i]));
  }
  AddExtentsDoubt(view, readings, &doubts);
  return doubts;
}

Status Eval(const ir::EvalContext& context) {
  TIM_ASSIGN_OR_RETURN(
      const Conv2dShape shape,
      TransposedShapeOf(context.attributes(), context.inputs[0].desc->shape,
                        context.inputs[1].desc->shape,
                        context.outputs[0].desc->shape));
  return EvalConv(context, shape, ConvForm::kTransposed);
}

// Pairs of an input position and a tap that reach the output.
double Pairs(const ConvAxis& axis) {
  double pairs = 0;
  for (int64_t k = 0; k < axis.kernel; ++k) {
    const int64_t first =
        std::max<int64_t>(CeilDiv(axis.pad - k, axis.stride), 0);
    const int64_t end =
        std::min(CeilDiv(axis.output + axis.pad - k, axis.stride), axis.input);
    pairs += static_cast<double>(std::max<int64_t>(end - first, 0));
  }
  return pairs;
}

ir::ComputeEstimate EstimateOf(const ir::NodeView& view,
                               const Conv2dShape& shape) {
  ir::ComputeEstimate out = SumEstimate(view, 0);
  out.flops = 2.0 * Pairs(shape.w) * Pairs(shape.h) *
              static_cast<double>(shape.group.channels) *
              static_cast<double>(shape.group.out_channels * shape.batch);
  return out;
}

ir::ComputeEstimate Estimate(const ir::NodeView& view) {
  const Result<Conv2dShape> shape =
      TransposedShapeOf(view.node.attributes, view.inputs[0]->shape,
                        view.inputs[1]->shape, view.outputs[0]->shape);
  return shape.ok() ? EstimateOf(view, *shape) : SumEstimate(view, 0);
}

Result<ConvProblem> Analyze(const ir::KernelNode& node, const ir::DeviceInfo&) {
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape, TransposedShapeOf(node));
  TIM_RETURN_IF_ERROR(CheckTransposedSizes(node, shape));
  return ConvSumsOf(node, shape);
}

double Cost(const ConvProblem& problem, const ir::KernelNode& node,
            const ir::DeviceInfo& device) {
  return EstimateMicroseconds(
      EstimateOf(AnchorView(node).view(), problem.shape), device,
      prices::kDeconv);
}

Result<ir::Lowering> Lower(const ConvProblem& problem,
                           const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  return LowerConvSums(problem, node, device, ConvForm::kTransposed);
}

}  // namespace

ir::OpSchema DeConv2dSchema() {
  ir::OpSchema schema;
  schema.name = "DeConv2d";
  schema.inputs = {2, 3};
  schema.surplus_inputs = 1;  // NNAPI: output shape, behind the bias
  schema.attributes = {
      PaddingSpec(),
      {"pad", AttributeType::kInts, Ints{0, 0, 0, 0}},
      {"stride", AttributeType::kInts, Ints{1, 1}},
      {"output_padding", AttributeType::kInts, Ints{0, 0}},
      {"group", AttributeType::kInt, int64_t{1}},
      {"oc_count", AttributeType::kInt, int64_t{0}},
      {"ksize", AttributeType::kInts, Ints{0, 0}},
      DataLayoutSpec("input_layout", DataLayout::kWhcn),
      DataLayoutSpec("kernel_layout", DataLayout::kWhIcOc),
  };
  schema.check = Check;
  schema.doubts = FindDoubts;
  schema.infer_shapes = Infer;
  schema.eval = Eval;
  schema.memory_estimate = FactorBytes;
  schema.compute_estimate = Estimate;
  schema.sum_channels = [](const ir::NodeView& view) {
    return std::optional(ir::SumChannels{
        .axis = 2, .weights_axis = ChannelsBeforeLast(view) ? 2 : 3});
  };
  schema.sliced_inputs = SliceInputFrom(3);
  schema.permute_rule = [](const ir::NodeView& view, int operand,
                           std::span<const int> perm) {
    return PermuteSpatialAxes(view, operand, perm, 2,
                              {"ksize", "stride", "output_padding", "pad"});
  };
  schema.layout_rule = ConvInDefaultLayout;
  schema.vjp = DeConv2dVjp;
  return schema;
}

TIM_OPERATOR(deconv) {
  registry.Add(DeConv2dSchema());
  registry.Add(ir::TypedKernel<ConvProblem>{.op = "tim.DeConv2d",
                                            .name = "deconv",
                                            .takes_epilogue = true,
                                            .analyze = Analyze,
                                            .cost = Cost,
                                            .lower = Lower});
}

}  // namespace tim::ops
