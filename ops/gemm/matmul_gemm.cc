// Matmul of float32 tensors on panels, for CPUs.
#include "ir/op_registry.h"
#include "ops/gemm/gemm.h"
#include "ops/gemm/matmul_shape.h"
#include "ops/launch/epilogue.h"

namespace tim::ops {
namespace {

Status Supports(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckMatmulKernel(node));
  TIM_ASSIGN_OR_RETURN(const GemmProblem problem, MatmulProblem(node));
  return CheckGemm(node, problem, device);
}

double Cost(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  const Result<GemmProblem> problem = MatmulProblem(node);
  return problem.ok() ? GemmCost(*problem, node, device) : 0;
}

Result<ir::Lowering> Lower(const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  TIM_ASSIGN_OR_RETURN(const GemmProblem problem, MatmulProblem(node));
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
