#include "compiler/passes/passes.h"

namespace tim::compiler {
namespace {

using ir::LoweredOperand;

Status CheckOperand(const ir::Lowering& lowering, const ir::KernelNode& view,
                    const LoweredOperand& operand) {
  size_t limit = 0;
  switch (operand.kind) {
    case LoweredOperand::Kind::kInput:
      limit = view.inputs.size();
      break;
    case LoweredOperand::Kind::kOutput:
      limit = view.outputs.size();
      break;
    case LoweredOperand::Kind::kScratch:
      limit = lowering.scratch.size();
      break;
    case LoweredOperand::Kind::kPacked:
      limit = lowering.packed.size();
      break;
  }
  if (operand.index < 0 || static_cast<size_t>(operand.index) >= limit) {
    return TIM_INTERNAL("a lowered step names operand ", operand.index, " of ",
                        limit);
  }
  const bool absent = (operand.kind == LoweredOperand::Kind::kInput &&
                       view.node->inputs[operand.index] == ir::kNone) ||
                      (operand.kind == LoweredOperand::Kind::kOutput &&
                       view.node->outputs[operand.index] == ir::kNone);
  if (!absent) return OkStatus();
  return TIM_INTERNAL("a lowered step names operand ", operand.index,
                      ", which is absent");
}

Status CheckLowering(const ir::Lowering& lowering, const ir::KernelNode& view) {
  for (const ir::LoweredStep& step : lowering.steps) {
    if (step.operands.size() != step.written.size()) {
      return TIM_INTERNAL("a lowered step does not say what it writes");
    }
    for (const LoweredOperand& operand : step.operands) {
      TIM_RETURN_IF_ERROR(CheckOperand(lowering, view, operand));
    }
  }
  return OkStatus();
}

}  // namespace

Status Lower(Module& module) {
  const ir::Graph& graph = module.graph;
  module.lowerings.resize(graph.node_id_limit());
  for (const ir::NodeId id : graph.NodeIds()) {
    const Placement& placement = module.placements[id];
    if (placement.kind != RunKind::kKernel) continue;
    const ir::KernelNode view = ir::MakeKernelNode(graph, graph.node(id));
    Result<ir::Lowering> lowering =
        placement.kernel->lower(view, module.device(placement.device));
    Status status = lowering.status();
    if (lowering.ok()) status = CheckLowering(*lowering, view);
    if (!status.ok()) {
      return status.WithContext(StrCat(Describe(graph, graph.node(id)),
                                       ", kernel ", placement.kernel->name));
    }
    module.lowerings[id] = *std::move(lowering);
  }
  return OkStatus();
}

}  // namespace tim::compiler
