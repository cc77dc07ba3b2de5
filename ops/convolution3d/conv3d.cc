// Conv3d: y(x, y, z, oc, n) = bias(oc) + sum of input * weights; see
// ops/elements/product_sum.h for the arithmetic and
// ops/convolution/convolution.h for extents, padding and groups.
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/convolution/conv_sizes.h"
#include "ops/convolution/convolution.h"
#include "ops/convolution3d/conv3d_node.h"
#include "ops/elements/data_layout.h"
#include "ops/elements/product_sum.h"
#include "ops/elements/shapes.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"
#include "ops/launch/prices.h"

namespace tim::ops {
namespace {

using ir::AttributeType;
using Ints = std::vector<int64_t>;

// A window and the weights of its output channel.
struct Window {
  int64_t first_channel = 0;  // Of the input, images counted in.
  int64_t oc = 0;
  int64_t left = 0;
  int64_t top = 0;
  int64_t front = 0;
};

template <typename T, typename Sum>
Sum SumOfWindow(const Conv3dShape& shape, const Window& window,
                const std::vector<T>& input, const std::vector<T>& weights,
                Sum sum) {
  const Taps columns = TapsInside(shape.w, window.left);
  const Taps rows = TapsInside(shape.h, window.top);
  const Taps planes = TapsInside(shape.d, window.front);
  for (int64_t ic = 0; ic < shape.group.channels; ++ic) {
    for (int64_t kd = planes.first; kd < planes.last; ++kd) {
      for (int64_t kh = rows.first; kh < rows.last; ++kh) {
        const int64_t z = (window.first_channel + ic) * shape.d.input +
                          window.front + kd * shape.d.dilation;
        const int64_t y =
            z * shape.h.input + window.top + kh * shape.h.dilation;
        const int64_t plane =
            (window.oc * shape.group.channels + ic) * shape.d.kernel + kd;
        const T* row = input.data() + y * shape.w.input;
        const T* taps =
            weights.data() + (plane * shape.h.kernel + kh) * shape.w.kernel;
        for (int64_t kw = columns.first; kw < columns.last; ++kw) {
          sum = AddProduct(sum, row[window.left + kw * shape.w.dilation],
                           taps[kw]);
        }
      }
    }
  }
  return sum;
}

int64_t Begin(const ConvAxis& axis, int64_t output) {
  return output * axis.stride - axis.pad;
}

template <typename T, typename Sum>
void Convolve(const Conv3dShape& shape, const std::vector<T>& input,
              const std::vector<T>& weights, Sum zero, SumWriter* writer) {
  int64_t index = 0;
  for (int64_t n = 0; n < shape.batch; ++n) {
    for (int64_t oc = 0; oc < shape.group.out_channels; ++oc) {
      Window window = {
          .first_channel = n * shape.channels +
                           oc / shape.group.outputs * shape.group.channels,
          .oc = oc};
      for (int64_t z = 0; z < shape.d.output; ++z) {
        window.front = Begin(shape.d, z);
        for (int64_t y = 0; y < shape.h.output; ++y) {
          window.top = Begin(shape.h, y);
          for (int64_t x = 0; x < shape.w.output; ++x) {
            window.left = Begin(shape.w, x);
            writer->Store(index++, oc,
                          SumOfWindow(shape, window, input, weights, zero));
          }
        }
      }
    }
  }
}

Status Eval(const ir::EvalContext& context) {
  TIM_ASSIGN_OR_RETURN(
      const Conv3dShape shape,
      Conv3dShapeOf(context.attributes(), context.inputs[0].desc->shape,
                    context.inputs[1].desc->shape,
                    context.outputs[0].desc->shape));
  SumWriter writer(context, shape.group.out_channels);
  WithFactors(context, shape.terms(),
              [&](const auto& input, const auto& weights, auto zero) {
                Convolve(shape, input, weights, zero, &writer);
              });
  return OkStatus();
}

ir::ComputeEstimate Estimate(const ir::NodeView& view) {
  const Result<Conv3dShape> shape =
      Conv3dShapeOf(view.node.attributes, view.inputs[0]->shape,
                    view.inputs[1]->shape, view.outputs[0]->shape);
  return SumEstimate(view,
                     shape.ok() ? static_cast<double>(shape->terms()) : 0);
}

// The kernel's layout counts beside an input in CWHDN alone.
Result<ir::PermutedNode> InDefaultLayout(const ir::NodeView& view) {
  constexpr auto kCwhdn = static_cast<int64_t>(DataLayout::kCwhdn);
  if (view.node.attributes.Int("input_layout") == kCwhdn) {
    return ConvInDefaultLayout(view);
  }
  return ir::UnpermutedNode(view);
}

// Where the layouts are not those of layout inference.
std::vector<std::string> FindDoubts(const ir::NodeView& view) {
  std::vector<std::string> doubts = ConvolutionDoubts(view, kConv3dAxes);
  constexpr auto kCwhdn = static_cast<int64_t>(DataLayout::kCwhdn);
  if (view.node.attributes.Int("input_layout") != kCwhdn) {
    const std::vector<std::string> idle = IdleLayouts(view);
    doubts.insert(doubts.end(), idle.begin(), idle.end());
  }
  return doubts;
}

Result<Conv3dProblem> Analyze(const ir::KernelNode& node,
                              const ir::DeviceInfo&) {
  TIM_ASSIGN_OR_RETURN(const Conv3dShape shape, Conv3dShapeOf(node));
  TIM_RETURN_IF_ERROR(CheckConv3dSizes(node, shape));
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue, EpilogueOf(node, kConv3dAxes));
  TIM_RETURN_IF_ERROR(CheckSumKernel(node, shape.terms()));
  return Conv3dProblem{shape, epilogue};
}

double Cost(const Conv3dProblem& problem, const ir::KernelNode& node,
            const ir::DeviceInfo& device) {
  return SumCost(node, problem.shape.terms(), device, prices::kConv3d);
}

Result<ir::Lowering> Lower(const Conv3dProblem& problem,
                           const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const auto& [shape, epilogue] = problem;
  Launch launch("ops/convolution3d/conv3d.cl", "conv3d");
  AddSumOperands(node, epilogue, shape.terms(), shape.group.out_channels,
                 &launch);
  return launch.Struct("sizes", ConvSizes(shape))
      .Tiles(device, shape.w.output * shape.h.output * shape.d.output,
             shape.group.out_channels, shape.batch)
      .Build();
}

ir::OpSchema Conv3dSchema() {
  ir::OpSchema schema;
  schema.name = "Conv3d";
  schema.inputs = {2, 3};
  schema.attributes = {
      {"padding",
       AttributeType::kInt,
       int64_t{0},
       {{"none", -1}, {"auto", 0}, {"valid", 1}, {"same", 2}}},
      {"pad", AttributeType::kInts, Ints{0, 0, 0, 0, 0, 0}},
      {"stride", AttributeType::kInts, Ints{1, 1, 1}},
      {"dilation", AttributeType::kInts, Ints{1, 1, 1}},
      {"multiplier", AttributeType::kInt, int64_t{0}},
      {"weights", AttributeType::kInt, int64_t{0}},
      {"ksize", AttributeType::kInts, Ints{0, 0, 0}},
      DataLayoutSpec("input_layout", DataLayout::kWhdcn),
      DataLayoutSpec("kernel_layout", DataLayout::kWhdIcOc),
  };
  schema.check = [](const ir::NodeView& view) {
    return CheckConvolution(view, kConv3dAxes);
  };
  schema.doubts = FindDoubts;
  schema.infer_shapes = [](ir::InferContext& context) {
    return InferConvolution(context, kConv3dAxes);
  };
  schema.eval = Eval;
  schema.memory_estimate = FactorBytes;
  schema.compute_estimate = Estimate;
  schema.absorb_padding = [](const ir::NodeView& view,
                             const ir::Padding& padding) {
    return AbsorbIntoConvolution(view, padding, kConv3dAxes);
  };
  schema.sum_channels = [](const ir::NodeView& view) {
    return ConvolutionSums(view, kConv3dAxes);
  };
  schema.sliced_inputs = SliceInputFrom(4);
  schema.permute_rule = [](const ir::NodeView& view, int operand,
                           std::span<const int> perm) {
    return PermuteSpatialAxes(view, operand, perm, kConv3dAxes,
                              {"ksize", "stride", "dilation", "pad"});
  };
  schema.layout_rule = InDefaultLayout;
  return schema;
}

}  // namespace

TIM_OPERATOR(conv3d) {
  registry.Add(Conv3dSchema());
  registry.Add(ir::TypedKernel<Conv3dProblem>{.op = "tim.Conv3d",
                                              .name = "conv3d",
                                              .takes_epilogue = true,
                                              .analyze = Analyze,
                                              .cost = Cost,
                                              .lower = Lower});
}

}  // namespace tim::ops
