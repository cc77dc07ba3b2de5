// Depthwise convolution of 8-bit codes for GPUs, dense tensors.
#include <cstddef>
#include <span>
#include <utility>

#include "base/str_cat.h"
#include "ir/op_registry.h"
#include "ir/typed_kernel.h"
#include "ops/convolution/conv2d_node.h"
#include "ops/convolution/conv_sizes.h"
#include "ops/convolution/simt_convolution.h"
#include "ops/convolution_i8/packed_codes.h"
#include "ops/convolution_i8/variable_codes.h"
#include "ops/elements/byte_sum.h"
#include "ops/elements/product_sum.h"
#include "ops/launch/device_class.h"
#include "ops/launch/epilogue.h"
#include "ops/launch/launch.h"
#include "ops/launch/packed.h"
#include "ops/launch/prices.h"

namespace tim::ops {
namespace {

Result<ConvProblem> Analyze(const ir::KernelNode& node,
                            const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckNoCpu(device));
  TIM_ASSIGN_OR_RETURN(const ConvProblem problem, CodeConv2dOf(node));
  TIM_RETURN_IF_ERROR(CheckDepthwiseStrip(problem.shape));
  return problem;
}

int64_t ShortBytes(const ByteWeights& weights) {
  return weights.channels * weights.terms * int64_t{sizeof(int16_t)};
}

double Cost(const ConvProblem& problem, const ir::KernelNode& node,
            const ir::DeviceInfo& device) {
  const ByteWeights weights = ByteWeightsOf(problem.shape);
  return SumCost(node, weights.terms, device, prices::kConv2dDepthwiseSimtI8) +
         PackingCost(node, 1, static_cast<double>(ShortBytes(weights)), device);
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
      .bytes = ShortBytes(weights),
      .pack = [=, constant = node.constants[1]](std::span<std::byte> out) {
        auto* to = reinterpret_cast<int16_t*>(out.data());
        for (int64_t i = 0; i < weights.channels * weights.terms; ++i) {
          to[i] = static_cast<int16_t>(ByteWeight(*constant, is_signed, i) -
                                       shifts.shifts[i / weights.terms]);
        }
        return OkStatus();
      }};
}

Result<PackedOperand> WeightsOf(const ir::KernelNode& node,
                                const ByteWeights& weights,
                                const ByteShifts& shifts,
                                ir::Lowering* lowering) {
  if (node.constants[1] != nullptr) {
    return PackedOperand{.constant = CenteredWeights(node, weights, shifts)};
  }
  Launch launch("ops/convolution_i8/pack_code_taps.cl",
                "pack_code_taps_shorts");
  launch.Type("IN1", node.inputs[1])
      .Input("weights", node, 1)
      .Packed("rules", ChannelTable(DescsOf(node), weights.channels),
              sizeof(int32_t))
      .Scratch("packed", ShortBytes(weights), sizeof(int16_t))
      .Int("channels", weights.channels)
      .Int("taps", weights.terms)
      .Items(weights.channels * weights.terms);
  return AppendPacking(launch, lowering);
}

Result<ir::Lowering> Lower(const ConvProblem& problem,
                           const ir::KernelNode& node, const ir::DeviceInfo&) {
  const auto& [shape, epilogue] = problem;
  const ByteWeights weights = ByteWeightsOf(shape);
  const ByteShifts shifts = WholeShifts(node, weights.channels);
  ir::Lowering lowering;
  PackedOperand table;
  if (HasConstantCodes(node)) {
    table.constant = ByteTable(node, weights, shifts);
  } else {
    TIM_ASSIGN_OR_RETURN(
        table, VariableTable(node, weights, shifts, VariableCodesOf(weights),
                             CodeZeros::kNone, &lowering));
  }
  TIM_ASSIGN_OR_RETURN(PackedOperand packed,
                       WeightsOf(node, weights, shifts, &lowering));
  Launch launch("ops/convolution_i8/conv2d_depthwise_simt_i8.cl",
                "conv2d_depthwise_simt_i8");
  AddByteTypes(node, shifts.centered, &launch);
  AddDepthwiseStrip(shape, &launch);
  launch.Input("input", node, 0);
  AddPacked("weights", std::move(packed), sizeof(int16_t), &launch);
  AddPacked("table", std::move(table), sizeof(int32_t), &launch);
  launch.Output("output", node, 0)
      .Int("input_zero", UnsignedZero(node.inputs[0]))
      .Int("output_zero", node.outputs[0].quantization.ZeroPoint());
  AddActivation(epilogue, node.outputs[0], &launch);
  launch.Struct("sizes", ConvSizes(shape));
  TIM_RETURN_IF_ERROR(launch.AppendTo(&lowering));
  return lowering;
}

}  // namespace

TIM_OPERATOR(conv2d_depthwise_simt_i8) {
  registry.Add(ir::TypedKernel<ConvProblem>{.op = "tim.Conv2d",
                                            .name = "conv2d_depthwise_simt_i8",
                                            .takes_epilogue = true,
                                            .analyze = Analyze,
                                            .cost = Cost,
                                            .lower = Lower});
}

}  // namespace tim::ops
