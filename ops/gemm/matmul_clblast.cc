// Matmul of float32 tensors by CLBlast, for GPUs.
#include "ir/op_registry.h"
#include "ops/gemm/gemm_clblast.h"
#include "ops/gemm/matmul_shape.h"
#include "ops/launch/epilogue.h"

namespace tim::ops {
namespace {

Status Supports(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckMatmulKernel(node));
  TIM_ASSIGN_OR_RETURN(const GemmProblem problem, MatmulProblem(node));
  return CheckGemmClblast(node, problem, device);
}

double Cost(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  const Result<GemmProblem> problem = MatmulProblem(node);
  return problem.ok() ? GemmClblastCost(node, *problem, device) : 0;
}

Result<ir::Lowering> Lower(const ir::KernelNode& node, const ir::DeviceInfo&) {
  TIM_ASSIGN_OR_RETURN(const GemmProblem problem, MatmulProblem(node));
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue, EpilogueOf(node, 0));
  return LowerGemmClblast(node, problem, epilogue);
}

}  // namespace

TIM_OPERATOR(matmul_clblast) {
  registry.Add(ir::KernelDef{.op = "tim.Matmul",
                             .name = "matmul_clblast",
                             .supports = Supports,
                             .cost = Cost,
                             .lower = Lower});
}

}  // namespace tim::ops
