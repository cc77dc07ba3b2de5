// FullyConnected of float32 tensors for GPUs and few rows, where a tile of a
// matrix product would be empty for the most part.
#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/elements/product_sum.h"
#include "ops/elements/shapes.h"
#include "ops/gemm/fullyconnected_shape.h"
#include "ops/launch/device_class.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"
#include "ops/launch/prices.h"

namespace tim::ops {
namespace {

// Of fullyconnected_dot_simt.cl.
constexpr int64_t kGroup = 64;

// Rows of one work-group: every row re-uses the weights that it loads.
int64_t RowTile(int64_t rows) { return rows >= 4 ? 4 : rows >= 2 ? 2 : 1; }

// Each product needs loads of its own, of which rows share one.
const Price& PriceOf(int64_t rows) {
  return rows == 4   ? prices::kFullyConnectedDotSimtFourRows
         : rows == 2 ? prices::kFullyConnectedDotSimtTwoRows
                     : prices::kFullyConnectedDotSimtOneRow;
}

Result<FullyConnectedProblem> Analyze(const ir::KernelNode& node,
                                      const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckNoCpu(device));
  TIM_RETURN_IF_ERROR(CheckFloat32(node));
  TIM_RETURN_IF_ERROR(CheckWorkGroup(device, {kGroup}));
  return FullyConnectedProblemOf(node);
}

double Cost(const FullyConnectedProblem& problem, const ir::KernelNode& node,
            const ir::DeviceInfo& device) {
  return SumCost(node, problem.shape.depth, device,
                 PriceOf(RowTile(problem.shape.rows)));
}

Result<ir::Lowering> Lower(const FullyConnectedProblem& problem,
                           const ir::KernelNode& node, const ir::DeviceInfo&) {
  const auto& [shape, epilogue] = problem;
  const int64_t rows = RowTile(shape.rows);
  Launch launch("ops/gemm/fullyconnected_dot_simt.cl",
                "fullyconnected_dot_simt");
  launch.Option(StrCat("-DROWS=", rows))
      .Input("input", node, 0)
      .Input("weights", node, 1);
  AddEpilogue(node, BiasOf(node), epilogue, &launch);
  return launch.Int("depth", shape.depth)
      .Int("outputs", shape.outputs)
      .Int("rows", shape.rows)
      .Global(shape.outputs * kGroup, CeilDiv(shape.rows, rows))
      .Local(kGroup, 1, 1)
      .Build();
}

}  // namespace

TIM_OPERATOR(fullyconnected_dot_simt) {
  registry.Add(
      ir::TypedKernel<FullyConnectedProblem>{.op = "tim.FullyConnected",
                                             .name = "fullyconnected_dot_simt",
                                             .takes_epilogue = true,
                                             .analyze = Analyze,
                                             .cost = Cost,
                                             .lower = Lower});
}

}  // namespace tim::ops
