#include "compiler/transposes/infer_layouts.h"

#include <algorithm>

#include "compiler/passes/passes.h"
#include "compiler/transposes/apply_axes.h"
#include "compiler/transposes/choose_axes.h"
#include "compiler/transposes/default_layouts.h"
#include "ir/op_schema.h"

namespace tim::compiler {
namespace {

// A user's kernel writes states in place: nothing gets between.
bool WritesState(const ir::Graph& graph, const ir::Node& node) {
  const auto& updates = graph.state_updates();
  return ir::HasUserKernel(node) &&
         std::any_of(updates.begin(), updates.end(), [&](const auto& update) {
           return std::count(node.outputs.begin(), node.outputs.end(),
                             update.value) != 0;
         });
}

Status Run(Module& module, const LayoutOptions& options) {
  TIM_RETURN_IF_ERROR(Verify(module));
  TIM_RETURN_IF_ERROR(InferInDefaultLayouts(module, options.arrival));
  TIM_ASSIGN_OR_RETURN(const std::vector<ir::NodeId> order,
                       module.graph.TopologicalOrder());
  const auto stays = [&](const ir::Node& node) {
    return (options.stays && options.stays(node)) ||
           WritesState(module.graph, node);
  };
  const Nets nets(module.graph, order, stays,
                  options.free_ports ? PortCost::kFree : PortCost::kCounted);
  return ApplyAxes(module, nets, ChooseAxes(nets, stays));
}

}  // namespace

Status InferLayouts(ir::Graph* graph, const ir::OpRegistry& registry,
                    const LayoutOptions& options) {
  CompileOptions compile_options;
  compile_options.lenient = options.lenient;
  Module module(std::move(*graph), registry, compile_options);
  TIM_RETURN_IF_ERROR(Run(module, options));
  *graph = std::move(module.graph);
  return OkStatus();
}

}  // namespace tim::compiler
