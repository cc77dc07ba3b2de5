// Graphs inside of nodes: they are verified, inferred and compiled with the
// graph that the nodes are in.
#include "ir/control.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/passes/passes.h"

namespace tim::compiler {
namespace {

using ir::ControlKind;
using ir::Graph;
using ir::Node;
using ir::ValueId;
using GraphPointer = std::shared_ptr<const Graph>;

GraphPointer GraphOf(const Node& node, std::string_view name) {
  const auto* graph = std::get_if<GraphPointer>(node.attributes.Find(name));
  return graph != nullptr ? *graph : nullptr;
}

Status CheckCount(const char* what, size_t found, size_t expected) {
  if (found == expected) return OkStatus();
  return InvalidArgument("it has ", found, " ", what, "s, expected ", expected);
}

Status CheckInner(const Node& node, ControlKind kind, std::string_view name,
                  const Graph& graph) {
  TIM_RETURN_IF_ERROR(CheckCount(
      "input", graph.inputs().size(),
      node.inputs.size() - static_cast<size_t>(ir::FirstGraphInput(kind))));
  const size_t outputs = name == ir::kConditionGraph ? 1 : node.outputs.size();
  TIM_RETURN_IF_ERROR(CheckCount("output", graph.outputs().size(), outputs));
  for (const auto* ids : {&graph.inputs(), &graph.outputs()}) {
    for (const ValueId id : *ids) {
      if (id == ir::kNone) return InvalidArgument("an operand is absent");
    }
  }
  for (const ValueId id : graph.ValueIds()) {
    if (graph.value(id).role != ir::Role::kState) continue;
    return InvalidArgument("tensor ", graph.value(id).name,
                           " is a state; make it an input and an output");
  }
  return OkStatus();
}

// Types that the graph leaves open are those of the node's inputs.
Status SetInput(const ir::Value& given, ir::Value* input) {
  const ir::TensorDesc declared = input->desc;
  input->desc = given.desc;
  input->is_scalar = given.is_scalar;
  if (declared.type == ir::DataType::kUnknown ||
      declared.type == given.desc.type) {
    return OkStatus();
  }
  return InvalidArgument("its input ", input->name, " is declared as ",
                         declared.ToString(), ", the operation gives ",
                         given.desc.ToString());
}

void Pin(Graph* graph, int device) {
  for (const ir::NodeId id : graph->NodeIds()) {
    Node& node = graph->node(id);
    if (node.device < 0) node.device = device;
  }
}

// Compiles the graphs of one node; data is where the step is.
class ControlLowering {
 public:
  ControlLowering(Module& module, const Node& node, int device)
      : module_(module),
        node_(node),
        kind_(*ir::ControlOf(node)),
        device_(device) {}

  Result<ir::Lowering> Run() {
    ir::ControlCall call{.kind = kind_, .plans = {}};
    if (kind_ == ControlKind::kIf) {
      TIM_RETURN_IF_ERROR(Add(ConditionOfIf(), "condition", true, &call));
      for (const std::string_view name : ir::GraphNames(kind_)) {
        TIM_RETURN_IF_ERROR(Add(*GraphOf(node_, name), name, false, &call));
      }
    } else {
      call.max_trips = node_.attributes.Int(ir::kMaxTrips);
      call.scans = static_cast<int>(node_.attributes.Int(ir::kScanOutputs));
      TIM_RETURN_IF_ERROR(Add(*GraphOf(node_, ir::kConditionGraph),
                              ir::kConditionGraph, true, &call));
      TIM_RETURN_IF_ERROR(
          Add(BodyWithCondition(), ir::kBodyGraph, true, &call));
    }
    return MakeLowering(std::move(call));
  }

 private:
  // Gives the condition to the host.
  Graph ConditionOfIf() const {
    Graph graph;
    const ir::Value& condition = module_.graph.value(node_.inputs[0]);
    ir::TensorDesc desc = condition.desc;
    desc.layout = ir::Layout::Dense();
    const ValueId value =
        graph.AddValue(std::move(desc), ir::Role::kInput, "condition");
    graph.AddInput(value);
    graph.AddOutput(value);
    return graph;
  }

  // The body, and the condition of the state that it makes as last output.
  Graph BodyWithCondition() const {
    Graph graph = *GraphOf(node_, ir::kBodyGraph);
    auto composite = std::make_shared<ir::Composite>();
    composite->name = "condition";
    composite->body = *GraphOf(node_, ir::kConditionGraph);
    composite->was_compiled = true;
    Node next;
    next.name = "condition";
    next.inputs.assign(
        graph.outputs().begin(),
        graph.outputs().begin() + static_cast<int>(node_.inputs.size()));
    const ir::Value& result =
        composite->body.value(composite->body.outputs()[0]);
    const ValueId go =
        graph.AddValue(result.desc, ir::Role::kTransient, "condition");
    next.outputs = {go};
    next.composite = std::move(composite);
    graph.AddNode(std::move(next));
    graph.AddOutput(go);
    return graph;
  }

  // \param gives_condition the last output is the condition.
  Status Add(Graph graph, std::string_view name, bool gives_condition,
             ir::ControlCall* call) {
    if (node_.device >= 0) Pin(&graph, node_.device);
    CompileOptions options = module_.options;
    options.was_compiled = true;
    options.known_doubts = nullptr;
    options.dump_sink = nullptr;
    // The steps of a graph inside follow those outside.
    options.policy.pipeline = 0;
    options.policy.split = Split::kOff;
    options.inputs.assign(graph.inputs().size(), {.device = device_});
    options.outputs.assign(graph.outputs().size(), {.device = device_});
    if (gives_condition) options.outputs.back() = {};
    graph.set_name(StrCat(module_.graph.name(), "/", node_.name, "/", name));
    TIM_ASSIGN_OR_RETURN(ir::Plan plan,
                         Compile(std::move(graph), module_.registry, options));
    for (const ir::Decision& decision : plan.decisions) {
      module_.decisions.push_back(decision);
      ir::Decision& kept = module_.decisions.back();
      kept.node = StrCat(node_.name, "/", name, "/", kept.node);
    }
    call->plans.push_back(std::make_shared<const ir::Plan>(std::move(plan)));
    return OkStatus();
  }

  ir::Lowering MakeLowering(ir::ControlCall call) const {
    using Kind = ir::LoweredOperand::Kind;
    ir::LoweredStep step{
        .action = std::move(call), .operands = {}, .written = {}};
    const auto add = [&](Kind kind, size_t count) {
      for (size_t i = 0; i < count; ++i) {
        step.operands.push_back({kind, static_cast<int>(i)});
        step.written.push_back(kind == Kind::kOutput);
      }
    };
    add(Kind::kInput, node_.inputs.size());
    add(Kind::kOutput, node_.outputs.size());
    ir::Lowering lowering;
    lowering.steps.push_back(std::move(step));
    return lowering;
  }

  Module& module_;
  const Node& node_;
  const ControlKind kind_;
  const int device_;
};

}  // namespace

Status VerifyControl(const Module* module, Node& node) {
  const ControlKind kind = *ir::ControlOf(node);
  for (const auto* ids : {&node.inputs, &node.outputs}) {
    for (const ValueId id : *ids) {
      if (id == ir::kNone) {
        return InvalidArgument("an operand is absent; its graphs name all");
      }
    }
  }
  for (const std::string_view name : ir::GraphNames(kind)) {
    const GraphPointer given = GraphOf(node, name);
    if (given == nullptr) {
      return InvalidArgument("attribute '", name, "' has no graph");
    }
    auto graph = std::make_shared<Graph>(*given);
    Status status = CheckInner(node, kind, name, *graph);
    if (status.ok()) status = VerifyBody(module, *graph);
    if (!status.ok()) return status.WithContext(StrCat("graph '", name, "'"));
    node.attributes.Set(std::string(name), GraphPointer(std::move(graph)));
  }
  return OkStatus();
}

Status InferControl(Module& module, const Graph& graph, Node& node) {
  const ControlKind kind = *ir::ControlOf(node);
  const auto first = static_cast<size_t>(ir::FirstGraphInput(kind));
  for (const std::string_view name : ir::GraphNames(kind)) {
    auto inner = std::make_shared<Graph>(*GraphOf(node, name));
    Status status;
    for (size_t i = 0; i < inner->inputs().size() && status.ok(); ++i) {
      status = SetInput(graph.value(node.inputs[first + i]),
                        &inner->value(inner->inputs()[i]));
    }
    if (status.ok()) status = InferBody(module, *inner, Doubts::kNone);
    if (!status.ok()) return status.WithContext(StrCat("graph '", name, "'"));
    node.attributes.Set(std::string(name), GraphPointer(std::move(inner)));
  }
  return OkStatus();
}

Result<ir::Lowering> LowerControl(Module& module, const Node& node,
                                  int device) {
  return ControlLowering(module, node, device).Run();
}

}  // namespace tim::compiler
