// Sums the windows of convolutions in C++, and launches the kernel that does.
#include "ops/convolution/conv_sums.h"

#include <algorithm>
#include <vector>

#include "base/checked_math.h"
#include "ir/typed_kernel.h"
#include "ops/convolution/conv_sizes.h"
#include "ops/elements/product_sum.h"
#include "ops/elements/shapes.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"

namespace tim::ops {
namespace {

using ir::AttributeType;
using Ints = std::vector<int64_t>;

// Taps that a window takes along an axis, `count` of them, and the input
// positions that they meet.
struct TapRun {
  int64_t count = 0;
  int64_t tap = 0;
  int64_t tap_step = 1;
  int64_t position = 0;
  int64_t position_step = 1;

  int64_t tap_of(int64_t i) const { return tap + i * tap_step; }
  int64_t position_of(int64_t i) const { return position + i * position_step; }
};

TapRun DirectRun(const ConvAxis& axis, int64_t output) {
  const int64_t begin = output * axis.stride - axis.pad;
  const auto reach = [&](int64_t position) {
    return std::clamp<int64_t>(CeilDiv(position, axis.dilation), 0,
                               axis.kernel);
  };
  const int64_t first = begin < 0 ? reach(-begin) : 0;
  const int64_t last = begin < axis.input ? reach(axis.input - begin) : 0;
  return {.count = last - first,
          .tap = first,
          .position = begin + first * axis.dilation,
          .position_step = axis.dilation};
}

TapRun TransposedRun(const ConvAxis& axis, int64_t output) {
  const int64_t padded = output + axis.pad;
  const int64_t position =
      std::min(FloorDiv(padded, axis.stride), axis.input - 1);
  const int64_t tap = padded - position * axis.stride;
  return {
      .count = std::min(CeilDiv(axis.kernel - tap, axis.stride), position + 1),
      .tap = tap,
      .tap_step = axis.stride,
      .position = position,
      .position_step = -1};
}

TapRun RunOf(const ConvAxis& axis, int64_t output, ConvForm form) {
  return form == ConvForm::kDirect ? DirectRun(axis, output)
                                   : TransposedRun(axis, output);
}

// A window and the weights of its output channel.
struct Window {
  int64_t first_channel = 0;  // The input's, images counted in.
  int64_t oc = 0;
  TapRun columns = {};
  TapRun rows = {};
  TapRun planes = {};
};

template <typename T, typename Sum>
Sum SumOfWindow(const ConvShape& shape, const Window& window,
                const std::vector<T>& input, const std::vector<T>& weights,
                Sum sum) {
  const auto& [first_channel, oc, columns, rows, planes] = window;
  for (int64_t ic = 0; ic < shape.group.channels; ++ic) {
    const int64_t in_plane = (first_channel + ic) * shape.d.input;
    const int64_t tap_plane = (oc * shape.group.channels + ic) * shape.d.kernel;
    for (int64_t d = 0; d < planes.count; ++d) {
      for (int64_t h = 0; h < rows.count; ++h) {
        const T* row =
            input.data() + ((in_plane + planes.position_of(d)) * shape.h.input +
                            rows.position_of(h)) *
                               shape.w.input;
        const T* taps =
            weights.data() +
            ((tap_plane + planes.tap_of(d)) * shape.h.kernel + rows.tap_of(h)) *
                shape.w.kernel;
        for (int64_t w = 0; w < columns.count; ++w) {
          sum = AddProduct(sum, row[columns.position_of(w)],
                           taps[columns.tap_of(w)]);
        }
      }
    }
  }
  return sum;
}

template <typename T, typename Sum>
void StoreSums(const ConvShape& shape, ConvForm form,
               const std::vector<T>& input, const std::vector<T>& weights,
               Sum zero, SumWriter* writer) {
  int64_t index = 0;
  for (int64_t n = 0; n < shape.batch; ++n) {
    for (int64_t oc = 0; oc < shape.group.out_channels; ++oc) {
      Window window = {
          .first_channel = n * shape.channels +
                           oc / shape.group.outputs * shape.group.channels,
          .oc = oc};
      for (int64_t z = 0; z < shape.d.output; ++z) {
        window.planes = RunOf(shape.d, z, form);
        for (int64_t y = 0; y < shape.h.output; ++y) {
          window.rows = RunOf(shape.h, y, form);
          for (int64_t x = 0; x < shape.w.output; ++x) {
            window.columns = RunOf(shape.w, x, form);
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
      const ConvShape shape,
      ConvShapeOf(context.attributes(), context.inputs[0].desc->shape,
                  context.inputs[1].desc->shape,
                  context.outputs[0].desc->shape));
  return EvalConv(context, shape, ConvForm::kDirect);
}

ir::ComputeEstimate Estimate(const ir::NodeView& view) {
  const Result<ConvShape> shape =
      ConvShapeOf(view.node.attributes, view.inputs[0]->shape,
                  view.inputs[1]->shape, view.outputs[0]->shape);
  return SumEstimate(view,
                     shape.ok() ? static_cast<double>(shape->terms()) : 0);
}

}  // namespace

Status EvalConv(const ir::EvalContext& context, const ConvShape& shape,
                ConvForm form) {
  SumWriter writer(context, shape.group.out_channels);
  WithFactors(context, shape.terms(),
              [&](const auto& input, const auto& weights, auto zero) {
                StoreSums(shape, form, input, weights, zero, &writer);
              });
  return OkStatus();
}

Result<ConvProblem> ConvSumsOf(const ir::KernelNode& node,
                               const ConvShape& shape) {
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue,
                       EpilogueOf(node, node.inputs[0].shape.rank() - 2));
  TIM_RETURN_IF_ERROR(CheckSumKernel(node, shape.terms()));
  return ConvProblem{shape, epilogue};
}

Result<ir::Lowering> LowerConvSums(const ConvProblem& problem,
                                   const ir::KernelNode& node,
                                   const ir::DeviceInfo& device,
                                   ConvForm form) {
  const auto& [shape, epilogue] = problem;
  Launch launch("ops/convolution/conv_sums.cl", "conv_sums");
  if (form == ConvForm::kTransposed) launch.Option("-DTRANSPOSED");
  if (node.inputs[0].shape.rank() == 5) launch.Option("-DDEPTH");
  AddSumOperands(node, epilogue, shape.terms(), shape.group.out_channels,
                 &launch);
  return launch.Struct("sizes", ConvSizes(shape))
      .Tiles(device, shape.w.output * shape.h.output * shape.d.output,
             shape.group.out_channels, shape.batch)
      .Build();
}

ir::OpSchema ConvSchema(const char* name, int axes, DataLayout input_layout,
                        DataLayout kernel_layout) {
  ir::OpSchema schema;
  schema.name = name;
  schema.inputs = {2, 3};
  schema.attributes = {
      PaddingSpec(),
      {"pad", AttributeType::kInts, Ints(2 * axes, 0)},
      {"stride", AttributeType::kInts, Ints(axes, 1)},
      {"dilation", AttributeType::kInts, Ints(axes, 1)},
      {"multiplier", AttributeType::kInt, int64_t{0}},
      {"weights", AttributeType::kInt, int64_t{0}},
      {"ksize", AttributeType::kInts, Ints(axes, 0)},
      DataLayoutSpec("input_layout", input_layout),
      DataLayoutSpec("kernel_layout", kernel_layout),
  };
  schema.check = [axes](const ir::NodeView& view) {
    return CheckConvolution(view, axes);
  };
  schema.doubts = [axes](const ir::NodeView& view) {
    return ConvolutionDoubts(view, axes);
  };
  schema.infer_shapes = [axes](ir::InferContext& context) {
    return InferConvolution(context, axes);
  };
  schema.eval = Eval;
  schema.memory_estimate = FactorBytes;
  schema.compute_estimate = Estimate;
  schema.absorb_padding = [axes](const ir::NodeView& view,
                                 const ir::Padding& padding) {
    return AbsorbIntoConvolution(view, padding, axes);
  };
  schema.sum_channels = [axes](const ir::NodeView& view) {
    return ConvolutionSums(view, axes);
  };
  schema.sliced_inputs = SliceInputFrom(axes + 1);
  schema.permute_rule = [axes](const ir::NodeView& view, int operand,
                               std::span<const int> perm) {
    return PermuteSpatialAxes(view, operand, perm, axes,
                              {"ksize", "stride", "dilation", "pad"});
  };
  schema.layout_rule = ConvInDefaultLayout;
  return schema;
}

ir::KernelDef ConvKernel(const char* op, const char* name, int64_t output_terms,
                         const Price& price) {
  return ir::TypedKernel<ConvProblem>{
      .op = op,
      .name = name,
      .takes_epilogue = true,
      .analyze = [](const ir::KernelNode& node,
                    const ir::DeviceInfo&) -> Result<ConvProblem> {
        TIM_ASSIGN_OR_RETURN(const ConvShape shape, ConvShapeOf(node));
        TIM_RETURN_IF_ERROR(CheckKernelSizes(node, shape));
        return ConvSumsOf(node, shape);
      },
      .cost =
          [=](const ConvProblem& problem, const ir::KernelNode& node,
              const ir::DeviceInfo& device) {
            return SumCost(node, problem.shape.terms() + output_terms, device,
                           price);
          },
      .lower =
          [](const ConvProblem& problem, const ir::KernelNode& node,
             const ir::DeviceInfo& device) {
            return LowerConvSums(problem, node, device, ConvForm::kDirect);
          }};
}

}  // namespace tim::ops
