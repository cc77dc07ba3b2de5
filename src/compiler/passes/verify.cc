#include <utility>

#include "compiler/passes/passes.h"
#include "ir/verify/desc_check.h"

namespace tim::compiler {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

Status CheckDesc(const Value& value) {
  const ir::TensorDesc& desc = value.desc;
  TIM_RETURN_IF_ERROR(ir::CheckShape(desc.shape));
  TIM_RETURN_IF_ERROR(ir::CheckQuantization(desc));
  if (value.role == ir::Role::kTransient) return OkStatus();
  if (desc.type == ir::DataType::kUnknown) {
    return InvalidArgument(
        "the data type is unknown; only the result of an "
        "operation may leave it open");
  }
  if (value.role != ir::Role::kConstant) return OkStatus();
  TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(desc));
  if (value.constant == nullptr) {
    return InvalidArgument("a constant without data");
  }
  const auto given = static_cast<int64_t>(value.constant->bytes.size());
  if (given == bytes) return OkStatus();
  return InvalidArgument(given, " bytes of data, expected ", bytes);
}

Status CheckProducer(const Graph& graph, const Value& value) {
  if (value.role != ir::Role::kTransient && value.producer != ir::kNone) {
    return InvalidArgument(
        "an input, constant or state cannot be the output "
        "of ",
        graph.node(value.producer).name);
  }
  if (value.role != ir::Role::kTransient || value.producer != ir::kNone ||
      value.uses.empty()) {
    return OkStatus();
  }
  return InvalidArgument(graph.node(value.uses[0].node).name,
                         " reads it, but no operation writes it and it is "
                         "neither an input nor a constant");
}

// Constants behind the inputs of a node, where other forms of its operator have
// operands, are dropped.  Whatever else is bound there stays, for
// CheckOperandCounts.
Status DropSurplusInputs(const Module& module, Graph& graph, Node& node) {
  const ir::OpSchema& schema = *node.schema;
  const int limit = schema.InputArity(node.attributes).limit;
  const int bound = static_cast<int>(node.inputs.size());
  if (bound <= limit || bound > limit + schema.surplus_inputs) {
    return OkStatus();
  }
  std::string names;
  for (int i = limit; i < bound; ++i) {
    const ir::ValueId id = node.inputs[i];
    if (id == ir::kNone) continue;
    if (graph.value(id).role != ir::Role::kConstant) return OkStatus();
    names += StrCat(names.empty() ? "" : ", ", graph.value(id).name);
  }
  if (!names.empty()) {
    TIM_RETURN_IF_ERROR(Doubt(
        module, graph, node,
        StrCat(bound, " inputs are bound, expected ", limit, ": nothing reads ",
               names, ", operands in other forms of ", schema.name,
               ", here its attributes, which count; bind ", limit, " only")));
  }
  for (int i = bound - 1; i >= limit; --i) {
    graph.SetInput(node.id, i, ir::kNone);
    node.inputs.pop_back();
  }
  return OkStatus();
}

// Inference alone has no devices.
Status CheckDevice(const Module& module, const Node& node) {
  const size_t devices = module.options.devices.size();
  if (devices == 0 || std::cmp_less(node.device, devices)) return OkStatus();
  return InvalidArgument("it must run on device ", node.device,
                         ", but is compiled for ", devices);
}

Status VerifyNode(Node& node) {
  if (node.schema == nullptr) return InvalidArgument("unknown operator");
  TIM_RETURN_IF_ERROR(ir::CompleteAttributes(*node.schema, &node.attributes));
  return ir::CheckOperandCounts(node);
}

Status VerifyNode(const Module* module, Graph& graph, Node& node) {
  if (node.schema != nullptr && module != nullptr) {
    TIM_RETURN_IF_ERROR(ir::CompleteAttributes(*node.schema, &node.attributes));
    TIM_RETURN_IF_ERROR(DropSurplusInputs(*module, graph, node));
  }
  if (module != nullptr) TIM_RETURN_IF_ERROR(CheckDevice(*module, node));
  TIM_RETURN_IF_ERROR(VerifyNode(node));
  return ir::ControlOf(node) ? VerifyControl(module, node) : OkStatus();
}

enum class Scope { kWholeGraph, kBody };

Status CheckBodyCount(const char* what, size_t body, size_t node) {
  if (body == node) return OkStatus();
  return InvalidArgument("its body has ", body, " ", what, "s, the operation ",
                         node, "; absent ones count");
}

// The absent operands of the node, where its body reads them.
void RemoveAbsentInputs(const Node& node, Graph& body) {
  for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
    const ir::ValueId input = body.inputs()[i];
    if (node.inputs[i] != ir::kNone || input == ir::kNone) continue;
    body.SetGraphInput(i, ir::kNone);
    body.ReplaceUses(input, ir::kNone);
    body.RemoveValue(input);
  }
}

Status CheckBodyOutputs(const Node& node, const Graph& body) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == ir::kNone) continue;
    const ir::ValueId output = body.outputs()[i];
    if (output == ir::kNone ||
        (body.value(output).producer == ir::kNone &&
         body.value(output).role == ir::Role::kTransient)) {
      return InvalidArgument("its body does not make output ", i);
    }
  }
  return OkStatus();
}

// Null: a body that the library made, whose operators have no surplus inputs.
Status VerifyGraph(const Module* module, Graph& graph, Scope scope);

// Users' composites have no schema.
Status VerifyComposite(const Module* module, Node& node) {
  if (node.schema != nullptr) TIM_RETURN_IF_ERROR(VerifyNode(node));
  auto copy = std::make_shared<ir::Composite>(*node.composite);
  Graph& body = copy->body;
  TIM_RETURN_IF_ERROR(
      CheckBodyCount("input", body.inputs().size(), node.inputs.size()));
  TIM_RETURN_IF_ERROR(
      CheckBodyCount("output", body.outputs().size(), node.outputs.size()));
  RemoveAbsentInputs(node, body);
  TIM_RETURN_IF_ERROR(CheckBodyOutputs(node, body));
  TIM_RETURN_IF_ERROR(VerifyGraph(module, body, Scope::kBody));
  node.composite = std::move(copy);
  return OkStatus();
}

Status VerifyNodes(const Module* module, Graph& graph) {
  for (const ir::NodeId id : graph.NodeIds()) {
    Node& node = graph.node(id);
    const Status status = node.composite ? VerifyComposite(module, node)
                                         : VerifyNode(module, graph, node);
    if (status.ok()) continue;
    return Status(status.code(),
                  StrCat(Describe(graph, node), ": ", status.message(),
                         DescribeOperands(graph, node)));
  }
  return OkStatus();
}

Status VerifyGraph(const Module* module, Graph& graph, Scope scope) {
  TIM_RETURN_IF_ERROR(graph.CheckChains());
  TIM_RETURN_IF_ERROR(VerifyNodes(module, graph));
  for (const ir::ValueId id : graph.ValueIds()) {
    const Value& value = graph.value(id);
    Status status = CheckProducer(graph, value);
    // Inference gives the inputs of a body their types.
    const bool open = scope == Scope::kBody && value.role == ir::Role::kInput;
    if (status.ok() && !open) status = CheckDesc(value);
    if (status.ok()) continue;
    return status.WithContext(
        StrCat("tensor ", value.name, " (", value.desc.ToString(), ")"));
  }
  return graph.TopologicalOrder().status();
}

}  // namespace

Status VerifyBody(const Module* module, Graph& body) {
  return VerifyGraph(module, body, Scope::kBody);
}

Status VerifyComposite(Node& node) { return VerifyComposite(nullptr, node); }

Status Verify(Module& module) {
  return VerifyGraph(&module, module.graph, Scope::kWholeGraph);
}

}  // namespace tim::compiler
