// Matmul of float32 tensors on panels, for CPUs.
#include "ir/op_registry.h"
#include "ops/internal/epilogue.h"
#include "ops/internal/gemm.h"
#include "ops/internal/matmul_shape.h"

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

Result<GemmProblem> ProblemOf(const ir::KernelNode& node) {
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

Status Supports(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckMatmulKernel(node));
  TIM_ASSIGN_OR_RETURN(const GemmProblem problem, ProblemOf(node));
  return CheckGemm(node, problem, device);
}

double Cost(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  const Result<GemmProblem> problem = ProblemOf(node);
  return problem.ok() ? GemmCost(*problem, node, device) : 0;
}

Result<ir::Lowering> Lower(const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  TIM_ASSIGN_OR_RETURN(const GemmProblem problem, ProblemOf(node));
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue, EpilogueOf(node, 0));
  return LowerGemm(node, problem, epilogue, device);
}

}  // namespace

TIM_OPERATOR(matmul_gemm) {
  ir::KernelDef kernel;
  kernel.op = "tim.Matmul";
  kernel.name = "matmul_gemm";
  kernel.supports = Supports;
  kernel.cost = Cost;
  kernel.lower = Lower;
  registry.Add(std::move(kernel));
}

}  // namespace tim::ops
