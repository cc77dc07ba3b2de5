// Pool2d of 8-bit codes in blocks of 16 channels: MAX and all kinds of AVG.
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

Status CheckCodes(const ir::TensorDesc& desc) {
  TIM_RETURN_IF_ERROR(CheckPoolCodes(desc));
  if (FitsChannelBlocks(desc)) return OkStatus();
  return Unimplemented(desc.ToString(), " does not fit blocks of channels");
}

Status Supports(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  TIM_RETURN_IF_ERROR(CheckKernelOperands(node));
  TIM_RETURN_IF_ERROR(CheckCodes(node.inputs[0]));
  TIM_RETURN_IF_ERROR(CheckCodes(node.outputs[0]));
  if (PoolTypeOf(node.attributes()) == PoolType::kL2) {
    return Unimplemented("takes no L2 pooling");
  }
  TIM_ASSIGN_OR_RETURN(const PoolShape shape, PoolShapeOf(node));
  TIM_RETURN_IF_ERROR(CheckCodeSums(shape));
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
                                  device, 0.2, 0.5);
}

Result<ir::Lowering> Lower(const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  TIM_ASSIGN_OR_RETURN(PoolShape shape, PoolShapeOf(node));
  const int64_t channels = node.inputs[0].shape[2];
  shape.planes = shape.planes / channels * CeilDiv(channels, kChannelBlock);
  Launch launch("ops/pooling/pool2d_nchw16c_codes.cl", "pool2d_nchw16c_codes");
  launch.Type("IN", node.inputs[0]).Type("OUT", node.outputs[0]);
  AddPoolOptions(node, &launch);
  launch.Input("in", node, 0).Output("out", node, 0);
  if ((kTile - 1) * shape.w.stride + shape.w.kernel <= kMostColumns) {
    launch.Option(StrCat("-DKERNEL_W=", shape.w.kernel))
        .Option(StrCat("-DSTRIDE_W=", shape.w.stride));
  }
  AddPoolSizes(shape, &launch);
  const int64_t tiles = CeilDiv(shape.w.output, kTile) * shape.h.output;
  // Single pixels, which have no neighbours to share.
  const int64_t group = tiles == 1 ? shape.planes : 1;
  launch.Int("group", group).Int("channels", channels);
  AddPoolResult(node, shape, &launch);
  launch.Int("lowest", ir::Info(node.outputs[0].type).min);
  return launch.Tiles(device, tiles * group, 1, shape.planes / group)
      .PartitionSpatially(group == 1)
      .Build();
}

ir::KernelDef Pool2dKernel() {
  return ir::PlainKernel{.op = "tim.Pool2d",
                         .name = "pool2d_nchw16c_codes",
                         .analyze = Supports,
                         .layouts = Layouts,
                         .cost = Cost,
                         .lower = Lower};
}

}  // namespace

TIM_OPERATOR(pool2d_nchw16c_codes) { registry.Add(Pool2dKernel()); }

}  // namespace tim::ops
