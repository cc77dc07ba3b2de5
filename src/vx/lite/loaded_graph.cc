#include "vx/lite/loaded_graph.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/options.h"
#include "binary/graph_body.h"
#include "compiler/compiler.h"
#include "ops/builtin.h"
#include "runtime/compile_options.h"
#include "runtime/executable.h"
#include "runtime/stored_plan.h"
#include "vx/core/run_profiles.h"

namespace tim::lite {
namespace {

using device::Devices;

compiler::CompileOptions OptionsFor(const Devices& devices) {
  compiler::CompileOptions options = runtime::CompileOptionsFor(devices);
  options.was_compiled = true;
  options.strict = GetOptions().strict;
  return options;
}

std::vector<ir::Value> StatesOf(const ir::Graph& graph) {
  std::vector<ir::Value> states;
  for (const ir::ValueId id : graph.ValueIds()) {
    const ir::Value& value = graph.value(id);
    if (value.role == ir::Role::kState) states.push_back(value);
  }
  return states;
}

const ir::Value* FindState(std::span<const ir::Value> states,
                           const std::string& name) {
  const auto found =
      std::find_if(states.begin(), states.end(),
                   [&](const ir::Value& state) { return state.name == name; });
  return found == states.end() ? nullptr : &*found;
}

}  // namespace

Result<std::unique_ptr<LoadedGraph>> LoadedGraph::Create(
    binary::Blob blob, Devices devices,
    std::shared_ptr<device::BinaryStore> programs) {
  std::unique_ptr<LoadedGraph> loaded(new LoadedGraph(std::move(blob)));
  runtime::Surroundings surroundings = {
      .devices = std::move(devices),
      .store = runtime::WithPrograms(loaded->blob_, std::move(programs))};
  if (loaded->UseStored(surroundings)) {
    TIM_RETURN_IF_ERROR(loaded->WriteStoredStates());
  } else {
    TIM_RETURN_IF_ERROR(loaded->Compile(std::move(surroundings)));
  }
  static_cast<void>(vx::ProfileIfAsked(*loaded->graph_));
  return loaded;
}

bool LoadedGraph::UseStored(const runtime::Surroundings& surroundings) {
  const ir::PlanOptions options = {.strict = GetOptions().strict};
  auto plan = runtime::UsablePlan(blob_, surroundings.devices, options);
  if (!plan) return false;
  auto graph = runtime::CompiledGraph::Load(*std::move(plan), surroundings);
  if (graph.ok()) {
    graph_ = *std::move(graph);
    return true;
  }
  TIM_LOG(kInfo, "binary graph ", blob_.graph_name,
          " is compiled anew: its plan cannot run: ", graph.status().message());
  return false;
}

Result<ir::Graph> LoadedGraph::ReadGraph(ir::OpRegistry* registry) const {
  TIM_ASSIGN_OR_RETURN(
      const ir::Graph graph,
      binary::ReadBlobGraph(blob_, ops::BuiltinOperators(), registry, "lite."));
  return binary::WithoutAbsent(graph);
}

Status LoadedGraph::Compile(runtime::Surroundings surroundings) {
  auto registry = std::make_shared<ir::OpRegistry>(&ops::BuiltinOperators());
  TIM_ASSIGN_OR_RETURN(const ir::Graph graph, ReadGraph(registry.get()));
  const std::vector<ir::Value> states = StatesOf(graph);
  surroundings.operators = std::move(registry);
  const compiler::CompileOptions options = OptionsFor(surroundings.devices);
  TIM_ASSIGN_OR_RETURN(
      const compiler::InferredGraph inferred,
      compiler::Infer(graph, *surroundings.operators, options));
  TIM_ASSIGN_OR_RETURN(
      graph_, runtime::CompiledGraph::Create(inferred, options, surroundings));
  return WriteStates(states);
}

Status LoadedGraph::WriteStoredStates() {
  if (graph_->plan().states.empty()) return OkStatus();
  ir::OpRegistry registry(&ops::BuiltinOperators());
  TIM_ASSIGN_OR_RETURN(const ir::Graph graph, ReadGraph(&registry));
  return WriteStates(StatesOf(graph));
}

Status LoadedGraph::WriteStates(std::span<const ir::Value> states) {
  const auto& planned = graph_->plan().states;
  for (size_t i = 0; i < planned.size(); ++i) {
    const ir::Value* state = FindState(states, planned[i].name);
    if (state == nullptr || state->desc.shape != planned[i].desc.shape ||
        state->desc.type != planned[i].desc.type) {
      return InvalidArgument("the plan's state ", planned[i].name,
                             " is none of the binary graph's");
    }
    if (state->constant == nullptr) continue;
    TIM_RETURN_IF_ERROR(graph_->states()->Write(static_cast<int>(i),
                                                state->constant->bytes.data()));
  }
  return OkStatus();
}

}  // namespace tim::lite
