#include "ops/convolution_i8/code_epilogue.h"

#include <algorithm>

#include "ops/convolution/conv2d_node.h"
#include "ops/elements/byte_sum.h"
#include "ops/elementwise/binary.h"
#include "ops/elementwise/byte_pairs.h"
#include "ops/launch/blocked.h"

namespace tim::ops {
namespace {

bool IsSum(const ir::EpilogueStep& step) {
  return step.node->schema->pointwise && step.node->schema->pointwise->is_sum;
}

// What the Add reads is not rounded.
bool HasRealSums(const ir::KernelNode& node) {
  return node.anchor_output.type == ir::DataType::kFloat32;
}

BinaryProblem ProblemOf(const ir::KernelNode& node, const ir::EpilogueStep& add,
                        int residual) {
  const ir::Node& op = *add.node;
  return ProblemOf(BinaryOp{.pointwise = *op.schema->pointwise},
                   {op.attributes, node.anchor_output, node.inputs[residual]},
                   add.result);
}

// Real sums are added to as they are.
Status CheckRealSums(const ir::KernelNode& node, const CodeEpilogue& epilogue) {
  if (!HasRealSums(node) || epilogue.add == 0) return OkStatus();
  return Unimplemented("operators between a float32 sum and a fused Add");
}

Status CheckAdd(const ir::KernelNode& node, const CodeEpilogue& epilogue) {
  if (epilogue.residual < 0) return Unimplemented("Add of a value to itself");
  const ir::TensorDesc& sums = node.anchor_output;
  const ir::TensorDesc& other = node.inputs[epilogue.residual];
  const ir::EpilogueStep& add = node.epilogue[epilogue.add];
  const ir::TensorDesc& result = add.result;
  if (other.shape != sums.shape || result.shape != sums.shape) {
    return Unimplemented("a fused Add must have operands of the shape ",
                         sums.shape.ToString(), ", not ",
                         other.shape.ToString());
  }
  const ir::DataType type = HasRealSums(node) ? result.type : sums.type;
  if (other.type != type || result.type != type) {
    return Unimplemented("a fused Add must be of ", ir::ToString(type),
                         " only");
  }
  TIM_RETURN_IF_ERROR(CheckRealSums(node, epilogue));
  for (const ir::TensorDesc* desc : {&other, &result}) {
    if (desc->quantized() && desc->quantization.per_channel()) {
      return Unimplemented("a fused Add quantized per channel");
    }
  }
  for (const ir::Node* op : {node.anchor, add.node}) {
    const kernels::RequantizePolicy policy = kernels::PolicyOf(op->attributes);
    if (policy.wrap || policy.to_zero) {
      return Unimplemented(
          "a fused Add needs the policies saturate and to nearest even");
    }
  }
  const BinaryProblem problem = ProblemOf(node, add, epilogue.residual);
  if (problem.exact || problem.scale != 1.0f) {
    return Unimplemented("a fused Add must be of quantized values");
  }
  return OkStatus();
}

// Channels that do not exist have codes of the real value 0 only where that is
// no less than `low` and no more than `high`.
Status CheckTail(const ir::KernelNode& node, const ir::Limits& limits) {
  if (limits.low <= 0.0f && limits.high >= 0.0f) return OkStatus();
  if (node.outputs[0].shape.DimOr1(kConvChannelAxis) % kChannelBlock == 0) {
    return OkStatus();
  }
  return Unimplemented("limits behind a fused Add that exclude 0");
}

// The operands' quantization, or numbers that make codes of codes.
Launch::Fields OperandNumbers(const BinaryProblem& problem,
                              const ir::TensorDesc& y, Launch* launch) {
  const auto bytes =
      ir::IsFloat(problem.a.type) ? std::nullopt : BytePairsOf(problem, y, {});
  if (bytes) launch->Option(StrCat("-DCORRECTIONS=", bytes->corrections));
  if (bytes && bytes->linear) {
    launch->Option("-DLINEAR");
    return {{"sum_scale", bytes->linear->a},
            {"sum_zero", 0},
            {"residual_scale", bytes->linear->b},
            {"residual_zero", 0},
            {"start", bytes->linear->start}};
  }
  Launch::Fields fields = {{"start", 0.0f}};
  AddInputNumbers("sum", problem.a, &fields);
  AddInputNumbers("residual", problem.b, &fields);
  return fields;
}

}  // namespace

Result<CodeEpilogue> CodeEpilogueOf(const ir::KernelNode& node) {
  const auto add =
      std::find_if(node.epilogue.begin(), node.epilogue.end(), IsSum);
  CodeEpilogue out;
  TIM_ASSIGN_OR_RETURN(out.sums,
                       EpilogueOf(node, {node.epilogue.begin(), add},
                                  node.anchor_output, kConvChannelAxis));
  if (add == node.epilogue.end()) return out;
  out.add = static_cast<int>(add - node.epilogue.begin());
  out.residual = OtherOperand(*add);
  TIM_RETURN_IF_ERROR(CheckAdd(node, out));
  TIM_ASSIGN_OR_RETURN(
      out.results, EpilogueOf(node, {add + 1, node.epilogue.end()}, add->result,
                              kConvChannelAxis));
  TIM_RETURN_IF_ERROR(CheckTail(node, out.results.limits));
  return out;
}

Status CheckCodeTypes(const ir::KernelNode& node) {
  if (!HasRealSums(node) || node.epilogue.empty() ||
      !IsSum(node.epilogue.front())) {
    return CheckByteTypes(node);
  }
  const ir::DataType stored = node.epilogue.front().result.type;
  if (stored != ir::DataType::kInt8 && stored != ir::DataType::kUint8) {
    return Unimplemented(
        "a fused Add of float32 sums must make int8 or "
        "uint8, not ",
        ir::ToString(stored));
  }
  return CheckByteFactors(node);
}

void AddCodeEpilogue(const ir::KernelNode& node, const CodeEpilogue& epilogue,
                     Launch* launch) {
  const ir::TensorDesc& sums = node.anchor_output;
  launch->Output("output", node, 0);
  launch->Int("output_zero",
              sums.quantized() ? sums.quantization.ZeroPoint() : 0);
  if (HasRealSums(node)) {
    launch->Option("-DREAL_SUMS").Int("low", 0).Int("high", 0);
    launch->Applies(epilogue.sums.operators);
  } else {
    AddActivation(epilogue.sums, sums, launch);
  }
  if (epilogue.add < 0) return;
  const ir::TensorDesc& y = node.outputs[0];
  const BinaryProblem problem =
      ProblemOf(node, node.epilogue[epilogue.add], epilogue.residual);
  launch->Option("-DRESIDUAL")
      .Input("residual", node, epilogue.residual)
      .InPlace(node, epilogue.residual)
      .Applies(1 + epilogue.results.operators);
  Launch::Fields numbers = OperandNumbers(problem, y, launch);
  AddOutputNumbers("y", y, &numbers);
  const ir::Limits& limits = epilogue.results.limits;
  numbers.emplace_back("y_low", CodeOf(limits.low, y));
  numbers.emplace_back("y_high", CodeOf(limits.high, y));
  launch->Struct("numbers", numbers);
}

}  // namespace tim::ops
