// LocalResponseNormalization: y = x / (bias + alpha * sum of squares)^beta, the
// sum over floor(size / 2) neighbours before and behind along one axis.  ONNX
// LRN (whose alpha is divided by size), TFLite LOCAL_RESPONSE_NORMALIZATION.
//
// Every step is rounded to float32: the squares are added in the order of the
// axis; s = bias + alpha * sum; y = x * 2^(-beta * log2(s)), where log2 is
// kernels::Log2 and 2^t is correctly rounded.
#include <algorithm>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "kernels/elements.h"
#include "kernels/exact_exp2.h"
#include "kernels/exact_log2.h"
#include "ops/doubts/codes.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/launch/launch.h"

namespace tim::ops {
namespace {

using ir::AttributeType;

constexpr int64_t kVector = 16;

// Slices of `length` elements, whose neighbours along the axis are `step`
// apart.
struct Windows {
  int64_t step = 1;
  int64_t length = 1;
  int64_t slices = 1;
  int64_t reach = 0;  ///< Neighbours on each side.
  float alpha = 0;
  float beta = 0;
  float bias = 0;
};

Result<Windows> WindowsOf(const ir::AttributeMap& attributes,
                          const ir::Shape& shape) {
  const int rank = shape.rank();
  TIM_ASSIGN_OR_RETURN(const int axis, WrapAxis(attributes.Int("axis"), rank));
  // A window reaches no further than the axis.
  const int64_t reach = std::min(attributes.Int("size") / 2, shape[axis]);
  return Windows{.step = shape.Product(0, axis),
                 .length = shape.Product(0, axis + 1),
                 .slices = shape.Product(axis + 1, rank),
                 .reach = reach,
                 .alpha = attributes.Float("alpha"),
                 .beta = attributes.Float("beta"),
                 .bias = attributes.Float("bias")};
}

Status Check(const ir::NodeView& view) {
  TIM_RETURN_IF_ERROR(CheckNumber(view, Operand::kInput, 0));
  return CheckNumber(view, Operand::kOutput, 0);
}

Status Infer(ir::InferContext& context) {
  const int64_t size = context.attributes().Int("size");
  if (size < 1) {
    return InvalidArgument("attribute 'size' is ", size,
                           ", expected a window of at least 1");
  }
  const ir::Shape& shape = context.shape(0);
  if (shape.ranked()) {
    const auto axis = WrapAxis(context.attributes().Int("axis"), shape.rank());
    TIM_RETURN_IF_ERROR(axis.status());
  }
  return InferSameAsInput(context);
}

// Element i of a slice that begins with element `first`.
float Normalized(const kernels::ElementReader& input, const Windows& windows,
                 int64_t first, int64_t i) {
  float sum = 0.0f;
  for (int64_t k = -windows.reach; k <= windows.reach; ++k) {
    const int64_t at = i + k * windows.step;
    if (at < 0 || at >= windows.length) continue;
    const float x = input.Real(first + at);
    sum += x * x;
  }
  const float s = windows.bias + windows.alpha * sum;
  return input.Real(first + i) *
         kernels::Exp2(-windows.beta * kernels::Log2(s));
}

Status Eval(const ir::EvalContext& context) {
  TIM_ASSIGN_OR_RETURN(
      const Windows windows,
      WindowsOf(context.attributes(), context.inputs[0].desc->shape));
  const kernels::ElementReader input(context.inputs[0]);
  kernels::ElementWriter output(context.outputs[0]);
  for (int64_t slice = 0; slice < windows.slices; ++slice) {
    const int64_t first = slice * windows.length;
    for (int64_t i = 0; i < windows.length; ++i) {
      output.StoreReal(first + i, Normalized(input, windows, first, i));
    }
  }
  return OkStatus();
}

// Two operations for each neighbour that is there; the power about 100.
ir::ComputeEstimate Estimate(const ir::NodeView& view) {
  const auto windows = WindowsOf(view.node.attributes, view.inputs[0]->shape);
  const double reach = windows.ok() ? static_cast<double>(windows->reach) : 0.0;
  return ElementwiseEstimate(view, 2 * (2 * reach + 1) + 100);
}

ir::OpSchema Schema() {
  return {.name = "LocalResponseNormalization",
          .inputs = {1, 1},
          .attributes = {{"size", AttributeType::kInt},
                         {"alpha", AttributeType::kFloat},
                         {"beta", AttributeType::kFloat},
                         {"bias", AttributeType::kFloat},
                         {"axis", AttributeType::kInt}},
          .check = Check,
          .doubts = FirstCodes,
          .infer_shapes = Infer,
          .eval = Eval,
          .memory_estimate = NoScratch,
          .compute_estimate = Estimate,
          .sliced_inputs = SliceBesideAxis("axis"),
          .permute_rule = MoveAxis("axis")};
}

Result<Windows> Analyze(const ir::KernelNode& node, const ir::DeviceInfo&) {
  TIM_RETURN_IF_ERROR(CheckKernelOperands(node));
  return WindowsOf(node.attributes(), node.inputs[0].shape);
}

Result<ir::Lowering> Lower(const Windows& windows, const ir::KernelNode& node,
                           const ir::DeviceInfo&) {
  const int64_t vectors = CeilDiv(windows.length, kVector);
  return Launch("ops/normalization/localresponsenormalization.cl",
                "localresponsenormalization")
      .Type("IN", node.inputs[0])
      .Type("OUT", node.outputs[0])
      .Input("in", node, 0)
      .Output("out", node, 0)
      .Int("window_step", windows.step)
      .Int("window_reach", windows.reach)
      .Int("slice", windows.length)
      .Int("slices", windows.slices)
      .Float("alpha", windows.alpha)
      .Float("beta", windows.beta)
      .Float("bias", windows.bias)
      .InputQuantization("in", node.inputs[0])
      .OutputQuantization("out", node.outputs[0])
      .Items(vectors * windows.slices)
      .Build();
}

}  // namespace

TIM_OPERATOR(localresponsenormalization) {
  registry.Add(Schema());
  registry.Add(ir::TypedKernel<Windows>{
      .op = "tim.LocalResponseNormalization",
      .name = "localresponsenormalization",
      .analyze = Analyze,
      .cost = CostAt(prices::kLocalResponseNormalization),
      .lower = Lower});
}

}  // namespace tim::ops
