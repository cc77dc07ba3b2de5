// FullyConnected of float32 tensors with vectors along K, for CPUs.
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

constexpr int64_t kOutputs = 4;

// Rows of one work-item: every row re-uses the weights that it loads.
int64_t RowTile(int64_t rows) { return rows >= 4 ? 4 : rows >= 2 ? 2 : 1; }

// A row alone is read as fast as memory gives it, and weights need no panels.
const Price& PriceOf(int64_t rows) {
  return rows == 4   ? prices::kFullyConnectedF32FourRows
         : rows == 2 ? prices::kFullyConnectedF32TwoRows
                     : prices::kFullyConnectedF32OneRow;
}

Result<FullyConnectedProblem> Analyze(const ir::KernelNode& node,
                                      const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  TIM_RETURN_IF_ERROR(CheckFloat32(node));
  return FullyConnectedProblemOf(node);
}

double Cost(const FullyConnectedProblem& problem, const ir::KernelNode& node,
            const ir::DeviceInfo& device) {
  return SumCost(node, problem.shape.depth, device,
                 PriceOf(RowTile(problem.shape.rows)));
}

Result<ir::Lowering> Lower(const FullyConnectedProblem& problem,
                           const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const auto& [shape, epilogue] = problem;
  const int64_t rows = RowTile(shape.rows);
  Launch launch("ops/gemm/fullyconnected_f32.cl", "fullyconnected_f32");
  launch.Option(StrCat("-DOUTPUTS=", kOutputs))
      .Option(StrCat("-DROWS=", rows))
      .Input("input", node, 0)
      .Input("weights", node, 1);
  AddEpilogue(node, BiasOf(node), epilogue, &launch);
  return launch.Int("depth", shape.depth)
      .Int("outputs", shape.outputs)
      .Int("rows", shape.rows)
      .Tiles(device, CeilDiv(shape.outputs, kOutputs),
             CeilDiv(shape.rows, rows))
      .Build();
}

}  // namespace

TIM_OPERATOR(fullyconnected_f32) {
  registry.Add(
      ir::TypedKernel<FullyConnectedProblem>{.op = "tim.FullyConnected",
                                             .name = "fullyconnected_f32",
                                             .takes_epilogue = true,
                                             .analyze = Analyze,
                                             .cost = Cost,
                                             .lower = Lower});
}

}  // namespace tim::ops
