// Matmul of float32 tensors for GPUs.
#include "ir/op_registry.h"
#include "ops/gemm/gemm_simt.h"
#include "ops/gemm/matmul_shape.h"
#include "ops/launch/epilogue.h"

namespace tim::ops {
namespace {

Status Supports(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckGemmSimt(node, device));
  TIM_RETURN_IF_ERROR(CheckMatmulKernel(node));
  return MatmulProblem(node).status();
}

double Cost(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  const Result<GemmProblem> problem = MatmulProblem(node);
  return problem.ok() ? GemmSimtCost(*problem, device) : 0;
}

Result<ir::Lowering> Lower(const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  TIM_ASSIGN_OR_RETURN(const GemmProblem problem, MatmulProblem(node));
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue, EpilogueOf(node, 0));
  return LowerGemmSimt(node, problem, epilogue, device);
}

}  // namespace

TIM_OPERATOR(matmul_simt) {
  registry.Add(ir::KernelDef{.op = "tim.Matmul",
                             .name = "matmul_simt",
                             .supports = Supports,
                             .cost = Cost,
                             .lower = Lower});
}

}  // namespace tim::ops
