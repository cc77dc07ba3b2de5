// Float32 convolution for GPUs, dense tensors and any number of groups.
#include <cstring>

#include "ir/op_registry.h"
#include "ops/convolution/conv2d_node.h"
#include "ops/elements/product_sum.h"
#include "ops/elements/shapes.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"
#include "ops/launch/simt_tile.h"

namespace tim::ops {
namespace {

Status Supports(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckSimt(device));
  TIM_RETURN_IF_ERROR(CheckFloat32(node));
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape, Conv2dShapeOf(node));
  TIM_RETURN_IF_ERROR(CheckKernelSizes(node, shape));
  TIM_RETURN_IF_ERROR(CheckElementCount(node.anchor_output));
  return EpilogueOf(node, kConvChannelAxis, Residual::kTaken).status();
}

SimtProduct ProductOf(const Conv2dShape& shape) {
  return {.rows = shape.group.outputs,
          .columns = shape.w.output * shape.h.output * shape.batch,
          .depth = shape.terms(),
          .count = shape.channels / shape.group.channels};
}

double Cost(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  const Result<Conv2dShape> shape = Conv2dShapeOf(node);
  if (!shape.ok()) return 0;
  const ir::ComputeEstimate estimate = SumEstimate(AnchorView(node).view(), 0);
  return SimtCost(ProductOf(*shape),
                  estimate.bytes_read + estimate.bytes_written, device);
}

// For each k: where it is from the first tap, dx, dy, 0.
void WriteTaps(const Conv2dShape& shape, int32_t* out) {
  for (int64_t ic = 0; ic < shape.group.channels; ++ic) {
    for (int64_t kh = 0; kh < shape.h.kernel; ++kh) {
      for (int64_t kw = 0; kw < shape.w.kernel; ++kw, out += 4) {
        const int64_t dx = kw * shape.w.dilation;
        const int64_t dy = kh * shape.h.dilation;
        out[0] = static_cast<int32_t>(
            (ic * shape.h.input + dy) * shape.w.input + dx);
        out[1] = static_cast<int32_t>(dx);
        out[2] = static_cast<int32_t>(dy);
        out[3] = 0;
      }
    }
  }
}

ir::PackedConstant Taps(const Conv2dShape& shape) {
  return {.id = StrCat("conv2d_simt taps ", shape.w.kernel, " x ",
                       shape.h.kernel, " x ", shape.group.channels,
                       " dilation ", shape.w.dilation, " ", shape.h.dilation,
                       " input ", shape.w.input, " x ", shape.h.input),
          .sources = {},
          .bytes = shape.terms() * 4 * int64_t{sizeof(int32_t)},
          .pack = [shape](std::span<std::byte> out) {
            WriteTaps(shape, reinterpret_cast<int32_t*>(out.data()));
            return OkStatus();
          }};
}

Result<ir::Lowering> Lower(const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape, Conv2dShapeOf(node));
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue,
                       EpilogueOf(node, kConvChannelAxis, Residual::kTaken));
  Launch launch("ops/convolution/conv2d_simt.cl", "conv2d_simt");
  AddSimtTile(ProductOf(shape), device, &launch);
  launch.Input("input", node, 0)
      .Input("weights", node, 1)
      .Packed("taps", Taps(shape), 16);
  AddEpilogue(node, BiasOf(node), epilogue, &launch);
  return launch.Int("in_w", shape.w.input)
      .Int("in_h", shape.h.input)
      .Int("in_channels", shape.channels)
      .Int("terms", shape.terms())
      .Int("group_channels", shape.group.channels)
      .Int("group_outputs", shape.group.outputs)
      .Int("out_w", shape.w.output)
      .Int("out_h", shape.h.output)
      .Int("out_channels", shape.group.out_channels)
      .Int("batch", shape.batch)
      .Int("stride_w", shape.w.stride)
      .Int("stride_h", shape.h.stride)
      .Int("pad_left", shape.w.pad)
      .Int("pad_top", shape.h.pad)
      .Build();
}

}  // namespace

TIM_OPERATOR(conv2d_simt) {
  registry.Add(ir::KernelDef{.op = "tim.Conv2d",
                             .name = "conv2d_simt",
                             .supports = Supports,
                             .cost = Cost,
                             .lower = Lower});
}

}  // namespace tim::ops
