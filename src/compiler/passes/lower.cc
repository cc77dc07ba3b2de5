#include "compiler/passes/passes.h"
#include "compiler/pieces.h"

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

Status CheckScratch(const ir::Lowering& lowering) {
  const int steps = static_cast<int>(lowering.steps.size());
  for (const ir::ScratchSpec& scratch : lowering.scratch) {
    if (scratch.bytes >= 0 && 0 <= scratch.first &&
        scratch.first <= scratch.last && scratch.last < steps) {
      continue;
    }
    return TIM_INTERNAL("scratch of ", scratch.bytes, " bytes from step ",
                        scratch.first, " to ", scratch.last, " of ", steps);
  }
  return OkStatus();
}

Status CheckPacked(const ir::Lowering& lowering, const ir::KernelNode& view) {
  for (const ir::PackedConstant& packed : lowering.packed) {
    if (packed.bytes < 0 || !packed.pack) {
      return TIM_INTERNAL("packed constant '", packed.id, "' of ", packed.bytes,
                          " bytes", packed.pack ? "" : " without content");
    }
    for (const int source : packed.sources) {
      if (source >= 0 && source < static_cast<int>(view.constants.size()) &&
          view.constants[source] != nullptr) {
        continue;
      }
      return TIM_INTERNAL("packed constant '", packed.id, "' is made of input ",
                          source, ", which is no constant");
    }
  }
  return OkStatus();
}

Status CheckInPlace(const ir::Lowering& lowering, const ir::KernelNode& view) {
  for (const ir::InPlacePair& pair : lowering.in_place) {
    if (pair.input >= 0 && pair.output >= 0 &&
        pair.input < static_cast<int>(view.inputs.size()) &&
        pair.output < static_cast<int>(view.outputs.size())) {
      continue;
    }
    return TIM_INTERNAL("output ", pair.output, " in place of input ",
                        pair.input, " of ", view.inputs.size(), " and ",
                        view.outputs.size());
  }
  return OkStatus();
}

Status CheckLowering(const ir::Lowering& lowering, const ir::KernelNode& view) {
  if (lowering.steps.empty()) return TIM_INTERNAL("a lowering without steps");
  if (lowering.applied != static_cast<int>(view.epilogue.size())) {
    return TIM_INTERNAL("a lowering applies ", lowering.applied, " of ",
                        view.epilogue.size(), " fused operators");
  }
  TIM_RETURN_IF_ERROR(CheckScratch(lowering));
  TIM_RETURN_IF_ERROR(CheckPacked(lowering, view));
  TIM_RETURN_IF_ERROR(CheckInPlace(lowering, view));
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
    if (placement.kind == RunKind::kControl) {
      auto lowering = LowerControl(module, graph.node(id), placement.device);
      if (!lowering.ok()) {
        return lowering.status().WithContext(Describe(graph, graph.node(id)));
      }
      module.lowerings[id] = *std::move(lowering);
    }
    if (placement.kind != RunKind::kKernel) continue;
    const ir::KernelNode view = ViewOf(module, graph, graph.node(id));
    const ir::DeviceInfo& device = module.device(placement.device);
    Result<ir::Lowering> lowering =
        placement.in_pieces
            ? LowerPieces(*placement.kernel,
                          CutToPieces(view, module.options.piece_elements,
                                      device.alignment),
                          device)
            : placement.kernel->lower(placement.problem, view, device);
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
