// Kernels of a sum of rows that is normalised and read by nobody else: the sum
// is not stored.  Where a kernel before it takes the sum, it is not asked.
#include <span>
#include <vector>

#include "ir/typed_kernel.h"
#include "ops/elements/operands.h"
#include "ops/launch/launch.h"
#include "ops/normalization/norm_rows.h"
#include "ops/normalization/norm_rows_launch.h"

namespace tim::ops {
namespace {

// Extents of a summand that is one of rows, or is broadcast along the slowest
// axes: how many rows it has; 0: it is neither.
int64_t SummandRows(const ir::Shape& summand, const ir::Shape& sum) {
  int64_t rows = 1;
  bool broadcast = false;
  if (summand.DimOr1(0) != sum[0]) return 0;
  for (int axis = 1; axis < sum.rank(); ++axis) {
    const int64_t extent = summand.DimOr1(axis);
    if (extent != sum[axis] && extent != 1) return 0;
    if (broadcast && extent != 1) return 0;
    broadcast |= extent != sum[axis];
    rows *= extent;
  }
  return rows;
}

// The operands of an Add of float32.
Status TakeSum(const ir::KernelNode& node, RowNormProblem* out) {
  const ir::TensorDesc& sum = node.anchor_output;
  for (const ir::TensorDesc* desc :
       {&node.inputs[0], &node.inputs[1], &sum, &node.outputs[0]}) {
    if (desc->type == ir::DataType::kFloat32) continue;
    return Unimplemented("sums float32, not ", ir::ToString(desc->type));
  }
  out->in = node.inputs[0].shape == sum.shape ? 0 : 1;
  out->summand = 1 - out->in;
  const ir::Shape& shape = node.inputs[out->summand].shape;
  if (node.inputs[out->in].shape == sum.shape) {
    out->summand_rows = SummandRows(shape, sum.shape);
    if (out->summand_rows > 0) return OkStatus();
  }
  return Unimplemented("takes whole rows of a sum of shape ",
                       sum.shape.ToString());
}

// The operator as a reader of a value of `input`, with its operands among those
// of `node`.
Result<NormRows> RowsOfStep(const RowNormOp& op, const ir::KernelNode& node,
                            const ir::EpilogueStep& step,
                            const ir::TensorDesc& input,
                            std::vector<int>* parameters) {
  std::vector<const ir::TensorDesc*> inputs = {&input};
  for (size_t i = 1; i < step.operands.size(); ++i) {
    if (step.node->inputs[i] == ir::kNone) continue;
    if (step.operands[i] == ir::kRunning) {
      return Unimplemented("the sum is a parameter of ", op.name, ", too");
    }
    parameters->push_back(step.operands[i]);
    inputs.push_back(&node.inputs[step.operands[i]]);
  }
  if (parameters->size() == 1) parameters->push_back(parameters->front());
  return op.rows({*step.node, inputs, {}});
}

Result<RowNormProblem> AnalyzeSum(const RowNormOp& op,
                                  const ir::KernelNode& node,
                                  const ir::DeviceInfo& device) {
  if (node.epilogue.empty() || node.epilogue[0].node->schema->name != op.name ||
      node.epilogue[0].operands[0] != ir::kRunning) {
    return Unimplemented("takes a sum with the ", op.name, " that reads it");
  }
  RowNormProblem problem;
  TIM_RETURN_IF_ERROR(TakeSum(node, &problem));
  TIM_RETURN_IF_ERROR(CheckKernelOperands(node));
  TIM_ASSIGN_OR_RETURN(
      problem.rows, RowsOfStep(op, node, node.epilogue[0], node.anchor_output,
                               &problem.parameters));
  if (problem.rows.inner != 1 || problem.rows.count < kShortRow) {
    return Unimplemented("takes rows of ", kShortRow,
                         " neighbours or more, not of ", problem.rows.count);
  }
  TIM_RETURN_IF_ERROR(CheckSpread(problem.rows, op.name, device));
  const auto behind = std::span(node.epilogue).subspan(1);
  TIM_ASSIGN_OR_RETURN(problem.activation,
                       RowActivation(problem.rows, node, behind,
                                     node.epilogue[0].result, device));
  problem.operators = static_cast<int>(node.epilogue.size());
  return problem;
}

// Work-items of GPUs share a row.
bool TakesGroups(const ir::DeviceInfo& device) {
  return CheckRowGroups(device).ok();
}

double CostOfSum(const RowNormOp& op, const ir::KernelNode& node,
                 const ir::DeviceInfo& device) {
  std::vector<const ir::TensorDesc*> inputs;
  for (const ir::TensorDesc& input : node.inputs) inputs.push_back(&input);
  const ir::TensorDesc* const outputs[] = {&node.outputs[0]};
  ir::ComputeEstimate estimate =
      RowNormEstimate(op.kind, {*node.anchor, inputs, outputs});
  estimate.flops +=
      static_cast<double>(node.anchor_output.shape.NumElements().value_or(0));
  return EstimateMicroseconds(estimate, device,
                              TakesGroups(device) ? SharedRowNormPrice(op.kind)
                                                  : RowNormPrice(op.kind));
}

}  // namespace

ir::KernelDef RowNormSumKernel(const RowNormOp& op) {
  return ir::TypedKernel<RowNormProblem>{
      .op = "tim.Add",
      .name = LowerCase(op.name) + "_sum",
      .takes_epilogue = true,
      .analyze =
          [op](const ir::KernelNode& node, const ir::DeviceInfo& device) {
            return AnalyzeSum(op, node, device);
          },
      .cost =
          [op](const RowNormProblem&, const ir::KernelNode& node,
               const ir::DeviceInfo& device) {
            return CostOfSum(op, node, device);
          },
      .lower =
          [op](const RowNormProblem& problem, const ir::KernelNode& node,
               const ir::DeviceInfo& device) {
            return TakesGroups(device) ? LowerSharedRows(op, problem, node)
                                       : LowerRows(op, problem, node, device);
          }};
}

}  // namespace tim::ops
