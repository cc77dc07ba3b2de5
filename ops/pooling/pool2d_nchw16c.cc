// Pool2d of float32 in blocks of 16 channels: MAX and all kinds of AVG.
#include <limits>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/elements/shapes.h"
#include "ops/launch/blocked.h"
#include "ops/launch/device_class.h"
#include "ops/launch/launch.h"
#include "ops/pooling/pool2d_node.h"

namespace tim::ops {
namespace {

constexpr int64_t kTile = 8;  // Neighbours that one work-item makes.
// Of a tile; AVX-512 holds them in registers.
constexpr int64_t kMostColumns = 24;

Status Supports(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  for (const ir::TensorDesc* desc : {&node.inputs[0], &node.outputs[0]}) {
    if (desc->type != ir::DataType::kFloat32) {
      return Unimplemented(ir::ToString(desc->type), ", takes float32 only");
    }
  }
  if (PoolTypeOf(node.attributes()) == PoolType::kL2) {
    return Unimplemented("takes no L2 pooling");
  }
  for (ir::TensorDesc desc : {node.inputs[0], node.outputs[0]}) {
    desc.layout = ChannelBlocks();
    const auto elements = ir::PhysicalElements(desc);
    if (!elements.ok() || *elements > std::numeric_limits<int32_t>::max()) {
      return Unimplemented("more elements than 32 bits count");
    }
  }
  return CheckPool2dSizes(node);
}

std::vector<ir::LayoutTuple> Layouts(const ir::KernelNode& node,
                                     const ir::DeviceInfo&) {
  const ir::Layout blocked = ChannelBlocks();
  const ir::LayoutTuple as_input = {{blocked}, {blocked}};
  // Whole blocks of single pixels lie as in a dense tensor.
  const ir::Shape& output = node.outputs[0].shape;
  if (output[0] == 1 && output[1] == 1 && output[2] % kChannelBlock == 0) {
    return {as_input, {{blocked}, {ir::Layout::Dense()}}};
  }
  return {as_input};
}

double Cost(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  return ir::EstimateMicroseconds(Pool2dEstimate(AnchorView(node).view()),
                                  device, 0.05, 0.5);
}

Result<ir::Lowering> Lower(const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  TIM_ASSIGN_OR_RETURN(PoolShape shape, PoolShapeOf(node));
  const int64_t channels = node.inputs[0].shape[2];
  shape.planes = shape.planes / channels * CeilDiv(channels, kChannelBlock);
  const auto window = static_cast<float>(shape.w.kernel * shape.h.kernel);
  Launch launch("ops/pooling/pool2d_nchw16c.cl", "pool2d_nchw16c");
  launch
      .Option(
          StrCat("-DPOOL=", static_cast<int>(PoolTypeOf(node.attributes()))))
      .Input("in", node, 0)
      .Output("out", node, 0);
  if (PoolTypeOf(node.attributes()) == PoolType::kMax &&
      (kTile - 1) * shape.w.stride + shape.w.kernel <= kMostColumns) {
    launch.Option(StrCat("-DKERNEL_W=", shape.w.kernel))
        .Option(StrCat("-DSTRIDE_W=", shape.w.stride));
  }
  AddPoolSizes(shape, &launch);
  launch.Int("channels", channels).Float("inverse_window", 1.0f / window);
  AddPaddedSizes(PoolTypeOf(node.attributes()), shape, &launch);
  launch.Float("lowest", PoolLowest(ir::DataType::kFloat32));
  return launch
      .Tiles(device, CeilDiv(shape.w.output, kTile) * shape.h.output, 1,
             shape.planes)
      .PartitionSpatially()
      .Build();
}

ir::KernelDef Pool2dKernel() {
  return ir::PlainKernel{.op = "tim.Pool2d",
                         .name = "pool2d_nchw16c",
                         .analyze = Supports,
                         .layouts = Layouts,
                         .cost = Cost,
                         .lower = Lower};
}

}  // namespace

TIM_OPERATOR(pool2d_nchw16c) { registry.Add(Pool2dKernel()); }

}  // namespace tim::ops
