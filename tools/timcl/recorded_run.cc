// Runs a graph step by step and keeps what its steps write.
#include "tools/timcl/recorded_run.h"

#include <map>
#include <memory>
#include <utility>

#include "compiler/compiler.h"
#include "ir/dump/npy.h"
#include "ops/builtin.h"
#include "runtime/compile_options.h"
#include "runtime/compiled_graph.h"
#include "runtime/observed_run.h"
#include "tools/timcl/graph_file.h"
#include "vx/core/user_programs.h"

namespace tim::tool {
namespace {

using runtime::ObservedStep;

class Recorder final : public runtime::RunObserver {
 public:
  Status AfterStep(const ObservedStep& step) override {
    for (size_t i = 0; i < step.step().operands.size(); ++i) {
      if (!step.step().written[i]) continue;
      TIM_RETURN_IF_ERROR(Keep(step, static_cast<int>(i)));
    }
    return OkStatus();
  }

  Result<std::vector<RecordedValue>> Take() {
    for (RecordedValue& value : values_) {
      if (value.desc.layout.dense()) continue;
      TIM_ASSIGN_OR_RETURN(value.bytes,
                           ir::DenseBytes(value.desc, value.bytes));
      value.desc.layout = ir::Layout::Dense();
    }
    return std::move(values_);
  }

 private:
  // Steps may write parts of a tensor.
  Status Keep(const ObservedStep& step, int operand) {
    const ir::PlanNotes::Value* noted = step.value(operand);
    if (noted == nullptr) return OkStatus();
    const auto [known, added] = index_.emplace(noted, values_.size());
    if (added) {
      TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(noted->desc));
      values_.push_back({.name = noted->name,
                         .producer = step.step().label,
                         .desc = noted->desc,
                         .bytes = std::vector<std::byte>(bytes)});
    }
    return step.ReadInto(operand, values_[known->second].bytes);
  }

  std::vector<RecordedValue> values_;
  std::map<const ir::PlanNotes::Value*, size_t> index_;
};

// A result that is an output is not fused away.
void KeepApart(const std::set<std::string>& nodes, ir::Graph* graph) {
  for (const ir::NodeId id : graph->NodeIds()) {
    if (!nodes.contains(graph->node(id).name)) continue;
    for (const ir::ValueId value : graph->node(id).outputs) {
      if (value != ir::kNone && !graph->IsOutput(value)) {
        graph->AddOutput(value);
      }
    }
  }
}

Status WriteStates(const ir::Graph& graph, runtime::CompiledGraph& compiled) {
  const auto& planned = compiled.plan().states;
  for (size_t i = 0; i < planned.size(); ++i) {
    for (const ir::ValueId id : graph.ValueIds()) {
      const ir::Value& value = graph.value(id);
      if (value.role != ir::Role::kState || value.name != planned[i].name ||
          value.constant == nullptr) {
        continue;
      }
      TIM_RETURN_IF_ERROR(compiled.states()->Write(
          static_cast<int>(i), value.constant->bytes.data()));
    }
  }
  return OkStatus();
}

Status RunRecorded(runtime::CompiledGraph& compiled, const Tensors& inputs,
                   Recorder& recorder) {
  std::vector<AlignedMemory> memory;
  std::vector<runtime::PortMemory> outputs;
  for (const ir::PlanTensor& tensor : compiled.plan().outputs) {
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(tensor.desc));
    memory.push_back(AllocateAligned(bytes, binary::kBlobAlignment));
    if (memory.back() == nullptr) {
      return OutOfMemory("no host memory for the ", bytes, " bytes of '",
                         tensor.name, "'");
    }
    outputs.emplace_back(memory.back().get(), bytes);
  }
  const Status status =
      compiled.RunObserved(inputs.ForRun(), outputs, recorder);
  for (const auto& output : outputs) compiled.Release(output.host);
  return status;
}

}  // namespace

Result<RecordedRun> Record(const binary::Blob& blob, const Tensors& inputs,
                           const RecordedRunOptions& options) {
  RecordedRun run = {.graph = blob.graph_name, .device = {}, .values = {}};
  runtime::Surroundings surroundings = {.devices = {},
                                        .store = vx::UserPrograms()};
  TIM_ASSIGN_OR_RETURN(
      surroundings.devices,
      DevicesFor(
          options.device.empty() ? options.options.device : options.device,
          options.options.on_device));
  run.device = surroundings.devices.back()->info().name;
  auto registry = std::make_shared<ir::OpRegistry>(&ops::BuiltinOperators());
  TIM_ASSIGN_OR_RETURN(ir::Graph graph, GraphOf(blob, registry.get()));
  surroundings.operators = registry;
  KeepApart(options.apart, &graph);
  compiler::CompileOptions compile =
      runtime::CompileOptionsFor(surroundings.devices);
  compile.was_compiled = true;
  compile.strict = options.options.strict;
  TIM_ASSIGN_OR_RETURN(const compiler::InferredGraph inferred,
                       compiler::Infer(graph, *registry, compile));
  TIM_ASSIGN_OR_RETURN(
      const auto compiled,
      runtime::CompiledGraph::Create(inferred, compile, surroundings));
  TIM_RETURN_IF_ERROR(WriteStates(graph, *compiled));
  Recorder recorder;
  TIM_RETURN_IF_ERROR(RunRecorded(*compiled, inputs, recorder));
  TIM_ASSIGN_OR_RETURN(run.values, recorder.Take());
  return run;
}

}  // namespace tim::tool
