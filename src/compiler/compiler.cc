#include "compiler/compiler.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/trace.h"
#include "compiler/device_room.h"
#include "compiler/kernel_reach.h"
#include "compiler/part_optimizer.h"
#include "compiler/passes/passes.h"
#include "compiler/quantization/fold_quantization.h"
#include "compiler/whole_composites.h"

namespace tim::compiler {
namespace {

struct Pass {
  const char* name;
  Status (*run)(Module& module);
};

// What a device's own compiler makes of the graph before all else.
Status OptimizeFirst(Module& module) { return OptimizeWhole(module, 0); }

// The fold of conversions, before the constants among them become real values.
Status FoldConversions(Module& module) {
  return FoldQuantization(&module.graph).status();
}

constexpr Pass kInference[] = {
    {"verify", Verify},
    {"infer", InferShapes},
};

constexpr Pass kOpening[] = {
    {"optimize", OptimizeFirst},
    {"expand composites", ExpandComposites},
};

constexpr Pass kClaiming[] = {
    {"fold quantization", FoldConversions},
    {"sink views", SinkViews},
    {"simplify", Simplify},
    {"recognize operators", Recognize},
    {"fold affine functions", FoldAffine},
    {"absorb padding", AbsorbPadding},
    {"compose maps", ComposeMaps},
    {"claim parts", ClaimParts},
};

constexpr Pass kChoosing[] = {
    {"assign devices", AssignDevices},
    {"split batch", SplitBatch},
    {"fuse", Fuse},
    {"choose kernels and layouts", Choose},
};

constexpr Pass kPlanning[] = {
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

Status RunPasses(Module& module, std::span<const Pass> passes) {
  for (const Pass& pass : passes) {
    {
      const TraceSpan span("compile", pass.name);
      TIM_RETURN_IF_ERROR(pass.run(module));
    }
    if (module.options.dump_sink && !module.is_trial) {
      module.options.dump_sink(pass.name, module.graph);
    }
  }
  return OkStatus();
}

}  // namespace

Result<InferredGraph> Infer(ir::Graph graph, const ir::OpRegistry& registry,
                            const CompileOptions& options) {
  const TraceSpan span("compile", "Infer", graph.name());
  ForgetStates(&graph);
  Module module(std::move(graph), registry, options);
  TIM_RETURN_IF_ERROR(RunPasses(module, kInference));
  return InferredGraph{std::move(module.graph),
                       std::move(module.declared_reshapes)};
}

namespace {

// One graph on its way to a plan.
class Compilation {
 public:
  // \param limits bytes that devices may hold, see Module::memory_limits.
  Compilation(std::vector<int64_t> limits, InferredGraph inferred,
              const ir::OpRegistry& registry, const CompileOptions& options)
      : limits_(std::move(limits)),
        inferred_(std::move(inferred)),
        registry_(registry),
        options_(options) {}

  Result<ir::Plan> Run() {
    WholeComposites whole;
    if (MayStayWhole(inferred_.graph, registry_, options_)) {
      whole = FindWhole([this](const auto& one) { return Try(one); },
                        options_.policy.graph_parts);
    }
    std::unique_ptr<Module> module;
    TIM_RETURN_IF_ERROR(ChooseFor(std::move(whole), Mode::kFinal, &module));
    TIM_RETURN_IF_ERROR(RunPasses(*module, kPlanning));
    const TraceSpan emit("compile", "emit");
    TIM_ASSIGN_OR_RETURN(ir::Plan plan, Emit(*module));
    TIM_RETURN_IF_ERROR(CheckKernelReach(plan));
    return plan;
  }

 private:
  enum class Mode : uint8_t { kTrial, kFinal };

  WholeTrial Try(const WholeComposites& whole) {
    std::unique_ptr<Module> module;
    const Status chosen = ChooseFor(whole, Mode::kTrial, &module);
    WholeTrial trial;
    trial.whole = module->whole;
    trial.kept = module->kept_whole;
    if (chosen.ok()) trial.predicted_us = PredictedMicroseconds(*module);
    return trial;
  }

  // Compiles the graph as far as to the choice of kernels, or to where that
  // fails.  A trial of all composites fails where no compiler claims any.
  Status ChooseFor(WholeComposites whole, Mode mode,
                   std::unique_ptr<Module>* result) {
    const bool of_all = whole.all_but && whole.names.empty();
    while (true) {
      const bool last = mode == Mode::kFinal && whole.none();
      *result = std::make_unique<Module>(
          last ? std::move(inferred_.graph) : inferred_.graph, registry_,
          options_);
      Module* const module = result->get();
      module->declared_reshapes = inferred_.declared_reshapes;
      module->memory_limits = limits_;
      module->whole = whole;
      module->is_trial = mode == Mode::kTrial;
      TIM_RETURN_IF_ERROR(RunPasses(*module, kOpening));
      if (mode == Mode::kTrial && of_all && module->kept_whole.empty()) {
        return NotFound("no compiler claims a composite");
      }
      TIM_RETURN_IF_ERROR(RunPasses(*module, kClaiming));
      const std::vector<std::string> left = LeftWhole(*module);
      if (left.empty()) return RunPasses(*module, kChoosing);
      for (const std::string& name : left) whole.Open(name);
    }
  }

  // Composites that were kept for a claim and are in no part.
  static std::vector<std::string> LeftWhole(const Module& module) {
    std::vector<std::string> left;
    for (const ir::NodeId id : module.graph.NodeIds()) {
      const std::string& name = module.graph.node(id).name;
      if (module.kept_whole.contains(name)) left.push_back(name);
    }
    return left;
  }

  const std::vector<int64_t> limits_;
  InferredGraph inferred_;
  const ir::OpRegistry& registry_;
  const CompileOptions& options_;
};

// The division among devices estimates what a device has to hold: if one has no
// room for what comes out, it is tried with less.
Result<ir::Plan> CompileAmong(const InferredGraph& inferred,
                              const ir::OpRegistry& registry,
                              const CompileOptions& options) {
  constexpr int kTries = 4;
  std::vector<int64_t> limits = RoomOf(options.devices);
  for (int left = kTries;; --left) {
    auto plan = Compilation(limits, inferred, registry, options).Run();
    const bool full = plan.status().code() == StatusCode::kOutOfMemory;
    if (!full || left == 1) return plan;
    for (int64_t& limit : limits) limit -= limit / 4;
  }
}

}  // namespace

Result<ir::Plan> Compile(InferredGraph inferred, const ir::OpRegistry& registry,
                         const CompileOptions& options) {
  if (options.devices.empty() || !options.devices[0].runs_eval) {
    return TIM_INTERNAL("devices[0] must be the host");
  }
  const TraceSpan span("compile", "passes of", inferred.graph.name());
  if (options.devices.size() > 2) {
    return CompileAmong(inferred, registry, options);
  }
  return Compilation({}, std::move(inferred), registry, options).Run();
}

Result<ir::Plan> Compile(ir::Graph graph, const ir::OpRegistry& registry,
                         const CompileOptions& options) {
  TIM_ASSIGN_OR_RETURN(InferredGraph inferred,
                       Infer(std::move(graph), registry, options));
  return Compile(std::move(inferred), registry, options);
}

Status InferGraph(ir::Graph* graph, const ir::OpRegistry& registry) {
  CompileOptions options;
  options.was_compiled = true;
  Module module(std::move(*graph), registry, options);
  Status status = Verify(module);
  if (status.ok()) status = InferShapes(module);
  *graph = std::move(module.graph);
  return status;
}

}  // namespace tim::compiler
