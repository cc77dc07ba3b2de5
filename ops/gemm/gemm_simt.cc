// Float32 matrix products by ops/gemm/gemm_simt.cl, for GPUs.
#include <string>

#include "ops/elements/product_sum.h"
#include "ops/gemm/gemm_provider.h"
#include "ops/launch/launch.h"
#include "ops/launch/simt_tile.h"

namespace tim::ops {
namespace {

SimtProduct ProductOf(const GemmProblem& problem) {
  return {.rows = problem.a.items,
          .columns = problem.b.items,
          .depth = problem.depth,
          .count = problem.batches};
}

Status Supports(const ir::KernelNode& node, const GemmProblem&,
                const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckSimt(device));
  TIM_RETURN_IF_ERROR(CheckFloat32(node));
  return CheckElementCount(node.anchor_output);
}

double Cost(const ir::KernelNode&, const GemmProblem& problem,
            const ir::DeviceInfo& device) {
  return SimtCost(ProductOf(problem), GemmBytes(problem), device);
}

Result<ir::Lowering> Lower(const ir::KernelNode& node,
                           const GemmProblem& problem,
                           const ir::DeviceInfo& device) {
  Launch launch("ops/gemm/gemm_simt.cl", "gemm_simt");
  AddSimtTile(ProductOf(problem), device, &launch);
  launch.Option(StrCat("-DA=", Along(problem.a)))
      .Option(StrCat("-DB=", Along(problem.b)))
      .Input("a", node, problem.a.input)
      .Input("b", node, problem.b.input);
  AddEpilogue(node, problem.bias, problem.epilogue, &launch);
  return launch.Struct("a_source", FactorFields(problem.a))
      .Struct("b_source", FactorFields(problem.b))
      .Int("depth", problem.depth)
      .Build();
}

}  // namespace

const GemmProvider kGemmSimt = {.name = "simt",
                                .device_kind = "opencl",
                                .supports = Supports,
                                .cost = Cost,
                                .lower = Lower};

}  // namespace tim::ops
