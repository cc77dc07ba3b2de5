#include "ops/gemm/gemm_problem.h"

#include "ops/elements/product_sum.h"
#include "ops/gemm/fullyconnected_shape.h"
#include "ops/gemm/matmul_shape.h"

namespace tim::ops {
namespace {

// The distance between the batches of a factor: 0 where all are the same.
Result<int64_t> BatchStep(const std::vector<MatmulShape::Batch>& batches,
                          int64_t MatmulShape::Batch::*first) {
  if (batches.size() < 2) return 0;
  const int64_t step = batches[1].*first;
  for (size_t i = 0; i < batches.size(); ++i) {
    if (batches[i].*first != static_cast<int64_t>(i) * step) {
      return Unimplemented("only some of the batch dimensions broadcast");
    }
  }
  return step;
}

}  // namespace

double GemmBytes(const GemmProblem& problem) {
  const double a = static_cast<double>(problem.a.items) * problem.a.batches;
  const double b = static_cast<double>(problem.b.items) * problem.b.batches;
  const double c =
      static_cast<double>(problem.a.items) * problem.b.items * problem.batches;
  return 4.0 * ((a + b) * problem.depth + c);
}

Result<GemmProblem> MatmulProblem(const ir::KernelNode& node) {
  const MatmulShape shape = MatmulShapeOf(node);
  const auto count = static_cast<int64_t>(shape.batches.size());
  TIM_ASSIGN_OR_RETURN(const int64_t a_step,
                       BatchStep(shape.batches, &MatmulShape::Batch::a));
  TIM_ASSIGN_OR_RETURN(const int64_t b_step,
                       BatchStep(shape.batches, &MatmulShape::Batch::b));
  return GemmProblem{.a = {.input = 0,
                           .items = shape.rows,
                           .item_step = shape.a_row,
                           .depth_step = shape.a_k,
                           .batches = a_step == 0 ? 1 : count,
                           .batch_step = a_step},
                     .b = {.input = 1,
                           .items = shape.columns,
                           .item_step = shape.b_column,
                           .depth_step = shape.b_k,
                           .batches = b_step == 0 ? 1 : count,
                           .batch_step = b_step},
                     .depth = shape.depth,
                     .batches = count};
}

GemmProblem FullyConnectedProblem(const ir::KernelNode& node) {
  const FullyConnectedShape shape = FullyConnectedShapeOf(node);
  return {.a = {.input = 0,
                .items = shape.rows,
                .item_step = shape.depth,
                .depth_step = 1},
          .b = {.input = 1,
                .items = shape.outputs,
                .item_step = shape.depth,
                .depth_step = 1},
          .depth = shape.depth,
          .bias = BiasOf(node)};
}

}  // namespace tim::ops
