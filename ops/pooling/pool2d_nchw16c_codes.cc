// Pool2d of 8-bit codes in blocks of 16 channels: MAX and all kinds of AVG.
#include "base/checked_math.h"
#include "ir/op_registry.h"
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
// Sums of this many codes fit 32 bits, whatever the zero point of 8 bits.
constexpr int64_t kMostCells = int64_t{1} << 22;

bool IsCode(const ir::TensorDesc& desc) {
  return desc.type == ir::DataType::kInt8 || desc.type == ir::DataType::kUint8;
}

int64_t ZeroOf(const ir::TensorDesc& desc) {
  return desc.quantized() ? desc.quantization.ZeroPoint() : 0;
}

Status CheckCodes(const ir::TensorDesc& desc) {
  if (!IsCode(desc)) {
    return Unimplemented(ir::ToString(desc.type),
                         ", takes int8 and uint8 only");
  }
  if (!FitsChannelBlocks(desc)) {
    return Unimplemented(desc.ToString(), " does not fit blocks of channels");
  }
  const ir::DataTypeInfo& info = ir::Info(desc.type);
  if (ZeroOf(desc) < info.min || ZeroOf(desc) > info.max) {
    return Unimplemented("a zero point, ", ZeroOf(desc), ", that is no code");
  }
  return OkStatus();
}

Status Supports(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  if (!node.epilogue.empty()) return Unimplemented("takes no fused operators");
  TIM_RETURN_IF_ERROR(CheckKernelOperands(node));
  TIM_RETURN_IF_ERROR(CheckCodes(node.inputs[0]));
  TIM_RETURN_IF_ERROR(CheckCodes(node.outputs[0]));
  if (PoolTypeOf(node.attributes()) == PoolType::kL2) {
    return Unimplemented("takes no L2 pooling");
  }
  TIM_ASSIGN_OR_RETURN(const PoolShape shape, PoolShapeOf(node));
  if (shape.w.kernel > kMostCells / shape.h.kernel) {
    return Unimplemented("windows of ", shape.w.kernel, "x", shape.h.kernel,
                         ", takes at most ", kMostCells, " cells");
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
                                  device, 0.2, 0.5);
}

Result<ir::Lowering> Lower(const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  TIM_ASSIGN_OR_RETURN(PoolShape shape, PoolShapeOf(node));
  const ir::TensorDesc& input = node.inputs[0];
  const ir::TensorDesc& output = node.outputs[0];
  const PoolType type = PoolTypeOf(node.attributes());
  const PoolScale scale = PoolScaleOf(input, output);
  const int64_t channels = input.shape[2];
  shape.planes = shape.planes / channels * CeilDiv(channels, kChannelBlock);
  const auto window = static_cast<float>(shape.w.kernel * shape.h.kernel);
  Launch launch("ops/pooling/pool2d_nchw16c_codes.cl", "pool2d_nchw16c_codes");
  launch.Type("IN", input)
      .Type("OUT", output)
      .Option(StrCat("-DPOOL=", static_cast<int>(type)))
      .Input("in", node, 0)
      .Output("out", node, 0);
  if (type == PoolType::kMax && ir::SameElements(input, output)) {
    launch.Option("-DSAME");
  }
  // Results are differences of codes, below 2^9.
  if (scale.multiplier < 0x1p12f) launch.Option("-DBOUNDED");
  if ((kTile - 1) * shape.w.stride + shape.w.kernel <= kMostColumns) {
    launch.Option(StrCat("-DKERNEL_W=", shape.w.kernel))
        .Option(StrCat("-DSTRIDE_W=", shape.w.stride));
  }
  AddPoolSizes(shape, &launch);
  const int64_t tiles = CeilDiv(shape.w.output, kTile) * shape.h.output;
  // Single pixels, which have no neighbours to share.
  const int64_t group = tiles == 1 ? shape.planes : 1;
  launch.Int("group", group)
      .Int("channels", channels)
      .Float("window", window)
      .Float("inverse_window", 1.0f / window)
      .Int("in_zero", ZeroOf(input))
      .Float("multiplier", scale.multiplier)
      .Int("zero", ZeroOf(output));
  AddPaddedSizes(type, shape, &launch);
  launch.Int("lowest", ir::Info(output.type).min);
  return launch.Tiles(device, tiles * group, 1, shape.planes / group)
      .PartitionSpatially(group == 1)
      .Build();
}

ir::KernelDef Pool2dKernel() {
  return {.op = "tim.Pool2d",
          .name = "pool2d_nchw16c_codes",
          .supports = Supports,
          .layouts = Layouts,
          .cost = Cost,
          .lower = Lower};
}

}  // namespace

TIM_OPERATOR(pool2d_nchw16c_codes) { registry.Add(Pool2dKernel()); }

}  // namespace tim::ops
