// Matrix products of 8-bit codes by ops/gemm/gemm_i8_simt.cl, for GPUs.
#include <string>

#include "base/checked_math.h"
#include "ops/elements/byte_sum.h"
#include "ops/elements/byte_words.h"
#include "ops/elements/product_sum.h"
#include "ops/gemm/gemm_codes.h"
#include "ops/gemm/gemm_provider.h"
#include "ops/launch/launch.h"
#include "ops/launch/simt_tile.h"

namespace tim::ops {
namespace {

SimtProduct ProductOf(const GemmProblem& problem,
                      const ir::DeviceInfo& device) {
  return {.rows = problem.a.items,
          .columns = problem.b.items,
          .depth = CeilDiv(problem.depth, kWordBytes),
          .count = problem.batches,
          .work = WordWork(device)};
}

Status Supports(const ir::KernelNode& node, const GemmProblem& problem,
                const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckSimt(device));
  TIM_RETURN_IF_ERROR(CheckByteTypes(node));
  TIM_RETURN_IF_ERROR(CheckGemmCodes(node, problem));
  return CheckElementCount(node.anchor_output);
}

double Cost(const ir::KernelNode& node, const GemmProblem& problem,
            const ir::DeviceInfo& device) {
  return WordCost(node, ProductOf(problem, device), problem.depth, device);
}

// Options, both factors and what is known of b.
void AddConstant(const ir::KernelNode& node, const GemmProblem& problem,
                 const ir::DeviceInfo& device, Launch* launch) {
  const ByteWeights weights = GemmWeightsOf(problem);
  const ByteShifts shifts = ByteShiftsOf(node, weights);
  const ByteWords words = {.taps = 1, .outputs = weights.channels};
  AddWordOptions(node, shifts.centered, device, launch);
  launch->Input("a", node, problem.a.input)
      .Packed("b", PackedWords(node, weights, words, shifts), sizeof(int32_t))
      .Packed("channels", ByteTable(node, weights, shifts), sizeof(int32_t));
}

void AddVariable(const ir::KernelNode& node, const GemmProblem& problem,
                 const ir::DeviceInfo& device, Launch* launch) {
  AddWordOptions(node, VariableWeightZero(node.inputs[1]) == 0, device, launch);
  launch->Type("IN1", node.inputs[1])
      .Option(StrCat("-DB=", Along(problem.b)))
      .Option("-DVARIABLE")
      .Input("a", node, problem.a.input)
      .Input("b", node, problem.b.input);
}

Result<ir::Lowering> Lower(const ir::KernelNode& node,
                           const GemmProblem& problem,
                           const ir::DeviceInfo& device) {
  const bool constant = IsConstantFactor(node, problem.b);
  Launch launch("ops/gemm/gemm_i8_simt.cl", "gemm_i8_simt");
  AddSimtTile(ProductOf(problem, device), device, &launch);
  launch.Option(StrCat("-DA=", Along(problem.a)));
  if (constant) {
    AddConstant(node, problem, device, &launch);
  } else {
    AddVariable(node, problem, device, &launch);
  }
  launch.Output("output", node, 0)
      .Int("output_zero", node.outputs[0].quantization.ZeroPoint());
  AddActivation(problem.epilogue, node.outputs[0], &launch);
  launch.Struct("a_source", FactorFields(problem.a))
      .Struct("b_source", FactorFields(problem.b))
      .Int("depth", problem.depth);
  if (!constant) {
    launch.Int("input_zero", UnsignedZero(node.inputs[0]))
        .Int("weight_zero", VariableWeightZero(node.inputs[1]))
        .Float("factor", RuleOf(DescsOf(node), 0).factor);
  }
  return launch.Build();
}

}  // namespace

const GemmProvider kGemmI8Simt = {.name = "gemm_i8_simt",
                                  .device_kind = "opencl",
                                  .supports = Supports,
                                  .cost = Cost,
                                  .lower = Lower};

}  // namespace tim::ops
