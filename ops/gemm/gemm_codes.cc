#include "ops/gemm/gemm_codes.h"

#include <cmath>

#include "ops/elements/product_sum.h"

namespace tim::ops {
namespace {

// Weights that are not known: whatever they are must do.
Status CheckVariable(const ir::KernelNode& node, const GemmProblem& problem) {
  const SumDescs descs = DescsOf(node);
  if (problem.bias >= 0) {
    return Unimplemented("a bias beside weights that are not constant");
  }
  if (descs.weights->quantized() && descs.weights->quantization.per_channel()) {
    return Unimplemented("variable weights with per-channel quantization");
  }
  if (SumKindOf(descs, problem.depth) != SumKind::kInt) {
    return Unimplemented("sums of ", problem.depth,
                         " products may need more than 32 bits");
  }
  const float factor = RuleOf(descs, 0).factor;
  if (std::isfinite(factor)) return OkStatus();
  return Unimplemented("the scales make a factor of ", factor);
}

}  // namespace

Status CheckGemmCodes(const ir::KernelNode& node, const GemmProblem& problem) {
  return IsConstantFactor(node, problem.b)
             ? CheckConstantSums(node, GemmWeightsOf(problem))
             : CheckVariable(node, problem);
}

bool IsConstantFactor(const ir::KernelNode& node, const GemmFactor& factor) {
  return node.constants[factor.input] != nullptr && factor.batches == 1;
}

ByteWeights GemmWeightsOf(const GemmProblem& problem) {
  return {.channels = problem.b.items,
          .terms = problem.depth,
          .channel_step = problem.b.item_step,
          .term_step = problem.b.depth_step};
}

int32_t VariableWeightZero(const ir::TensorDesc& weights) {
  return (weights.quantized() ? weights.quantization.ZeroPoint() : 0) -
         (weights.type == ir::DataType::kUint8 ? 128 : 0);
}

}  // namespace tim::ops
