// Compiles a graph whose inputs are known, and finds which of its outputs need
// no run.
#include "values/program_plan.h"

#include <algorithm>
#include <utility>

#include "base/options.h"
#include "ir/effect_order.h"
#include "ops/registered.h"
#include "runtime/compile_options.h"

namespace tim::values::internal {
namespace {

// A result of the last node with ordered effects: what is run for those has an
// output, too.  kNone where there is none.
ir::ValueId ResultOfEffects(const ir::Graph& graph) {
  const std::vector<ir::NodeId> order = ir::EffectOrder(graph);
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    for (const ir::ValueId output : graph.node(*id).outputs) {
      if (output != ir::kNone) return output;
    }
  }
  return ir::kNone;
}

// Outputs are values that nodes make, each once; inputs are those that are
// read.
ir::Graph WithoutPassages(const ir::Graph& graph, std::vector<size_t>* inputs) {
  ir::Graph ports(graph.name());
  std::vector<ir::ValueId> outputs;
  for (const ir::ValueId id : graph.outputs()) {
    if (graph.value(id).producer == ir::kNone) continue;
    if (std::find(outputs.begin(), outputs.end(), id) == outputs.end()) {
      outputs.push_back(id);
    }
  }
  if (outputs.empty()) {
    const ir::ValueId result = ResultOfEffects(graph);
    if (result != ir::kNone) outputs.push_back(result);
  }
  // A graph keeps its lists of inputs and outputs: a new one has shorter ones.
  for (ir::ValueId id = 0; id < graph.value_id_limit(); ++id) {
    const ir::Value& value = graph.value(id);
    const ir::ValueId copy = ports.AddValue(value.desc, value.role, value.name);
    ir::Value& copied = ports.value(copy);
    copied.is_scalar = value.is_scalar;
    copied.shape_declared = value.shape_declared;
    copied.constant = value.constant;
  }
  for (const ir::NodeId id : graph.NodeIds()) {
    ir::Node node = graph.node(id);
    ports.AddNode(std::move(node));
  }
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const ir::ValueId id = graph.inputs()[i];
    if (graph.value(id).uses.empty()) {
      ports.RemoveValue(id);
      continue;
    }
    ports.AddInput(id);
    inputs->push_back(i);
  }
  for (const ir::ValueId id : outputs) ports.AddOutput(id);
  return ports;
}

}  // namespace

Result<compiler::InferredGraph> InferFor(
    ir::Graph graph, const std::vector<PortSpec>& inputs,
    const compiler::CompileOptions& options) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    ir::Value& value = graph.value(graph.inputs()[i]);
    value.desc = inputs[i].spec.desc;
    value.desc.layout = ir::Layout::Dense();
    value.is_scalar = inputs[i].spec.is_scalar;
  }
  TIM_ASSIGN_OR_RETURN(
      compiler::InferredGraph inferred,
      compiler::Infer(std::move(graph), ops::KnownOperators(), options));
  for (const ir::NodeId id : inferred.graph.NodeIds()) {
    const ir::Node& node = inferred.graph.node(id);
    for (const ir::ValueId output : node.outputs) {
      if (output == ir::kNone ||
          inferred.graph.value(output).desc.shape.IsStatic()) {
        continue;
      }
      return InvalidArgument(
          "graph '", inferred.graph.name(), "': ", node.name,
          " has a result of shape ",
          inferred.graph.value(output).desc.shape.ToString(),
          ", which depends on data; a frozen graph needs to know it");
    }
  }
  return inferred;
}

void ProgramPlan::FindSources(const ir::Graph& graph) {
  std::vector<ir::ValueId> computed;
  for (const ir::ValueId id : graph.outputs()) {
    const ir::Value& value = graph.value(id);
    Source& source = sources_.emplace_back();
    source.spec = {value.desc, value.is_scalar};
    if (value.constant != nullptr) {
      source.kind = Source::Kind::kConstant;
      source.constant = value.constant;
    } else if (value.producer == ir::kNone) {
      source.kind = Source::Kind::kInput;
      const auto& inputs = graph.inputs();
      source.index = static_cast<size_t>(
          std::find(inputs.begin(), inputs.end(), id) - inputs.begin());
    } else {
      const auto known = std::find(computed.begin(), computed.end(), id);
      source.index = static_cast<size_t>(known - computed.begin());
      if (known == computed.end()) computed.push_back(id);
    }
  }
}

namespace {

/// A graph that is ready to be compiled.
struct ToCompile {
  runtime::Surroundings surroundings;
  compiler::CompileOptions options;
  std::vector<size_t> inputs;  ///< Those that are read.
  /// None where nothing is computed.
  std::optional<compiler::InferredGraph> graph;
};

Result<ToCompile> Begin(
    const ir::Graph& graph, const std::vector<PortSpec>& inputs,
    OutputPlace place, const ProgramOptions& program_options,
    const DeviceState& device,
    const std::shared_ptr<const ir::OpRegistry>& operators) {
  ToCompile made;
  made.surroundings = device.surroundings();
  if (operators != nullptr) made.surroundings.operators = operators;
  compiler::CompileOptions& options = made.options;
  options = runtime::CompileOptionsFor(made.surroundings.devices);
  options.strict = program_options.strict || GetOptions().strict;
  options.many_shapes = program_options.many_shapes;
  TIM_ASSIGN_OR_RETURN(options.policy,
                       compiler::ParsePolicy(program_options.policy));
  options.was_compiled = true;  // recording has checked the calls
  std::vector<PortSpec> read;
  ir::Graph ports = WithoutPassages(graph, &made.inputs);
  for (const size_t i : made.inputs) read.push_back(inputs[i]);
  const int main = device.main_device();
  for (const PortSpec& port : read) {
    options.inputs.push_back(
        {.device = port.on_host ? 0 : main, .layout = port.layout});
  }
  options.outputs.resize(ports.outputs().size(),
                         {.free = place == OutputPlace::kDevice});
  if (ports.outputs().empty()) return made;
  TIM_ASSIGN_OR_RETURN(made.graph, InferFor(std::move(ports), read, options));
  return made;
}

}  // namespace

Result<std::shared_ptr<ProgramPlan>> ProgramPlan::Create(
    const ir::Graph& graph, const std::vector<PortSpec>& inputs,
    OutputPlace place, const ProgramOptions& program_options,
    const DeviceState& device,
    const std::shared_ptr<const ir::OpRegistry>& operators,
    const std::shared_ptr<runtime::SharedArenas>& arenas) {
  auto made = std::make_shared<ProgramPlan>();
  made->FindSources(graph);
  TIM_ASSIGN_OR_RETURN(
      ToCompile begun,
      Begin(graph, inputs, place, program_options, device, operators));
  made->inputs_ = std::move(begun.inputs);
  if (!begun.graph) return made;
  for (Source& source : made->sources_) {
    if (source.kind != Source::Kind::kComputed) continue;
    const ir::Value& value =
        begun.graph->graph.value(begun.graph->graph.outputs()[source.index]);
    source.spec = {value.desc, value.is_scalar};
  }
  TIM_ASSIGN_OR_RETURN(made->compiled_, runtime::CompiledGraph::Create(
                                            *begun.graph, begun.options,
                                            begun.surroundings, arenas));
  return made;
}

Result<std::optional<ir::Plan>> ProgramPlan::Compile(
    const ir::Graph& graph, const std::vector<PortSpec>& inputs,
    OutputPlace place, const ProgramOptions& program_options,
    const DeviceState& device,
    const std::shared_ptr<const ir::OpRegistry>& operators) {
  TIM_ASSIGN_OR_RETURN(
      ToCompile begun,
      Begin(graph, inputs, place, program_options, device, operators));
  if (!begun.graph) return std::optional<ir::Plan>();
  TIM_ASSIGN_OR_RETURN(
      ir::Plan plan,
      compiler::Compile(*std::move(begun.graph), *begun.surroundings.operators,
                        begun.options));
  return std::optional<ir::Plan>(std::move(plan));
}

std::string ProgramPlan::Explain() const {
  if (compiled_ == nullptr) return "nothing to compute\n";
  std::string text;
  const ir::Plan& plan = compiled_->plan();
  for (const ir::PlanTensor& input : plan.inputs) {
    text += StrCat("input ", input.name, ": ", input.desc.ToString(), "\n");
  }
  for (const ir::Decision& decision : plan.decisions) {
    text += StrCat("  ", decision.node, ": ", decision.chosen, "\n");
    for (const std::string& refused : decision.refused) {
      text += StrCat("    not ", refused, "\n");
    }
  }
  return text;
}

}  // namespace tim::values::internal
