// Runs a graph step by step and keeps what its steps write.
#include "tools/timcl/recorded_run.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "ir/dump/npy.h"
#include "ops/builtin.h"
#include "runtime/compiled_graph.h"
#include "runtime/observed_run.h"
#include "tools/timcl/compiled_file.h"
#include "tools/timcl/graph_file.h"

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

struct Outputs {
  std::vector<AlignedMemory> memory;
  std::vector<runtime::PortMemory> ports;
};

Result<Outputs> OutputsOf(const ir::Plan& plan) {
  Outputs outputs;
  for (const ir::PlanTensor& tensor : plan.outputs) {
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(tensor.desc));
    outputs.memory.push_back(AllocateAligned(bytes, binary::kBlobAlignment));
    if (outputs.memory.back() == nullptr) {
      return OutOfMemory("no host memory for the ", bytes, " bytes of '",
                         tensor.name, "'");
    }
    outputs.ports.emplace_back(outputs.memory.back().get(), bytes);
  }
  return outputs;
}

Result<device::Devices> DevicesOf(const RecordedRunOptions& options) {
  return DevicesFor(
      options.device.empty() ? options.options.device : options.device,
      options.options.on_device);
}

}  // namespace

Result<RecordedRun> Record(const binary::Blob& blob, const Tensors& inputs,
                           const RecordedRunOptions& options) {
  RecordedRun run = {.graph = blob.graph_name, .device = {}, .values = {}};
  TIM_ASSIGN_OR_RETURN(const device::Devices devices, DevicesOf(options));
  run.device = devices.back()->info().name;
  auto registry = std::make_shared<ir::OpRegistry>(&ops::BuiltinOperators());
  TIM_ASSIGN_OR_RETURN(ir::Graph graph, GraphOf(blob, registry.get()));
  KeepApart(options.apart, &graph);
  TIM_ASSIGN_OR_RETURN(const CompiledFile file,
                       CompileGraph(std::move(graph), registry, devices,
                                    options.options.strict));
  const auto& compiled = file.compiled;
  TIM_ASSIGN_OR_RETURN(const Outputs outputs, OutputsOf(compiled->plan()));
  Recorder recorder;
  const Status status =
      compiled->RunObserved(inputs.ForRun(), outputs.ports, recorder);
  for (const auto& output : outputs.ports) compiled->Release(output.host);
  TIM_RETURN_IF_ERROR(status);
  TIM_ASSIGN_OR_RETURN(run.values, recorder.Take());
  return run;
}

Result<std::vector<std::vector<std::byte>>> ContentOf(
    ir::Graph graph, std::shared_ptr<const ir::OpRegistry> operators,
    const std::vector<ir::ValueId>& values, const Tensors& inputs,
    const RecordedRunOptions& options) {
  for (const ir::ValueId id : values) {
    if (!graph.IsOutput(id)) graph.AddOutput(id);
  }
  const std::vector<ir::ValueId> places = graph.outputs();
  TIM_ASSIGN_OR_RETURN(const device::Devices devices, DevicesOf(options));
  TIM_ASSIGN_OR_RETURN(const CompiledFile file,
                       CompileGraph(std::move(graph), std::move(operators),
                                    devices, options.options.strict));
  const auto& compiled = file.compiled;
  TIM_ASSIGN_OR_RETURN(const Outputs outputs, OutputsOf(compiled->plan()));
  const Status status = compiled->Run(inputs.ForRun(), outputs.ports);
  for (const auto& output : outputs.ports) compiled->Release(output.host);
  TIM_RETURN_IF_ERROR(status);
  std::vector<std::vector<std::byte>> content;
  for (const ir::ValueId id : values) {
    const auto place = std::find(places.begin(), places.end(), id);
    const auto i = static_cast<size_t>(place - places.begin());
    const std::byte* const bytes = outputs.memory[i].get();
    content.emplace_back(bytes, bytes + outputs.ports[i].bytes);
  }
  return content;
}

}  // namespace tim::tool
