// Convolution of 8-bit codes for GPUs, dense tensors and any number of groups.
#include <utility>

#include "base/checked_math.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/convolution/conv2d_node.h"
#include "ops/convolution/conv_sizes.h"
#include "ops/convolution/simt_convolution.h"
#include "ops/convolution_i8/packed_codes.h"
#include "ops/convolution_i8/variable_codes.h"
#include "ops/elements/byte_sum.h"
#include "ops/elements/byte_words.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"
#include "ops/launch/packed.h"
#include "ops/launch/simt_tile.h"

namespace tim::ops {
namespace {

Result<ConvProblem> Analyze(const ir::KernelNode& node,
                            const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckSimt(device));
  return CodeConv2dOf(node);
}

SimtProduct ProductOf(const Conv2dShape& shape, const ir::DeviceInfo& device) {
  SimtProduct product = SimtProductOf(shape, kWordBytes);
  product.work = WordWork(device);
  return product;
}

// The words of variable weights: those of PackedWeights(), which are tiles of
// as many channels as a group has.
PackedCodes WordsOf(const Conv2dShape& shape) {
  const int64_t words = CeilDiv(shape.group.channels, kWordBytes);
  return {.lanes = shape.group.outputs,
          .ic_block = kWordBytes,
          .in_blocks = words,
          .read_blocks = words,
          .tiles = shape.group.out_channels / shape.group.outputs};
}

double Cost(const ConvProblem& problem, const ir::KernelNode& node,
            const ir::DeviceInfo& device) {
  const Conv2dShape& shape = problem.shape;
  return WordCost(node, ProductOf(shape, device), shape.terms(), device) +
         PackingCost(node, 1, static_cast<double>(WordsOf(shape).bytes(shape)),
                     device);
}

Result<CodeOperands> VariableOperands(const ir::KernelNode& node,
                                      const Conv2dShape& shape,
                                      const ByteShifts& shifts,
                                      ir::Lowering* lowering) {
  const ByteWeights weights = ByteWeightsOf(shape);
  const VariableCodes codes = VariableCodesOf(weights);
  CodeOperands out;
  out.centered = IsCentered(node.inputs[1]);
  TIM_ASSIGN_OR_RETURN(out.channels,
                       VariableTable(node, weights, shifts, codes,
                                     CodeZeros::kOfWeights, lowering));
  if (node.constants[1] != nullptr) return out;
  // The channels of a tile are counted from the first of its own group.
  Conv2dShape own = shape;
  own.group.outputs = shape.group.out_channels;
  TIM_ASSIGN_OR_RETURN(
      out.weights,
      VariableWeights(node, own, WordsOf(shape), codes, out.channels,
                      PackingItems::kWords, lowering));
  return out;
}

Result<CodeOperands> OperandsOf(const ir::KernelNode& node,
                                const Conv2dShape& shape,
                                ir::Lowering* lowering) {
  const ByteWeights weights = ByteWeightsOf(shape);
  const ByteWords words = {.taps = shape.w.kernel * shape.h.kernel,
                           .outputs = shape.group.outputs};
  const bool constant = node.constants[1] != nullptr;
  const ByteShifts shifts =
      constant ? ByteShiftsOf(node, weights) : ByteShifts{};
  CodeOperands out;
  if (HasConstantCodes(node)) {
    out.channels.constant = ByteTable(node, weights, shifts);
  } else {
    TIM_ASSIGN_OR_RETURN(out, VariableOperands(node, shape, shifts, lowering));
  }
  if (constant) {
    out.weights.constant = PackedWords(node, weights, words, shifts);
    out.centered = shifts.centered;
  }
  return out;
}

Result<ir::Lowering> Lower(const ConvProblem& problem,
                           const ir::KernelNode& node,
                           const ir::DeviceInfo& device) {
  const auto& [shape, epilogue] = problem;
  ir::Lowering lowering;
  TIM_ASSIGN_OR_RETURN(CodeOperands operands,
                       OperandsOf(node, shape, &lowering));
  Launch launch("ops/convolution_i8/conv2d_simt_i8.cl", "conv2d_simt_i8");
  AddWordOptions(node, operands.centered, device, &launch);
  AddSimtTile(ProductOf(shape, device), device, &launch);
  launch.Input("input", node, 0);
  AddPacked("weights", std::move(operands.weights), sizeof(int32_t), &launch);
  launch.Packed("taps", SimtTaps(shape, kWordBytes), 16);
  AddPacked("channels", std::move(operands.channels), sizeof(int32_t), &launch);
  launch.Output("output", node, 0)
      .Int("input_zero", UnsignedZero(node.inputs[0]))
      .Int("output_zero", node.outputs[0].quantization.ZeroPoint());
  AddActivation(epilogue, node.outputs[0], &launch);
  launch.Struct("sizes", ConvSizes(shape))
      .Int("terms", SimtTerms(shape, kWordBytes));
  TIM_RETURN_IF_ERROR(launch.AppendTo(&lowering));
  return lowering;
}

}  // namespace

TIM_OPERATOR(conv2d_simt_i8) {
  registry.Add(ir::TypedKernel<ConvProblem>{.op = "tim.Conv2d",
                                            .name = "conv2d_simt_i8",
                                            .takes_epilogue = true,
                                            .analyze = Analyze,
                                            .cost = Cost,
                                            .lower = Lower});
}

}  // namespace tim::ops
