// FullyConnected: out(o, m) = bias(o) + sum over k of input(k, m) *
// weights(k, o); see ops/elements/product_sum.h for the arithmetic.
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/doubts/sums.h"
#include "ops/elements/product_sum.h"
#include "ops/elements/shapes.h"
#include "ops/gemm/fullyconnected_shape.h"
#include "ops/gemm/gemm_provider.h"
#include "ops/gemm/matrix_rules.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"
#include "ops/launch/prices.h"

namespace tim::ops {
namespace {

using ir::AttributeType;

// Product of extents [first, last), unknown where one is.
int64_t ProductOrUnknown(const ir::Shape& shape, int first, int last) {
  for (int axis = first; axis < last; ++axis) {
    if (shape[axis] == ir::kUnknownDim) return ir::kUnknownDim;
  }
  return shape.Product(first, last);
}

Status CheckDepth(const ir::Shape& input, int axis, const ir::Shape& weights) {
  const int64_t depth = ProductOrUnknown(input, 0, axis + 1);
  const int64_t expected = ProductOrUnknown(weights, 0, weights.rank() - 1);
  if (depth == expected || depth == ir::kUnknownDim ||
      expected == ir::kUnknownDim) {
    return OkStatus();
  }
  return InvalidArgument("the weights ", weights.ToString(), " take ", expected,
                         " values, but axes 0 to ", axis, " of the input ",
                         input.ToString(), " give ", depth);
}

// [O, dims after axis] for constant weights, else [O, M].
ir::Shape OutputShape(const ir::Shape& input, int axis, int64_t outputs,
                      bool constant_weights) {
  std::vector<int64_t> dims = {outputs};
  if (constant_weights) {
    dims.insert(dims.end(), input.dims().begin() + axis + 1,
                input.dims().end());
  } else {
    dims.push_back(ProductOrUnknown(input, axis + 1, input.rank()));
  }
  return ir::Shape(std::move(dims));
}

Status InferFullyConnected(ir::InferContext& context) {
  const ir::Shape& input = context.shape(0);
  const ir::Shape& weights = context.shape(1);
  InferTypeFromInput(context);
  int64_t outputs = ir::kUnknownDim;
  if (weights.ranked()) {
    if (weights.rank() < 2) {
      return InvalidArgument("the weights ", weights.ToString(), " have rank ",
                             weights.rank(), ", expected at least 2");
    }
    outputs = weights[weights.rank() - 1];
  }
  SumDescs descs = {context.inputs[0].desc, context.inputs[1].desc, nullptr,
                    &context.outputs[0].desc};
  if (context.has_input(2)) descs.bias = context.inputs[2].desc;
  TIM_RETURN_IF_ERROR(CheckSumChannels(descs, outputs));
  if (!input.ranked()) {
    context.outputs[0].desc.shape = ir::Shape();
    return OkStatus();
  }
  TIM_ASSIGN_OR_RETURN(
      const int axis, WrapAxis(context.attributes().Int("axis"), input.rank()));
  if (weights.ranked()) {
    TIM_RETURN_IF_ERROR(CheckDepth(input, axis, weights));
  }
  context.outputs[0].desc.shape =
      OutputShape(input, axis, outputs, context.inputs[1].is_constant);
  return OkStatus();
}

Status CheckFullyConnected(const ir::NodeView& view) {
  const ir::Shape& weights = view.inputs[1]->shape;
  return CheckSumTypes(DescsOf(view),
                       {weights.ranked() ? weights.rank() - 1 : 1});
}

Status EvalFullyConnected(const ir::EvalContext& context) {
  const FullyConnectedShape shape =
      FullyConnectedShapeOf(context.attributes(), context.inputs[0].desc->shape,
                            context.inputs[1].desc->shape);
  SumWriter writer(context, shape.outputs);
  WithFactors(context, shape.depth,
              [&](const auto& input, const auto& weights, auto zero) {
                for (int64_t m = 0; m < shape.rows; ++m) {
                  for (int64_t o = 0; o < shape.outputs; ++o) {
                    auto sum = zero;
                    for (int64_t k = 0; k < shape.depth; ++k) {
                      sum = AddProduct(sum, input[m * shape.depth + k],
                                       weights[o * shape.depth + k]);
                    }
                    writer.Store(m * shape.outputs + o, o, sum);
                  }
                }
              });
  return OkStatus();
}

// Rows are made one by one, where they stand along one axis in both tensors.
std::vector<bool> SliceRows(const ir::NodeView& view, int axis) {
  if (view.inputs[0]->shape.rank() != view.outputs[0]->shape.rank() ||
      axis < 1) {
    return {};
  }
  std::vector<bool> sliced(view.inputs.size(), false);
  sliced[0] = true;
  return sliced;
}

ir::ComputeEstimate EstimateFullyConnected(const ir::NodeView& view) {
  const FullyConnectedShape shape = FullyConnectedShapeOf(
      view.node.attributes, view.inputs[0]->shape, view.inputs[1]->shape);
  return SumEstimate(view, static_cast<double>(shape.depth));
}

ir::OpSchema FullyConnectedSchema() {
  ir::OpSchema schema;
  schema.name = "FullyConnected";
  schema.inputs = {2, 3};
  schema.attributes = {{"axis", AttributeType::kInt},
                       {"weights", AttributeType::kInt, int64_t{0}}};
  schema.check = CheckFullyConnected;
  schema.doubts = SumDoubts;
  schema.infer_shapes = InferFullyConnected;
  schema.eval = EvalFullyConnected;
  schema.sliced_inputs = SliceRows;
  schema.memory_estimate = FactorBytes;
  schema.compute_estimate = EstimateFullyConnected;
  schema.sum_channels = [](const ir::NodeView& view) {
    return std::optional<ir::SumChannels>(
        {.axis = 0, .weights_axis = view.inputs[1]->shape.rank() - 1});
  };
  schema.vjp = FullyConnectedVjp;
  return schema;
}

Result<FullyConnectedProblem> Analyze(const ir::KernelNode& node,
                                      const ir::DeviceInfo&) {
  TIM_ASSIGN_OR_RETURN(const FullyConnectedProblem problem,
                       FullyConnectedProblemOf(node));
  TIM_RETURN_IF_ERROR(CheckSumKernel(node, problem.shape.depth));
  return problem;
}

double Cost(const FullyConnectedProblem& problem, const ir::KernelNode& node,
            const ir::DeviceInfo& device) {
  return SumCost(node, problem.shape.depth, device, prices::kFullyConnected);
}

Result<ir::Lowering> Lower(const FullyConnectedProblem& problem,
                           const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const auto& [shape, epilogue] = problem;
  const SumDescs descs = DescsOf(node);
  Launch launch("ops/gemm/fullyconnected.cl", "fullyconnected");
  AddSumOptions(node, shape.depth, &launch);
  launch.Input("input", node, 0)
      .Input("weights", node, 1)
      .Packed("channels", ChannelTable(descs, shape.outputs), 4);
  if (descs.bias != nullptr) launch.Input("bias", node, 2);
  if (epilogue.add >= 0)
    launch.Option("-DADD").Input("add", node, epilogue.add);
  launch.Output("output", node, 0)
      .InputQuantization("input", *descs.input)
      .OutputQuantization("output", *descs.output);
  AddActivation(epilogue, *descs.output, &launch);
  return launch.Int("depth", shape.depth)
      .Int("outputs", shape.outputs)
      .Int("rows", shape.rows)
      .Tiles(device, shape.outputs, shape.rows)
      .Build();
}

Result<GemmProblem> GemmProblemOf(const ir::KernelNode& node) {
  TIM_ASSIGN_OR_RETURN(const FullyConnectedProblem problem,
                       FullyConnectedProblemOf(node));
  const FullyConnectedShape& shape = problem.shape;
  return GemmProblem{.a = {.input = 0,
                           .items = shape.rows,
                           .item_step = shape.depth,
                           .depth_step = 1},
                     .b = {.input = 1,
                           .items = shape.outputs,
                           .item_step = shape.depth,
                           .depth_step = 1},
                     .depth = shape.depth,
                     .bias = BiasOf(node),
                     .epilogue = problem.epilogue};
}

}  // namespace

TIM_OPERATOR(fullyconnected) {
  registry.Add(FullyConnectedSchema());
  registry.Add(
      ir::TypedKernel<FullyConnectedProblem>{.op = "tim.FullyConnected",
                                             .name = "fullyconnected",
                                             .takes_epilogue = true,
                                             .analyze = Analyze,
                                             .cost = Cost,
                                             .lower = Lower});
  AddGemmKernels({.op = "tim.FullyConnected",
                  .stem = "fullyconnected",
                  .problem = GemmProblemOf},
                 registry);
}

}  // namespace tim::ops
