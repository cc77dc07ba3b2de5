#include "compiler/compiler.h"

#include "compiler/passes/passes.h"

namespace tim::compiler {
namespace {

struct Pass {
  const char* name;
  Status (*run)(Module& module);
};

Status ReportInferred(Module& module) {
  return module.options.inferred ? module.options.inferred(module.graph)
                                 : OkStatus();
}

constexpr Pass kPasses[] = {
    {"verify", Verify},
    {"infer", Infer},
    {"report what was inferred", ReportInferred},
    {"expand composites", ExpandComposites},
    {"sink views", SinkViews},
    {"simplify", Simplify},
    {"fold affine functions", FoldAffine},
    {"absorb padding", AbsorbPadding},
    {"compose maps", ComposeMaps},
    {"fuse", Fuse},
    {"choose kernels and layouts", Choose},
    {"lower", Lower},
    {"order", Order},
    {"plan memory", PlanMemory},
};

// What states hold before the first run is no constant to any pass.
void ForgetStates(ir::Graph* graph) {
  for (const ir::ValueId id : graph->ValueIds()) {
    ir::Value& value = graph->value(id);
    if (value.role == ir::Role::kState) value.constant = nullptr;
  }
}

Status RunPasses(Module& module) {
  for (const Pass& pass : kPasses) {
    TIM_RETURN_IF_ERROR(pass.run(module));
    if (module.options.dump_sink) {
      module.options.dump_sink(pass.name, module.graph.Dump());
    }
  }
  return OkStatus();
}

}  // namespace

Result<ir::Plan> Compile(ir::Graph graph, const ir::OpRegistry& registry,
                         const CompileOptions& options) {
  if (options.devices.empty() || !options.devices[0].runs_eval) {
    return TIM_INTERNAL("devices[0] must be the host");
  }
  ForgetStates(&graph);
  Module module(std::move(graph), registry, options);
  TIM_RETURN_IF_ERROR(RunPasses(module));
  return Emit(module);
}

Status InferGraph(ir::Graph* graph, const ir::OpRegistry& registry) {
  CompileOptions options;
  options.was_compiled = true;
  Module module(std::move(*graph), registry, options);
  Status status = Verify(module);
  if (status.ok()) status = Infer(module);
  *graph = std::move(module.graph);
  return status;
}

}  // namespace tim::compiler
