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

namespace tim::ops {
namespace {

constexpr int64_t kOutputs = 4;

// Rows of one work-item: every row re-uses the weights that it loads.
int64_t RowTile(int64_t rows) { return rows >= 4 ? 4 : rows >= 2 ? 2 : 1; }

Status SupportsFloat(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  TIM_RETURN_IF_ERROR(CheckFloat32(node));
  return CheckFullyConnectedKernel(node);
}

// A row alone is read as fast as memory gives it, and weights need no panels.
double FloatCost(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  const int64_t rows = RowTile(FullyConnectedShapeOf(node).rows);
  return ir::EstimateMicroseconds(
      EstimateFullyConnected(AnchorView(node).view()), device,
      0.08 * static_cast<double>(rows), rows == 1 ? 0.95 : 0.8);
}

Result<ir::Lowering> LowerFloat(const ir::KernelNode& node,
                                const ir::DeviceInfo& device) {
  const FullyConnectedShape shape = FullyConnectedShapeOf(node);
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue, EpilogueOf(node, 0));
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

ir::KernelDef FloatKernel() {
  ir::PlainKernel kernel;
  kernel.op = "tim.FullyConnected";
  kernel.name = "fullyconnected_f32";
  kernel.takes_epilogue = true;
  kernel.analyze = SupportsFloat;
  kernel.cost = FloatCost;
  kernel.lower = LowerFloat;
  return kernel;
}

}  // namespace

TIM_OPERATOR(fullyconnected_f32) { registry.Add(FloatKernel()); }

}  // namespace tim::ops
