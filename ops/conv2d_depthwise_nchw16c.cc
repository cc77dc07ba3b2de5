// Depthwise float32 convolution on tensors in blocks of 16 channels.

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ops/internal/blocked.h"
#include "ops/internal/conv2d_node.h"
#include "ops/internal/device_class.h"
#include "ops/internal/epilogue.h"
#include "ops/internal/launch.h"
#include "ops/internal/packed.h"
#include "ops/internal/product_sum.h"
#include "ops/internal/register_tile.h"
#include "ops/internal/shapes.h"

namespace tim::ops {
namespace {

constexpr int64_t kMaxSpan = 64;

int64_t SpanOf(const ConvAxis& axis, int64_t width) {
  return (width - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
}

// The widest tile whose sums and input pixels fit the registers; of equal ones
// that which repeats the fewest pixels.
int64_t TileWidth(const ConvAxis& axis, const ir::DeviceInfo& device) {
  const int64_t limit = BlocksInRegisters(device);
  int64_t best = 1;
  for (int64_t width = 2; width <= axis.output; ++width) {
    if (width + SpanOf(axis, width) > limit) break;
    if (CeilDiv(axis.output, width) < CeilDiv(axis.output, best)) best = width;
  }
  return best;
}

Status Supports(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckCpu(device));
  TIM_RETURN_IF_ERROR(CheckFloat32(node));
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape, Conv2dShapeOf(node));
  if (shape.group.channels != 1 || shape.group.outputs != 1) {
    return Unimplemented("a group must have one input and one output channel");
  }
  if (node.constants[1] == nullptr) {
    return Unimplemented("the weights are not constant");
  }
  if (!FitsChannelBlocks(node.inputs[0]) ||
      !FitsChannelBlocks(node.outputs[0])) {
    return Unimplemented("input and output must have rank 4 and fit 32 bits");
  }
  TIM_RETURN_IF_ERROR(EpilogueOf(node, kConvChannelAxis).status());
  TIM_RETURN_IF_ERROR(CheckKernelSizes(node, shape));
  if (SpanOf(shape.w, 1) > kMaxSpan) {
    return Unimplemented("a pixel spans ", SpanOf(shape.w, 1),
                         " input pixels, at most ", kMaxSpan, " are kept");
  }
  return OkStatus();
}

std::vector<ir::LayoutTuple> Layouts(const ir::KernelNode& node,
                                     const ir::DeviceInfo&) {
  ir::LayoutTuple blocked = ir::DenseLayouts(node);
  for (size_t i = 0; i < blocked.inputs.size(); ++i) {
    if (!node.present[i]) blocked.inputs[i] = ir::Layout::Any();
  }
  blocked.inputs[0] = blocked.outputs[0] = ChannelBlocks();
  return {blocked};
}

double Cost(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  const Result<Conv2dShape> shape = Conv2dShapeOf(node);
  if (!shape.ok()) return 0;
  return ir::EstimateMicroseconds(
      SumEstimate(AnchorView(node).view(), static_cast<double>(shape->terms())),
      device, 0.3);
}

ir::PackedConstant PackedWeights(const ir::KernelNode& node,
                                 const Conv2dShape& shape) {
  const int64_t taps = shape.w.kernel * shape.h.kernel;
  return PackedFloats(
      StrCat("conv2d_depthwise_nchw16c channels ", shape.channels, " taps ",
             taps),
      node, 1, AlignUp(shape.channels, kChannelBlock) * taps,
      [taps, channels = shape.channels](const float* from, float* to) {
        for (int64_t c = 0; c < channels; ++c) {
          for (int64_t tap = 0; tap < taps; ++tap) {
            to[(c / kChannelBlock * taps + tap) * kChannelBlock +
               c % kChannelBlock] = from[c * taps + tap];
          }
        }
      });
}

Result<ir::Lowering> Lower(const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape, Conv2dShapeOf(node));
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue,
                       EpilogueOf(node, kConvChannelAxis));
  const int64_t width = TileWidth(shape.w, device);
  const int64_t blocks = CeilDiv(shape.channels, kChannelBlock);
  Launch launch("ops/conv2d_depthwise_nchw16c.cl", "conv2d_depthwise_nchw16c");
  launch.Option(StrCat("-DTW=", width))
      .Option(StrCat("-DKERNEL_W=", shape.w.kernel))
      .Option(StrCat("-DSTRIDE=", shape.w.stride))
      .Option(StrCat("-DDILATION=", shape.w.dilation))
      .Option(StrCat("-DSPAN=", SpanOf(shape.w, width)))
      .Input(node, 0)
      .Packed(PackedWeights(node, shape), sizeof(float));
  AddEpilogue(node, BiasOf(node), epilogue, &launch);
  return launch.Int(shape.w.input)
      .Int(shape.h.input)
      .Int(shape.h.kernel)
      .Int(shape.w.output)
      .Int(shape.h.output)
      .Int(shape.channels)
      .Int(blocks)
      .Int(shape.batch)
      .Int(shape.h.stride)
      .Int(shape.h.dilation)
      .Int(shape.w.pad)
      .Int(shape.h.pad)
      .Global(shape.h.output, 1, blocks * shape.batch)
      .Local(1)
      .Places()
      .Build();
}

}  // namespace

TIM_OPERATOR(conv2d_depthwise_nchw16c) {
  registry.Add(ir::KernelDef{.op = "tim.Conv2d",
                             .name = "conv2d_depthwise_nchw16c",
                             .supports = Supports,
                             .layouts = Layouts,
                             .cost = Cost,
                             .lower = Lower});
}

}  // namespace tim::ops
