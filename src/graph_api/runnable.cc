// Compiles an inner graph with the ports of a partition, and keeps the compiled
// graphs that runs have used.
#include "graph_api/runnable.h"

#include <set>
#include <utility>

#include "base/options.h"
#include "compiler/compiler.h"
#include "compiler/quantization/fold_quantization.h"
#include "graph_api/absorb_transposes.h"
#include "graph_api/expand_channels.h"
#include "graph_api/offload.h"
#include "ops/builtin.h"
#include "ops/registered.h"
#include "runtime/compile_options.h"

namespace tim::graph {
namespace {

// Compiled graphs that are kept while nobody runs them.
constexpr size_t kMostIdle = 8;

compiler::CompileOptions OptionsFor(const Engine& engine) {
  compiler::CompileOptions options =
      runtime::CompileOptionsFor(engine.devices());
  options.strict = GetOptions().strict;
  // The rules of this API have been checked; those of the inner operators would
  // speak of nodes that the client has not made.
  options.was_compiled = true;
  return options;
}

bool IsRead(const ir::Graph& graph, ir::ValueId id) {
  return !graph.value(id).uses.empty() || graph.IsOutput(id);
}

// An output of its own: not an input, a constant or another output.
Result<ir::ValueId> OwnValue(ir::Graph& graph, ir::ValueId id) {
  const ir::Value& value = graph.value(id);
  if (value.role == ir::Role::kTransient && !graph.IsOutput(id)) return id;
  ir::Node copy;
  copy.name = StrCat("copy#", graph.node_id_limit());
  copy.schema = ops::BuiltinOperators().Find("tim.DataConvert");
  if (copy.schema == nullptr) return TIM_INTERNAL("no tim.DataConvert");
  copy.inputs = {id};
  const ir::ValueId made = graph.AddValue(value.desc);
  graph.value(made).is_scalar = graph.value(id).is_scalar;
  copy.outputs = {made};
  TIM_RETURN_IF_ERROR(ir::CompleteAttributes(*copy.schema, &copy.attributes));
  graph.AddNode(std::move(copy));
  return made;
}

}  // namespace

Result<PortedGraph> AddPorts(LoweredOps lowered,
                             const std::vector<PortPlace>& inputs,
                             const std::vector<PortPlace>& outputs,
                             const Engine& engine) {
  PortedGraph made;
  ir::Graph& graph = lowered.graph;
  compiler::CompileOptions& options = made.options = OptionsFor(engine);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& tensor = lowered.tensors.at(outputs[i].id);
    if (!tensor) continue;
    TIM_ASSIGN_OR_RETURN(const ir::ValueId id, OwnValue(graph, tensor.id));
    if (graph.value(id).name.empty()) {
      graph.value(id).name = StrCat("tensor ", outputs[i].id);
    }
    graph.AddOutput(id);
    options.outputs.push_back(outputs[i].port);
    made.outputs.push_back(i);
  }
  TIM_RETURN_IF_ERROR(compiler::FoldQuantization(&graph).status());
  TIM_RETURN_IF_ERROR(ExpandChannels(&graph));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto found = lowered.inputs.find(inputs[i].id);
    if (found == lowered.inputs.end()) continue;  // without elements
    const ir::ValueId id = found->second;
    if (graph.value(id).role != ir::Role::kInput) continue;
    if (!IsRead(graph, id)) {
      graph.RemoveValue(id);
      continue;
    }
    graph.AddInput(id);
    options.inputs.push_back(inputs[i].port);
    made.inputs.push_back(i);
  }
  if (lowered.changes_axes) {
    made.output_orders =
        AbsorbTransposes(ops::KnownOperators(), &graph, &options);
  }
  TIM_ASSIGN_OR_RETURN(
      made.graph,
      compiler::Infer(std::move(graph), ops::KnownOperators(), options));
  return made;
}

std::vector<ir::PlanTensor> OutputsOf(
    const ir::Plan& plan, std::span<const ir::Permutation> output_orders) {
  std::vector<ir::PlanTensor> outputs = plan.outputs;
  for (size_t i = 0; i < output_orders.size(); ++i) {
    outputs[i].desc = InAxesOfClient(outputs[i].desc, output_orders[i]);
  }
  return outputs;
}

Result<std::unique_ptr<Runnable>> Runnable::Create(
    LoweredOps lowered, const std::vector<PortPlace>& inputs,
    const std::vector<PortPlace>& outputs, const Engine& engine) {
  std::unique_ptr<Runnable> made(new Runnable());
  TIM_ASSIGN_OR_RETURN(PortedGraph ported,
                       AddPorts(std::move(lowered), inputs, outputs, engine));
  made->inputs_ = std::move(ported.inputs);
  made->outputs_ = std::move(ported.outputs);
  TIM_ASSIGN_OR_RETURN(
      made->first_, runtime::CompiledGraph::Create(ported.graph, ported.options,
                                                   engine.surroundings()));
  made->plan_outputs_ = OutputsOf(made->plan(), ported.output_orders);
  ReportHostSteps(made->plan(), engine);
  for (const ir::ConstantBlock& block : made->plan().constants) {
    made->constant_bytes_ += block.bytes;
  }
  const ir::DeviceInfo& info = engine.device()->info();
  made->imports_ =
      info.unified_memory && info.device_class != ir::DeviceClass::kCpu;
  return made;
}

Result<std::unique_ptr<Runner>> Runnable::Take() {
  auto runner = std::make_unique<Runner>();
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      runner = std::move(idle_.back());
      idle_.pop_back();
      return runner;
    }
    if (!std::exchange(first_taken_, true)) runner->graph = first_;
  }
  if (runner->graph == nullptr) {
    TIM_ASSIGN_OR_RETURN(runner->graph, runtime::CompiledGraph::Of(
                                            {.executable = first_->executable(),
                                             .context = nullptr}));
  }
  runner->inputs.resize(inputs_.size());
  runner->outputs.resize(outputs_.size());
  return runner;
}

void Runnable::Give(std::unique_ptr<Runner> runner) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMostIdle || runner->graph == first_) {
    idle_.push_back(std::move(runner));
  }
}

Status Runnable::Run(Runner& runner) const {
  const Status status =
      runner.graph->Run(runner.inputs, runner.outputs, runner.arenas);
  if (!imports_) return status;
  for (const auto& input : runner.inputs) runner.graph->Release(input.host);
  for (const auto& output : runner.outputs) runner.graph->Release(output.host);
  for (const auto& arena : runner.arenas) runner.graph->Release(arena.host);
  return status;
}

Status CheckCompiles(const LoweredOps& lowered, const Engine& engine) {
  ir::Graph graph = lowered.graph;
  return compiler::Infer(std::move(graph), ops::KnownOperators(),
                         OptionsFor(engine))
      .status();
}

}  // namespace tim::graph
