#include "vx/lite/loaded_graph.h"

#include <string>
#include <utility>

#include "base/options.h"
#include "binary/graph_body.h"
#include "compiler/compiler.h"
#include "ops/builtin.h"
#include "runtime/compile_options.h"
#include "runtime/executable.h"

namespace tim::lite {
namespace {

using Devices = std::vector<std::shared_ptr<device::Device>>;

Result<ir::Plan> Compile(const ir::Graph& graph, const ir::OpRegistry& registry,
                         const Devices& devices) {
  compiler::CompileOptions options = runtime::CompileOptionsFor(devices);
  options.strict = GetOptions().strict;
  return compiler::Compile(graph, registry, options);
}

// A constant per state, by name.
const ir::Value* FindState(const ir::Graph& graph, const std::string& name) {
  for (const ir::ValueId id : graph.ValueIds()) {
    const ir::Value& value = graph.value(id);
    if (value.role == ir::Role::kState && value.name == name) return &value;
  }
  return nullptr;
}

template <typename T>
std::vector<T> Used(std::span<T const> memory,
                    const std::vector<binary::Port>& ports) {
  std::vector<T> used;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (!ports[i].unused) used.push_back(memory[i]);
  }
  return used;
}

}  // namespace

LoadedGraph::LoadedGraph(binary::Blob blob)
    : blob_(std::move(blob)), registry_(&ops::BuiltinOperators()) {}

Result<std::unique_ptr<LoadedGraph>> LoadedGraph::Create(
    binary::Blob blob, Devices devices,
    std::shared_ptr<device::BinaryStore> programs) {
  std::unique_ptr<LoadedGraph> loaded(new LoadedGraph(std::move(blob)));
  TIM_ASSIGN_OR_RETURN(
      const ir::Graph read,
      binary::ReadBlobGraph(loaded->blob_, ops::BuiltinOperators(),
                            &loaded->registry_, "lite."));
  const ir::Graph graph = binary::WithoutAbsent(read);
  TIM_ASSIGN_OR_RETURN(ir::Plan plan,
                       Compile(graph, loaded->registry_, devices));
  // Not owned: it lives as long as the executable.
  std::shared_ptr<const ir::OpRegistry> operators(std::shared_ptr<void>(),
                                                  &loaded->registry_);
  TIM_ASSIGN_OR_RETURN(
      loaded->executable_,
      runtime::Executable::Create(std::move(plan), std::move(devices),
                                  std::move(programs), std::move(operators)));
  TIM_ASSIGN_OR_RETURN(loaded->context_,
                       runtime::ExecutionContext::Create(loaded->executable_));
  TIM_RETURN_IF_ERROR(loaded->WriteStates(graph));
  return loaded;
}

Status LoadedGraph::WriteStates(const ir::Graph& graph) {
  const auto& states = executable_->plan().states;
  if (states.empty()) return OkStatus();
  TIM_ASSIGN_OR_RETURN(states_, runtime::StateSet::Create(executable_));
  for (size_t i = 0; i < states.size(); ++i) {
    const ir::Value* state = FindState(graph, states[i].name);
    if (state == nullptr || state->desc.shape != states[i].desc.shape ||
        state->desc.type != states[i].desc.type) {
      return InvalidArgument("the plan's state ", states[i].name,
                             " is none of the binary graph's");
    }
    if (state->constant == nullptr) continue;
    TIM_RETURN_IF_ERROR(
        states_->Write(static_cast<int>(i), state->constant->bytes.data()));
  }
  return OkStatus();
}

Status LoadedGraph::Run(std::span<const void* const> inputs,
                        std::span<void* const> outputs) {
  return context_->Run(Used<const void*>(inputs, blob_.inputs),
                       Used<void*>(outputs, blob_.outputs), states_.get());
}

}  // namespace tim::lite
