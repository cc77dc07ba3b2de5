// FullyConnected of float32 tensors on panels, for CPUs and several rows.
#include "ir/op_registry.h"
#include "ops/internal/epilogue.h"
#include "ops/internal/fullyconnected_shape.h"
#include "ops/internal/gemm.h"
#include "ops/internal/product_sum.h"

namespace tim::ops {
namespace {

GemmProblem ProblemOf(const ir::KernelNode& node) {
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
          .bias = AnchorHasInput(node, 2) ? 2 : -1};
}

Status Supports(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckFullyConnectedKernel(node));
  return CheckGemm(node, ProblemOf(node), device);
}

Result<ir::Lowering> Lower(const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue, EpilogueOf(node, 0));
  return LowerGemm(node, ProblemOf(node), epilogue, device);
}

}  // namespace

TIM_OPERATOR(fullyconnected_gemm) {
  ir::KernelDef kernel;
  kernel.op = "tim.FullyConnected";
  kernel.name = "fullyconnected_gemm";
  kernel.supports = Supports;
  kernel.cost = [](const ir::KernelNode& node, const ir::DeviceInfo& device) {
    return GemmCost(ProblemOf(node), node, device);
  };
  kernel.lower = Lower;
  registry.Add(std::move(kernel));
}

}  // namespace tim::ops
