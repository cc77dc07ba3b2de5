// Kernels of norm_rows.h.
#include <vector>

#include "ir/typed_kernel.h"
#include "ops/elements/operands.h"
#include "ops/elements/shapes.h"
#include "ops/launch/blocked.h"
#include "ops/launch/launch.h"
#include "ops/normalization/norm_rows.h"
#include "ops/normalization/norm_rows_launch.h"

namespace tim::ops {
namespace {

Result<RowNormProblem> Analyze(const RowNormOp& op, const ir::KernelNode& node,
                               const ir::DeviceInfo& device) {
  TIM_RETURN_IF_ERROR(CheckKernelOperands(node));
  RowNormProblem problem;
  TIM_ASSIGN_OR_RETURN(problem.rows, op.rows(AnchorView(node).view()));
  TIM_ASSIGN_OR_RETURN(problem.activation,
                       RowActivation(problem.rows, node, node.epilogue,
                                     node.anchor_output, device));
  problem.operators = static_cast<int>(node.epilogue.size());
  if (problem.rows.steps.empty()) return problem;
  problem.parameters = {1, op.kind == RowNorm::kRms ? 1 : 2};
  return problem;
}

// Rows that are the channels' planes may lie in blocks.
std::vector<ir::LayoutTuple> LayoutsOfPlanes(const RowNormProblem&,
                                             const ir::KernelNode& node,
                                             const ir::DeviceInfo&) {
  std::vector<ir::LayoutTuple> out = {ir::DenseLayouts(node)};
  const ir::TensorDesc& output = node.outputs[0];
  if (!FitsChannelBlocks(node.inputs[0]) || !FitsChannelBlocks(output) ||
      !ConversionKeepsZero(output, output, kernels::ConvertRule::kBits)) {
    return out;
  }
  ir::LayoutTuple blocks = out[0];
  blocks.inputs[0] = blocks.outputs[0] = ChannelBlocks();
  out.push_back(std::move(blocks));
  return out;
}

}  // namespace

ir::KernelDef RowNormKernel(const RowNormOp& op) {
  ir::TypedKernel<RowNormProblem> def{
      .op = "tim." + op.name,
      .name = LowerCase(op.name),
      .takes_epilogue = true,
      .analyze =
          [op](const ir::KernelNode& node, const ir::DeviceInfo& device) {
            return Analyze(op, node, device);
          },
      .cost = CostAt(RowNormPrice(op.kind)),
      .lower =
          [op](const RowNormProblem& problem, const ir::KernelNode& node,
               const ir::DeviceInfo& device) {
            return LowerRows(op, problem, node, device);
          }};
  if (op.planes) def.layouts = LayoutsOfPlanes;
  return def;
}

ir::KernelDef RowNormSimtKernel(const RowNormOp& op) {
  return ir::TypedKernel<RowNormProblem>{
      .op = "tim." + op.name,
      .name = LowerCase(op.name) + "_simt",
      .takes_epilogue = true,
      .analyze = [op](const ir::KernelNode& node,
                      const ir::DeviceInfo& device) -> Result<RowNormProblem> {
        TIM_RETURN_IF_ERROR(CheckRowGroups(device));
        return Analyze(op, node, device);
      },
      .cost = CostAt(SharedRowNormPrice(op.kind)),
      .lower =
          [op](const RowNormProblem& problem, const ir::KernelNode& node,
               const ir::DeviceInfo&) {
            return LowerSharedRows(op, problem, node);
          }};
}

}  // namespace tim::ops
