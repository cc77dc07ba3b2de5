#include "ops/gemm/gemm_simt.h"

#include "ops/elements/product_sum.h"
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

void AddSteps(const GemmFactor& factor, Launch* launch) {
  launch->Int(factor.item_step).Int(factor.depth_step).Int(factor.batch_step);
}

}  // namespace

Status CheckGemmSimt(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckSimt(device));
  TIM_RETURN_IF_ERROR(CheckFloat32(node));
  return CheckElementCount(node.anchor_output);
}

double GemmSimtCost(const GemmProblem& problem, const ir::DeviceInfo& device) {
  return SimtCost(ProductOf(problem), GemmBytes(problem), device);
}

Result<ir::Lowering> LowerGemmSimt(const ir::KernelNode& node,
                                   const GemmProblem& problem,
                                   const Epilogue& epilogue,
                                   const ir::DeviceInfo& device) {
  Launch launch("ops/gemm/gemm_simt.cl", "gemm_simt");
  AddSimtTile(ProductOf(problem), device, &launch);
  launch.Option(StrCat("-DA=", Along(problem.a)))
      .Option(StrCat("-DB=", Along(problem.b)))
      .Input(node, problem.a.input)
      .Input(node, problem.b.input);
  AddEpilogue(node, problem.bias, epilogue, &launch);
  launch.Int(problem.b.items).Int(problem.a.items).Int(problem.depth);
  AddSteps(problem.a, &launch);
  AddSteps(problem.b, &launch);
  return launch.Build();
}

}  // namespace tim::ops
