// Matmul: out(n, m) = sum over k of a(k, m) * b(n, k), batched; see
// ops/elements/product_sum.h for the arithmetic.
#include <cstdint>
#include <limits>
#include <utility>

#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/doubts/sums.h"
#include "ops/elements/product_sum.h"
#include "ops/elements/shapes.h"
#include "ops/gemm/gemm_problem.h"
#include "ops/gemm/gemm_provider.h"
#include "ops/gemm/matmul_shape.h"
#include "ops/gemm/matrix_rules.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"
#include "ops/launch/packed.h"
#include "ops/launch/prices.h"

namespace tim::ops {
namespace {

using ir::AttributeType;

Status InferMatmul(ir::InferContext& context) {
  TIM_ASSIGN_OR_RETURN(ir::Shape shape,
                       InferMatmulShape(context.attributes(), context.shape(0),
                                        context.shape(1)));
  InferTypeFromInput(context);
  if (shape.ranked() && shape.rank() == 0) {
    context.outputs[0].is_scalar = true;
    shape = ir::Shape({1});
  }
  context.outputs[0].desc.shape = std::move(shape);
  return OkStatus();
}

Status CheckMatmul(const ir::NodeView& view) {
  return CheckSumTypes(DescsOf(view), {}, {ir::DataType::kInt32});
}

Status EvalMatmul(const ir::EvalContext& context) {
  const MatmulShape shape =
      MatmulShapeOf(context.attributes(), context.inputs[0].desc->shape,
                    context.inputs[1].desc->shape);
  SumWriter writer(context, 1);
  WithFactors(context, shape.depth,
              [&](const auto& a, const auto& b, auto zero) {
                int64_t index = 0;
                for (const MatmulShape::Batch& batch : shape.batches) {
                  for (int64_t m = 0; m < shape.rows; ++m) {
                    for (int64_t n = 0; n < shape.columns; ++n) {
                      auto sum = zero;
                      for (int64_t k = 0; k < shape.depth; ++k) {
                        sum = AddProduct(
                            sum, a[batch.a + m * shape.a_row + k * shape.a_k],
                            b[batch.b + n * shape.b_column + k * shape.b_k]);
                      }
                      writer.Store(index++, 0, sum);
                    }
                  }
                }
              });
  return OkStatus();
}

// Batches may change places.
Result<ir::PermutedNode> PermuteMatmul(const ir::NodeView& view, int operand,
                                       std::span<const int> perm) {
  const auto is_vector = [](const ir::TensorDesc* input) {
    return input->shape.rank() < 2;
  };
  if (is_vector(view.inputs[0]) || is_vector(view.inputs[1]) || perm[0] != 0 ||
      perm[1] != 1) {
    return Unimplemented("Matmul needs the axes of its matrices first");
  }
  return KeepAttributes(view, operand, perm);
}

// The columns of B.
std::optional<ir::SumChannels> SumChannelsOf(const ir::NodeView& view) {
  for (const ir::TensorDesc* factor : view.inputs) {
    if (factor->shape.rank() < 2) return std::nullopt;
  }
  const bool transposed = view.node.attributes.Bool("transpose_b");
  return ir::SumChannels{.axis = 0, .weights_axis = transposed ? 1 : 0};
}

ir::OpSchema MatmulSchema() {
  ir::OpSchema schema;
  schema.name = "Matmul";
  schema.inputs = {2, 2};
  for (const char* flag :
       {"transpose_a", "transpose_b", "adjoint_a", "adjoint_b"}) {
    schema.attributes.push_back({flag, AttributeType::kBool, false});
  }
  schema.check = CheckMatmul;
  schema.doubts = SumDoubts;
  schema.infer_shapes = InferMatmul;
  schema.eval = EvalMatmul;
  schema.memory_estimate = FactorBytes;
  schema.compute_estimate = EstimateMatmul;
  schema.sum_channels = SumChannelsOf;
  schema.sliced_inputs = [](const ir::NodeView& view, int axis) {
    return axis < 2 ? std::vector<bool>() : SliceAlike(view, axis);
  };
  schema.permute_rule = PermuteMatmul;
  schema.vjp = MatmulVjp;
  return schema;
}

// A product and what follows it in a fused node.
struct MatmulProblem {
  MatmulShape shape;
  Epilogue epilogue;
};

// Or the reason where a tensor does not fit 32-bit positions or an epilogue
// cannot be done.
Result<MatmulProblem> MatmulProblemOf(const ir::KernelNode& node) {
  MatmulProblem out = {
      .shape = MatmulShapeOf(node.attributes(), node.inputs[0].shape,
                             node.inputs[1].shape),
      .epilogue = {}};
  TIM_ASSIGN_OR_RETURN(out.epilogue, EpilogueOf(node, 0));
  const ir::Shape& output = node.anchor_output.shape;
  if (out.epilogue.add >= 0 && output.DimOr1(0) != out.shape.columns) {
    return Unimplemented("a fused Add needs the columns along axis 0");
  }
  for (const ir::TensorDesc* desc :
       {&node.inputs[0], &node.inputs[1], &node.anchor_output}) {
    const Result<int64_t> count = ir::PhysicalElements(*desc);
    if (!count.ok() || *count > std::numeric_limits<int32_t>::max()) {
      return Unimplemented(desc->shape.ToString(),
                           " has more elements than 32 bits count");
    }
  }
  return out;
}

Result<MatmulProblem> Analyze(const ir::KernelNode& node,
                              const ir::DeviceInfo&) {
  TIM_ASSIGN_OR_RETURN(MatmulProblem problem, MatmulProblemOf(node));
  TIM_RETURN_IF_ERROR(CheckSumKernel(node, problem.shape.depth));
  return problem;
}

double Cost(const MatmulProblem& problem, const ir::KernelNode& node,
            const ir::DeviceInfo& device) {
  return SumCost(node, problem.shape.depth, device, prices::kMatmul);
}

ir::PackedConstant BatchTable(const MatmulShape& shape) {
  std::vector<int32_t> words;
  for (const MatmulShape::Batch& batch : shape.batches) {
    words.push_back(static_cast<int32_t>(batch.a));
    words.push_back(static_cast<int32_t>(batch.b));
  }
  return PackedTable("matmul batches", std::move(words));
}

Result<ir::Lowering> Lower(const MatmulProblem& problem,
                           const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const auto& [shape, epilogue] = problem;
  const SumDescs descs = DescsOf(node);
  const auto batches = static_cast<int64_t>(shape.batches.size());
  Launch launch("ops/gemm/matmul.cl", "matmul");
  AddSumOptions(node, shape.depth, &launch);
  launch.Input("a", node, 0)
      .Input("b", node, 1)
      .Packed("channels", ChannelTable(descs, 1), 4)
      .Packed("batches", BatchTable(shape), 8);
  if (epilogue.add >= 0)
    launch.Option("-DADD").Input("add", node, epilogue.add);
  launch.Output("output", node, 0)
      .InputQuantization("a", *descs.input)
      .OutputQuantization("output", *descs.output);
  AddActivation(epilogue, *descs.output, &launch);
  return launch
      .Struct("a_source", FactorFields({.items = shape.rows,
                                        .item_step = shape.a_row,
                                        .depth_step = shape.a_k}))
      .Struct("b_source", FactorFields({.items = shape.columns,
                                        .item_step = shape.b_column,
                                        .depth_step = shape.b_k}))
      .Int("depth", shape.depth)
      .Int("batch_count", batches)
      .Tiles(device, shape.columns, shape.rows, batches)
      .Build();
}

// The factor with its batches and which of them each product reads.
Result<GemmFactor> WithBatches(GemmFactor factor,
                               const std::vector<MatmulShape::Batch>& products,
                               int64_t MatmulShape::Batch::*first) {
  const auto count = static_cast<int64_t>(products.size());
  const auto is = [&](int64_t product, int64_t element) {
    return products[product].*first == element;
  };
  while (factor.repeat < count && is(factor.repeat, 0)) ++factor.repeat;
  if (factor.repeat >= count) {
    factor.repeat = 1;
    return factor;
  }
  factor.batch_step = products[factor.repeat].*first;
  while (factor.batches * factor.repeat < count &&
         !is(factor.batches * factor.repeat, 0)) {
    ++factor.batches;
  }
  for (int64_t i = 0; i < count; ++i) {
    if (!is(i, i / factor.repeat % factor.batches * factor.batch_step)) {
      return Unimplemented(
          "batches of a factor broadcast along an axis "
          "between two others");
    }
  }
  return factor;
}

// kUnimplemented where the batches of a factor broadcast in the middle.
Result<GemmProblem> GemmProblemOf(const ir::KernelNode& node) {
  TIM_ASSIGN_OR_RETURN(const MatmulProblem problem, MatmulProblemOf(node));
  const MatmulShape& shape = problem.shape;
  TIM_ASSIGN_OR_RETURN(const GemmFactor a,
                       WithBatches({.input = 0,
                                    .items = shape.rows,
                                    .item_step = shape.a_row,
                                    .depth_step = shape.a_k},
                                   shape.batches, &MatmulShape::Batch::a));
  TIM_ASSIGN_OR_RETURN(const GemmFactor b,
                       WithBatches({.input = 1,
                                    .items = shape.columns,
                                    .item_step = shape.b_column,
                                    .depth_step = shape.b_k},
                                   shape.batches, &MatmulShape::Batch::b));
  return GemmProblem{.a = a,
                     .b = b,
                     .depth = shape.depth,
                     .batches = static_cast<int64_t>(shape.batches.size()),
                     .epilogue = problem.epilogue};
}

}  // namespace

TIM_OPERATOR(matmul) {
  registry.Add(MatmulSchema());
  registry.Add(ir::TypedKernel<MatmulProblem>{.op = "tim.Matmul",
                                              .name = "matmul",
                                              .takes_epilogue = true,
                                              .analyze = Analyze,
                                              .cost = Cost,
                                              .lower = Lower});
  AddGemmKernels(
      {.op = "tim.Matmul", .stem = "matmul", .problem = GemmProblemOf},
      registry);
}

}  // namespace tim::ops
