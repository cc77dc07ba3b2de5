// Compiles graphs of files.
#include "tools/timcl/compiled_file.h"

#include <utility>
#include <vector>

#include "base/options.h"
#include "compiler/compiler.h"
#include "ops/builtin.h"
#include "runtime/compile_options.h"
#include "tools/timcl/graph_file.h"
#include "vx/core/user_programs.h"

namespace tim::tool {
namespace {

// States of `graph` with what they hold before the first run, which compiling
// drops.
std::vector<ir::Value> StatesOf(const ir::Graph& graph) {
  std::vector<ir::Value> states;
  for (const ir::ValueId id : graph.ValueIds()) {
    const ir::Value& value = graph.value(id);
    if (value.role == ir::Role::kState && value.constant != nullptr) {
      states.push_back(value);
    }
  }
  return states;
}

Status WriteStates(const std::vector<ir::Value>& states,
                   runtime::CompiledGraph& compiled) {
  const auto& planned = compiled.plan().states;
  for (size_t i = 0; i < planned.size(); ++i) {
    for (const ir::Value& state : states) {
      if (state.name != planned[i].name) continue;
      TIM_RETURN_IF_ERROR(compiled.states()->Write(
          static_cast<int>(i), state.constant->bytes.data()));
    }
  }
  return OkStatus();
}

}  // namespace

Result<CompiledFile> CompileGraph(
    ir::Graph graph, std::shared_ptr<const ir::OpRegistry> registry,
    const device::Devices& devices, bool strict,
    const runtime::Division& division) {
  compiler::CompileOptions options = runtime::CompileOptionsFor(devices);
  options.was_compiled = true;
  options.strict = strict;
  division.AddTo(&options);
  const std::vector<ir::Value> states = StatesOf(graph);
  TIM_ASSIGN_OR_RETURN(compiler::InferredGraph inferred,
                       compiler::Infer(std::move(graph), *registry, options));
  const runtime::Surroundings surroundings = {
      .devices = devices, .store = vx::UserPrograms(), .operators = registry};
  CompiledFile file;
  TIM_ASSIGN_OR_RETURN(file.compiled, runtime::CompiledGraph::Create(
                                          inferred, options, surroundings));
  TIM_RETURN_IF_ERROR(WriteStates(states, *file.compiled));
  file.registry = std::move(registry);
  file.graph = std::move(inferred.graph);
  return file;
}

Result<CompiledFile> CompileFile(const binary::Blob& blob,
                                 const device::Devices& devices,
                                 const runtime::Division& division) {
  auto registry = std::make_shared<ir::OpRegistry>(&ops::BuiltinOperators());
  TIM_ASSIGN_OR_RETURN(ir::Graph graph, GraphOf(blob, registry.get()));
  return CompileGraph(std::move(graph), registry, devices, GetOptions().strict,
                      division);
}

}  // namespace tim::tool
