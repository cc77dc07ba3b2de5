// FullyConnected of float32 tensors with the weights as they are: for CPUs with
// vectors along K, for GPUs with a work-group for each output, where there are
// few rows and a tile of a matrix product would be empty for the most part.
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
// Items of a group of fullyconnected_dot_simt.cl.
constexpr int64_t kGroup = 64;

// Rows of one work-item, or group: every row re-uses the weights that it loads.
int64_t RowTile(int64_t rows) { return rows >= 4 ? 4 : rows >= 2 ? 2 : 1; }

// A row alone is read as fast as memory gives it, and weights need no panels.
const Price& VectorPrice(int64_t rows) {
  return rows == 4   ? prices::kFullyConnectedF32FourRows
         : rows == 2 ? prices::kFullyConnectedF32TwoRows
                     : prices::kFullyConnectedF32OneRow;
}

// Each product needs loads of its own, of which rows share one.
const Price& GroupPrice(int64_t rows) {
  return rows == 4   ? prices::kFullyConnectedDotSimtFourRows
         : rows == 2 ? prices::kFullyConnectedDotSimtTwoRows
                     : prices::kFullyConnectedDotSimtOneRow;
}

Result<FullyConnectedProblem> AnalyzeVectors(const ir::KernelNode& node,
                                             const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  TIM_RETURN_IF_ERROR(CheckFloat32(node));
  return FullyConnectedProblemOf(node);
}

Result<FullyConnectedProblem> AnalyzeGroups(const ir::KernelNode& node,
                                            const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckNoCpu(device));
  TIM_RETURN_IF_ERROR(CheckFloat32(node));
  TIM_RETURN_IF_ERROR(CheckWorkGroup(device, {kGroup}));
  return FullyConnectedProblemOf(node);
}

// The parameters of either kernel, whose work-items are still to be said.
Launch LaunchOf(const char* name, const FullyConnectedProblem& problem,
                const ir::KernelNode& node) {
  const auto& [shape, epilogue] = problem;
  Launch launch(StrCat("ops/gemm/", name, ".cl"), name);
  launch.Option(StrCat("-DROWS=", RowTile(shape.rows)))
      .Input("input", node, 0)
      .Input("weights", node, 1);
  AddEpilogue(node, BiasOf(node), epilogue, &launch);
  launch.Int("depth", shape.depth)
      .Int("outputs", shape.outputs)
      .Int("rows", shape.rows);
  return launch;
}

Result<ir::Lowering> LowerVectors(const FullyConnectedProblem& problem,
                                  const ir::KernelNode& node,
                                  const ir::DeviceInfo& device) {
  const FullyConnectedShape& shape = problem.shape;
  return LaunchOf("fullyconnected_f32", problem, node)
      .Option(StrCat("-DOUTPUTS=", kOutputs))
      .Tiles(device, CeilDiv(shape.outputs, kOutputs),
             CeilDiv(shape.rows, RowTile(shape.rows)))
      .Build();
}

Result<ir::Lowering> LowerGroups(const FullyConnectedProblem& problem,
                                 const ir::KernelNode& node,
                                 const ir::DeviceInfo&) {
  const FullyConnectedShape& shape = problem.shape;
  return LaunchOf("fullyconnected_dot_simt", problem, node)
      .Global(shape.outputs * kGroup, CeilDiv(shape.rows, RowTile(shape.rows)))
      .Local(kGroup, 1, 1)
      .Build();
}

}  // namespace

TIM_OPERATOR(fullyconnected_f32) {
  const auto add = [&](const char* name, auto analyze, auto price, auto lower) {
    registry.Add(ir::TypedKernel<FullyConnectedProblem>{
        .op = "tim.FullyConnected",
        .name = name,
        .takes_epilogue = true,
        .analyze = analyze,
        .cost =
            [price](const FullyConnectedProblem& problem,
                    const ir::KernelNode& node, const ir::DeviceInfo& device) {
              return SumCost(node, problem.shape.depth, device,
                             price(RowTile(problem.shape.rows)));
            },
        .lower = lower});
  };
  add("fullyconnected_f32", AnalyzeVectors, VectorPrice, LowerVectors);
  add("fullyconnected_dot_simt", AnalyzeGroups, GroupPrice, LowerGroups);
}

}  // namespace tim::ops
