// Asks plug-ins what they would run of a graph, and makes steps of it.
#include "plugin/parts.h"

#include <charconv>

#include "ir/effect_order.h"
#include "ir/part_names.h"
#include "ir/typed_kernel.h"
#include "plugin/edit_check.h"
#include "plugin/sinks.h"
#include "plugin/views.h"

namespace tim::plugin {
namespace {

using Options = std::vector<std::pair<std::string, std::string>>;

constexpr char kMinNodes[] = "min_nodes";
constexpr double kEfficiency = 0.25;

const TimGraph* Const(const std::unique_ptr<TimGraph>& graph) {
  return graph.get();
}

Result<ir::PartClaims> Claims(const PluginReference& reference,
                              const DeviceFor& device_for,
                              const ir::Graph& graph,
                              const ir::DeviceInfo& info) {
  TIM_ASSIGN_OR_RETURN(const auto plugin, reference.Lock());
  TIM_RETURN_IF_ERROR(plugin->CheckUsable());
  TIM_ASSIGN_OR_RETURN(const auto device, device_for(info));
  TIM_ASSIGN_OR_RETURN(const auto view, ViewOf(graph));
  TimClaims sink;
  sink.graph = view.get();
  const Status called =
      plugin->Ask("TimGraphFns::claim", plugin->tables().graphs.claim,
                  device->handle(), Const(view), &sink);
  TIM_RETURN_IF_ERROR(
      CallbackStatus(*plugin, "TimGraphFns::claim", called, sink.failure));
  return std::move(sink.claims);
}

// Nodes that compute what nothing needs.
void DropDead(ir::Graph* graph) {
  bool dropped = true;
  while (dropped) {
    dropped = false;
    for (const ir::NodeId id : graph->NodeIds()) {
      const ir::Node& node = graph->node(id);
      if (ir::HasOrderedEffects(node)) continue;
      bool needed = false;
      for (const ir::ValueId output : node.outputs) {
        if (output == ir::kNone) continue;
        needed |=
            !graph->value(output).uses.empty() || graph->IsLiveOut(output);
      }
      if (needed) continue;
      graph->RemoveNode(id);
      dropped = true;
    }
  }
}

Result<ir::Graph> Optimized(const PluginReference& reference,
                            const DeviceFor& device_for,
                            const ir::OpRegistry& operators,
                            const ir::Graph& graph, int level,
                            const ir::DeviceInfo& info) {
  TIM_ASSIGN_OR_RETURN(const auto plugin, reference.Lock());
  TIM_RETURN_IF_ERROR(plugin->CheckUsable());
  TIM_ASSIGN_OR_RETURN(const auto device, device_for(info));
  TIM_ASSIGN_OR_RETURN(const auto view, ViewOf(graph));
  TimEdits sink;
  sink.graph = graph;
  sink.registry = &operators;
  sink.view = view.get();
  const Status called = plugin->Ask(
      "TimGraphFns::optimize", plugin->tables().graphs.optimize,
      device->handle(), Const(view), static_cast<int32_t>(level), &sink);
  TIM_RETURN_IF_ERROR(
      CallbackStatus(*plugin, "TimGraphFns::optimize", called, sink.failure));
  DropDead(&sink.graph);
  for (const ir::NodeId id : sink.added) {
    if (!sink.graph.HasNode(id)) continue;
    ir::Node& node = sink.graph.node(id);
    TIM_RETURN_IF_ERROR(CompleteAttributes(*node.schema, &node.attributes)
                            .WithContext(node.name));
  }
  if (plugin->check) {
    TIM_RETURN_IF_ERROR(CompareByEval(graph, sink.graph, operators));
  }
  return std::move(sink.graph);
}

// The node that layouts of a part are given for: its operands alone.
ir::KernelNode OperandsOf(const ir::Graph& part) {
  ir::KernelNode node;
  for (const ir::ValueId id : part.inputs()) {
    node.inputs.push_back(part.value(id).desc);
  }
  for (const ir::ValueId id : part.outputs()) {
    node.outputs.push_back(part.value(id).desc);
  }
  return node;
}

Result<std::vector<ir::LayoutTuple>> Layouts(const PluginReference& reference,
                                             const DeviceFor& device_for,
                                             const ir::Graph& part,
                                             const ir::DeviceInfo& info) {
  TIM_ASSIGN_OR_RETURN(const auto plugin, reference.Lock());
  TIM_ASSIGN_OR_RETURN(const auto device, device_for(info));
  TIM_ASSIGN_OR_RETURN(const auto view, ViewOf(part));
  const ir::KernelNode node = OperandsOf(part);
  TimLayouts sink;
  sink.node = &node;
  const Status called = plugin->Ask("TimGraphFns::port_layouts",
                                    plugin->tables().graphs.port_layouts,
                                    device->handle(), Const(view), &sink);
  TIM_RETURN_IF_ERROR(CallbackStatus(*plugin, "TimGraphFns::port_layouts",
                                     called, sink.failure));
  return std::move(sink.tuples);
}

// The part with the layouts that its operands have outside.
std::shared_ptr<const ir::Graph> WithLayouts(const ir::KernelNode& node) {
  auto part = std::make_shared<ir::Graph>(node.node->composite->body);
  for (size_t i = 0; i < part->inputs().size(); ++i) {
    part->value(part->inputs()[i]).desc.layout = node.inputs[i].layout;
  }
  for (size_t i = 0; i < part->outputs().size(); ++i) {
    part->value(part->outputs()[i]).desc.layout = node.outputs[i].layout;
  }
  return part;
}

ir::Lowering StepOf(const ir::KernelNode& node, const Options& options) {
  ir::LoweredStep step;
  step.action = ir::GraphCall{
      .part = WithLayouts(node), .name = node.node->name, .options = options};
  const auto add = [&](ir::LoweredOperand::Kind kind, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      step.operands.push_back({.kind = kind, .index = static_cast<int>(i)});
      step.written.push_back(kind == ir::LoweredOperand::Kind::kOutput);
    }
  };
  add(ir::LoweredOperand::Kind::kInput, node.inputs.size());
  add(ir::LoweredOperand::Kind::kOutput, node.outputs.size());
  ir::Lowering lowering;
  lowering.steps.push_back(std::move(step));
  return lowering;
}

}  // namespace

Result<int> MinNodesOf(const Options& options) {
  int nodes = 1;
  for (const auto& [key, value] : options) {
    if (key != kMinNodes) continue;
    const char* const end = value.data() + value.size();
    const auto parsed = std::from_chars(value.data(), end, nodes);
    if (parsed.ec == std::errc() && parsed.ptr == end && nodes > 0) continue;
    return InvalidArgument("option ", kMinNodes, " is '", value,
                           "'; expected a whole number from 1");
  }
  return nodes;
}

ir::PartDef PartsOf(const std::shared_ptr<const LoadedPlugin>& loaded,
                    DeviceFor device, const ir::OpRegistry& operators,
                    Options options) {
  const TimGraphFns& graphs = loaded->tables().graphs;
  const PluginReference plugin(loaded);
  ir::PartDef def;
  def.name = StrCat(loaded->kind(), ".graph");
  def.device_kind = loaded->kind();
  def.compiles = graphs.compile != nullptr;
  const auto min_nodes = MinNodesOf(options);
  def.min_nodes = min_nodes.ok() ? *min_nodes : 1;
  def.options = std::move(options);
  def.claim = [plugin, device](const ir::Graph& graph,
                               const ir::DeviceInfo& info) {
    return Claims(plugin, device, graph, info);
  };
  if (graphs.port_layouts != nullptr) {
    def.layouts = [plugin, device](const ir::Graph& part,
                                   const ir::DeviceInfo& info) {
      return Layouts(plugin, device, part, info);
    };
  }
  if (graphs.optimize != nullptr) {
    def.optimize = [plugin, device, &operators](const ir::Graph& graph,
                                                int level,
                                                const ir::DeviceInfo& info) {
      return Optimized(plugin, device, operators, graph, level, info);
    };
  }
  return def;
}

ir::KernelDef PartKernelOf(const std::shared_ptr<const LoadedPlugin>& loaded,
                           DeviceFor device, Options options) {
  const PluginReference plugin(loaded);
  ir::PlainKernel def{.op = StrCat(ir::kPartPrefix, loaded->kind()),
                      .name = StrCat(loaded->kind(), ir::kPartKernel),
                      .device_kind = loaded->kind(),
                      .analyze = nullptr,
                      .cost = nullptr,
                      .lower = nullptr};
  def.analyze = [plugin](const ir::KernelNode&,
                         const ir::DeviceInfo&) -> Status {
    TIM_ASSIGN_OR_RETURN(const auto locked, plugin.Lock());
    return locked->CheckUsable();
  };
  def.cost = [](const ir::KernelNode& node, const ir::DeviceInfo& info) {
    const ir::Attribute* predicted =
        node.node->attributes.Find(ir::kPartMicroseconds);
    const double* microseconds =
        predicted == nullptr ? nullptr : std::get_if<double>(predicted);
    if (microseconds != nullptr && *microseconds > 0) return *microseconds;
    const auto view = ViewOf(node);
    return ir::EstimateMicroseconds(
        view.ok() ? (*view)->estimate : ir::ComputeEstimate(), info,
        kEfficiency);
  };
  if (loaded->tables().graphs.port_layouts != nullptr) {
    def.layouts = [plugin, device](const ir::KernelNode& node,
                                   const ir::DeviceInfo& info) {
      auto layouts = Layouts(plugin, device, node.node->composite->body, info);
      return layouts.ok() && !layouts->empty()
                 ? *std::move(layouts)
                 : std::vector{ir::DenseLayouts(node)};
    };
  }
  def.lower = [options = std::move(options)](
                  const ir::KernelNode& node,
                  const ir::DeviceInfo&) -> Result<ir::Lowering> {
    return StepOf(node, options);
  };
  return def;
}

}  // namespace tim::plugin
