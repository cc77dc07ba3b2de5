// FullyConnected of float32 tensors for GPUs.
#include "ir/op_registry.h"
#include "ops/gemm/fullyconnected_shape.h"
#include "ops/gemm/gemm_simt.h"
#include "ops/launch/epilogue.h"

namespace tim::ops {
namespace {

Status Supports(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckGemmSimt(node, device));
  return CheckFullyConnectedKernel(node);
}

double Cost(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  return GemmSimtCost(FullyConnectedProblem(node), device);
}

Result<ir::Lowering> Lower(const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue, EpilogueOf(node, 0));
  return LowerGemmSimt(node, FullyConnectedProblem(node), epilogue, device);
}

}  // namespace

TIM_OPERATOR(fullyconnected_simt) {
  registry.Add(ir::KernelDef{.op = "tim.FullyConnected",
                             .name = "fullyconnected_simt",
                             .supports = Supports,
                             .cost = Cost,
                             .lower = Lower});
}

}  // namespace tim::ops
