// Convolution of 8-bit codes for GPUs, dense tensors and any number of groups.
#include "ir/op_registry.h"
#include "ops/convolution/conv2d_node.h"
#include "ops/convolution/simt_convolution.h"
#include "ops/convolution_i8/packed_codes.h"
#include "ops/elements/byte_sum.h"
#include "ops/elements/byte_words.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"
#include "ops/launch/simt_tile.h"

namespace tim::ops {
namespace {

Status Supports(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckSimt(device));
  return CodeConv2dOf(node).status();
}

SimtProduct ProductOf(const Conv2dShape& shape, const ir::DeviceInfo& device) {
  SimtProduct product = SimtProductOf(shape, kWordBytes);
  product.work = WordWork(device);
  return product;
}

double Cost(const ir::KernelNode& node, const ir::DeviceInfo& device) {
  const Result<Conv2dShape> shape = Conv2dShapeOf(node);
  if (!shape.ok()) return 0;
  return WordCost(node, ProductOf(*shape, device), shape->terms(), device);
}

Result<ir::Lowering> Lower(const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  TIM_ASSIGN_OR_RETURN(const Conv2dShape shape, Conv2dShapeOf(node));
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue,
                       EpilogueOf(node, kConvChannelAxis));
  const ByteWeights weights = ByteWeightsOf(shape);
  const ByteWords words = {.taps = shape.w.kernel * shape.h.kernel,
                           .outputs = shape.group.outputs};
  const ByteShifts shifts = ByteShiftsOf(node, weights);
  Launch launch("ops/convolution_i8/conv2d_simt_i8.cl", "conv2d_simt_i8");
  AddWordOptions(node, shifts.centered, device, &launch);
  AddSimtTile(ProductOf(shape, device), device, &launch);
  launch.Input("input", node, 0)
      .Packed("weights", PackedWords(node, weights, words, shifts),
              sizeof(int32_t))
      .Packed("taps", SimtTaps(shape, kWordBytes), 16)
      .Packed("channels", ByteTable(node, weights, shifts), sizeof(int32_t))
      .Output("output", node, 0)
      .Int("input_zero", UnsignedZero(node.inputs[0]))
      .Int("output_zero", node.outputs[0].quantization.ZeroPoint());
  AddActivation(epilogue, node.outputs[0], &launch);
  AddSimtSizes(shape, SimtTerms(shape, kWordBytes), &launch);
  return launch.Build();
}

}  // namespace

TIM_OPERATOR(conv2d_simt_i8) {
  registry.Add(ir::KernelDef{.op = "tim.Conv2d",
                             .name = "conv2d_simt_i8",
                             .supports = Supports,
                             .cost = Cost,
                             .lower = Lower});
}

}  // namespace tim::ops
