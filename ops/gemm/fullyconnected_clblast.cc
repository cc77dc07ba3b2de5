// FullyConnected of float32 tensors by CLBlast, for GPUs.
#include "ir/op_registry.h"
#include "ops/gemm/fullyconnected_shape.h"
#include "ops/gemm/gemm_clblast.h"
#include "ops/launch/epilogue.h"

namespace tim::ops {
namespace {

Status Supports(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckFullyConnectedKernel(node));
  return CheckGemmClblast(node, FullyConnectedProblem(node), device);
}

double Cost(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  return GemmClblastCost(node, FullyConnectedProblem(node), device);
}

Result<ir::Lowering> Lower(const ir::KernelNode& node, const ir::DeviceInfo&) {
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue, EpilogueOf(node, 0));
  return LowerGemmClblast(node, FullyConnectedProblem(node), epilogue);
}

}  // namespace

TIM_OPERATOR(fullyconnected_clblast) {
  registry.Add(ir::KernelDef{.op = "tim.FullyConnected",
                             .name = "fullyconnected_clblast",
                             .supports = Supports,
                             .cost = Cost,
                             .lower = Lower});
}

}  // namespace tim::ops
