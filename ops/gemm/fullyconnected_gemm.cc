// FullyConnected of float32 tensors on panels, for CPUs and several rows.
#include "ir/op_registry.h"
#include "ops/gemm/fullyconnected_shape.h"
#include "ops/gemm/gemm.h"
#include "ops/launch/epilogue.h"

namespace tim::ops {
namespace {

Status Supports(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckFullyConnectedKernel(node));
  return CheckGemm(node, FullyConnectedProblem(node), device);
}

Result<ir::Lowering> Lower(const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue, EpilogueOf(node, 0));
  return LowerGemm(node, FullyConnectedProblem(node), epilogue, device);
}

}  // namespace

TIM_OPERATOR(fullyconnected_gemm) {
  ir::KernelDef kernel;
  kernel.op = "tim.FullyConnected";
  kernel.name = "fullyconnected_gemm";
  kernel.supports = Supports;
  kernel.cost = [](const ir::KernelNode& node, const ir::DeviceInfo& device) {
    return GemmCost(FullyConnectedProblem(node), node, device);
  };
  kernel.lower = Lower;
  registry.Add(std::move(kernel));
}

}  // namespace tim::ops
