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

const char* Along(const GemmFactor& factor) {
  return factor.item_step == 1 ? "ALONG_ITEMS" : "ALONG_DEPTH";
}

void AddSteps(const std::string& name, const GemmFactor& factor,
              Launch* launch) {
  launch->Int(name + "_item_step", factor.item_step)
      .Int(name + "_depth_step", factor.depth_step)
      .Int(name + "_batch", factor.batch_step);
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
                           const GemmProblem& problem, const Epilogue& epilogue,
                           const ir::DeviceInfo& device) {
  Launch launch("ops/gemm/gemm_simt.cl", "gemm_simt");
  AddSimtTile(ProductOf(problem), device, &launch);
  launch.Option(StrCat("-DA=", Along(problem.a)))
      .Option(StrCat("-DB=", Along(problem.b)))
      .Input("a", node, problem.a.input)
      .Input("b", node, problem.b.input);
  AddEpilogue(node, problem.bias, epilogue, &launch);
  launch.Int("columns", problem.b.items)
      .Int("rows", problem.a.items)
      .Int("depth", problem.depth);
  AddSteps("a", problem.a, &launch);
  AddSteps("b", problem.b, &launch);
  return launch.Build();
}

}  // namespace

const GemmProvider kGemmSimt = {.name = "simt",
                                .device_kind = "opencl",
                                .supports = Supports,
                                .cost = Cost,
                                .lower = Lower};

}  // namespace tim::ops
