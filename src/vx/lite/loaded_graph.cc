#include "vx/lite/loaded_graph.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/options.h"
#include "binary/graph_body.h"
#include "compiler/compiler.h"
#include "ops/registered.h"
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

// Null where none is asked for, or none can be made.
std::shared_ptr<vx::GraphDump> DumpIfAsked(const std::string& graph) {
  const DumpOptions& options = GetOptions().dump;
  if (options.directory.empty()) return nullptr;
  auto dump = vx::GraphDump::Create(options, graph);
  if (dump.ok()) return *std::move(dump);
  TIM_LOG(kError, dump.status().WithContext("TIMCL_DUMP").message());
  return nullptr;
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
    std::shared_ptr<device::BinaryStore> programs, Stored stored) {
  std::unique_ptr<LoadedGraph> loaded(new LoadedGraph(std::move(blob)));
  runtime::Surroundings surroundings = {.devices = std::move(devices),
                                        .store = std::move(programs)};
  loaded->dump_ = DumpIfAsked(loaded->blob_.graph_name);
  if (stored == Stored::kIgnored) {
    loaded->stored_plan_ = FailedPrecondition("it was to be ignored");
  } else if (loaded->dump_ != nullptr) {
    loaded->stored_plan_ =
        FailedPrecondition("TIMCL_DUMP shows how it is compiled");
  } else {
    surroundings.store =
        runtime::WithPrograms(loaded->blob_, std::move(surroundings.store));
    loaded->stored_plan_ = loaded->UseStored(surroundings);
  }
  if (loaded->stored_plan_.ok()) {
    TIM_RETURN_IF_ERROR(loaded->WriteStoredStates());
  } else {
    if (!loaded->blob_.plan.empty()) {
      TIM_LOG(kInfo, "binary graph ", loaded->blob_.graph_name,
              " is compiled anew: ", loaded->stored_plan_.message());
    }
    TIM_RETURN_IF_ERROR(loaded->Compile(std::move(surroundings)));
  }
  static_cast<void>(vx::ProfileIfAsked(*loaded->graph_));
  return loaded;
}

Status LoadedGraph::UseStored(const runtime::Surroundings& surroundings) {
  const ir::PlanOptions options = {.strict = GetOptions().strict};
  auto plan = runtime::StoredPlan(blob_, surroundings.devices, options);
  if (!plan.ok()) return plan.status().WithContext("its plan is not for here");
  auto graph = runtime::CompiledGraph::Load(*std::move(plan), surroundings);
  if (!graph.ok()) return graph.status().WithContext("its plan cannot run");
  graph_ = *std::move(graph);
  return OkStatus();
}

Result<ir::Graph> LoadedGraph::ReadGraph(ir::OpRegistry* registry) const {
  TIM_ASSIGN_OR_RETURN(
      const ir::Graph graph,
      binary::ReadBlobGraph(blob_, ops::KnownOperators(), registry, "lite."));
  return binary::WithoutAbsent(graph);
}

Status LoadedGraph::Compile(runtime::Surroundings surroundings) {
  auto registry = std::make_shared<ir::OpRegistry>(&ops::KnownOperators());
  TIM_ASSIGN_OR_RETURN(const ir::Graph graph, ReadGraph(registry.get()));
  const std::vector<ir::Value> states = StatesOf(graph);
  surroundings.operators = std::move(registry);
  compiler::CompileOptions options = OptionsFor(surroundings.devices);
  if (dump_ != nullptr) vx::GraphDump::Observe(dump_, &options);
  TIM_ASSIGN_OR_RETURN(
      const compiler::InferredGraph inferred,
      compiler::Infer(graph, *surroundings.operators, options));
  if (dump_ != nullptr) dump_->AddGraph(inferred.graph);
  TIM_ASSIGN_OR_RETURN(
      graph_, runtime::CompiledGraph::Create(inferred, options, surroundings));
  if (dump_ != nullptr) dump_->AddPlan(graph_->plan());
  return WriteStates(states);
}

Status LoadedGraph::Run(std::span<const runtime::PortMemory> inputs,
                        std::span<const runtime::PortMemory> outputs) {
  const auto dump =
      dump_ != nullptr ? dump_->BeginRun(graph_->plan()) : nullptr;
  if (dump == nullptr) return graph_->Run(inputs, outputs);
  dump->AddInputs(inputs);
  const Status status = graph_->RunObserved(inputs, outputs, *dump);
  if (status.ok()) dump->AddOutputs(outputs);
  dump_->EndRun(*dump);
  return status;
}

Status LoadedGraph::WriteStoredStates() {
  if (graph_->plan().states.empty()) return OkStatus();
  ir::OpRegistry registry(&ops::KnownOperators());
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
