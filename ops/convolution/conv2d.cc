// Conv2d: y(x, y, oc, n) = bias(oc) + sum of input * weights; see
// ops/elements/product_sum.h for the arithmetic and
// ops/convolution/convolution.h for extents, padding and groups.
#include <algorithm>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/convolution/conv2d_node.h"
#include "ops/convolution/conv_sizes.h"
#include "ops/convolution/convolution.h"
#include "ops/convolution/convolution_rules.h"
#include "ops/elements/data_layout.h"
#include "ops/elements/product_sum.h"
#include "ops/elements/shapes.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"
#include "ops/launch/prices.h"

namespace tim::ops {
namespace {

using ir::AttributeType;

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

// An output takes the kernel as long as so many terms, besides its own.
constexpr int64_t kOutputTerms = 14;

Result<Conv2dProblem> Analyze(const ir::KernelNode& node,
                              const ir::DeviceInfo&) {
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape, Conv2dShapeOf(node));
  TIM_RETURN_IF_ERROR(CheckKernelSizes(node, shape));
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue,
                       EpilogueOf(node, kConvChannelAxis));
  TIM_RETURN_IF_ERROR(CheckSumKernel(node, shape.terms()));
  return Conv2dProblem{shape, epilogue};
}

double Cost(const Conv2dProblem& problem, const ir::KernelNode& node,
            const ir::DeviceInfo& device) {
  return SumCost(node, problem.shape.terms() + kOutputTerms, device,
                 prices::kConv2d);
}

Result<ir::Lowering> Lower(const Conv2dProblem& problem,
                           const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const auto& [shape, epilogue] = problem;
  Launch launch("ops/convolution/conv2d.cl", "conv2d");
  AddSumOperands(node, epilogue, shape.terms(), shape.group.out_channels,
                 &launch);
  return launch.Struct("sizes", ConvSizes(shape))
      .Tiles(device, shape.w.output * shape.h.output, shape.group.out_channels,
             shape.batch)
      .Build();
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
      DataLayoutSpec("input_layout", DataLayout::kWhcn),
      DataLayoutSpec("kernel_layout", DataLayout::kWhIcOc),
  };
  schema.check = [](const ir::NodeView& view) {
    return CheckConvolution(view, 2);
  };
  schema.doubts = [](const ir::NodeView& view) {
    return ConvolutionDoubts(view, 2);
  };
  schema.infer_shapes = [](ir::InferContext& context) {
    return InferConvolution(context, 2);
  };
  schema.eval = EvalConv2d;
  schema.memory_estimate = FactorBytes;
  schema.compute_estimate = EstimateConv2d;
  schema.absorb_padding = [](const ir::NodeView& view,
                             const ir::Padding& padding) {
    return AbsorbIntoConvolution(view, padding, 2);
  };
  schema.sum_channels = [](const ir::NodeView& view) {
    return ConvolutionSums(view, 2);
  };
  schema.sliced_inputs = SliceInputFrom(3);
  schema.permute_rule = [](const ir::NodeView& view, int operand,
                           std::span<const int> perm) {
    return PermuteSpatialAxes(view, operand, perm, 2,
                              {"ksize", "stride", "dilation", "pad"});
  };
  schema.layout_rule = ConvInDefaultLayout;
  schema.vjp = Conv2dVjp;
  return schema;
}

TIM_OPERATOR(conv2d) {
  registry.Add(Conv2dSchema());
  registry.Add(ir::TypedKernel<Conv2dProblem>{.op = "tim.Conv2d",
                                              .name = "conv2d",
                                              .takes_epilogue = true,
                                              .analyze = Analyze,
                                              .cost = Cost,
                                              .lower = Lower});
}

}  // namespace tim::ops
