// Depthwise convolution of 8-bit codes for GPUs, dense tensors.
#include <cstddef>
#include <span>

#include "base/str_cat.h"
#include "ir/op_registry.h"
#include "ops/convolution/conv2d_node.h"
#include "ops/convolution/simt_convolution.h"
#include "ops/convolution_i8/packed_codes.h"
#include "ops/elements/byte_sum.h"
#include "ops/elements/product_sum.h"
#include "ops/elements/shapes.h"
#include "ops/launch/device_class.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"

namespace tim::ops {
namespace {

Status Supports(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckNoCpu(device));
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape, CodeConv2dOf(node));
  return CheckDepthwiseStrip(shape);
}

double Cost(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  const Result<Conv2dShape> shape = Conv2dShapeOf(node);
  if (!shape.ok()) return 0;
  return ir::EstimateMicroseconds(
      SumEstimate(AnchorView(node).view(), static_cast<double>(shape->terms())),
      device, 0.2);
}

// Less their zero points, which 16 bits hold.
ir::PackedConstant CenteredWeights(const ir::KernelNode& node,
                                   const ByteWeights& weights,
                                   const ByteShifts& shifts) {
  const bool is_signed = node.inputs[1].type == ir::DataType::kInt8;
  return {
      .id = StrCat("conv2d_depthwise_simt_i8 channels ", weights.channels,
                   " taps ", weights.terms,
                   is_signed ? " signed " : " unsigned ", shifts.ToString()),
      .sources = {1},
      .bytes = weights.channels * weights.terms * int64_t{sizeof(int16_t)},
      .pack = [=, constant = node.constants[1]](std::span<std::byte> out) {
        auto* to = reinterpret_cast<int16_t*>(out.data());
        for (int64_t i = 0; i < weights.channels * weights.terms; ++i) {
          to[i] = static_cast<int16_t>(ByteWeight(*constant, is_signed, i) -
                                       shifts.shifts[i / weights.terms]);
        }
        return OkStatus();
      }};
}

Result<ir::Lowering> Lower(const ir::KernelNode& node, const ir::DeviceInfo&) {
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape, Conv2dShapeOf(node));
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue,
                       EpilogueOf(node, kConvChannelAxis));
  const ByteWeights weights = ByteWeightsOf(shape);
  const ByteShifts shifts = WholeShifts(node, weights.channels);
  Launch launch("ops/convolution_i8/conv2d_depthwise_simt_i8.cl",
                "conv2d_depthwise_simt_i8");
  AddByteTypes(node, shifts.centered, &launch);
  AddDepthwiseStrip(shape, &launch);
  launch.Input("input", node, 0)
      .Packed("weights", CenteredWeights(node, weights, shifts),
              sizeof(int16_t))
      .Packed("table", ByteTable(node, weights, shifts), sizeof(int32_t))
      .Output("output", node, 0)
      .Int("input_zero", UnsignedZero(node.inputs[0]))
      .Int("output_zero", node.outputs[0].quantization.ZeroPoint());
  AddActivation(epilogue, node.outputs[0], &launch);
  AddDepthwiseSizes(shape, &launch);
  return launch.Build();
}

}  // namespace

TIM_OPERATOR(conv2d_depthwise_simt_i8) {
  registry.Add(ir::KernelDef{.op = "tim.Conv2d",
                             .name = "conv2d_depthwise_simt_i8",
                             .supports = Supports,
                             .cost = Cost,
                             .lower = Lower});
}

}  // namespace tim::ops
