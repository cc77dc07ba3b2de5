#include "ir/verify/host_node.h"

#include <utility>
#include <vector>

#include "ir/op_schema.h"
#include "ir/verify/desc_check.h"

namespace tim::ir {
namespace {

// What the rules see of an operand; null desc: absent.
struct Operand {
  const TensorDesc* desc = nullptr;
  bool is_constant = false;
  bool is_scalar = false;
  const ConstantData* constant = nullptr;  // null: its bytes are not known
};

using Operands = std::vector<Operand>;

std::vector<const TensorDesc*> DescsOf(const Operands& operands) {
  std::vector<const TensorDesc*> descs;
  for (const Operand& operand : operands) descs.push_back(operand.desc);
  return descs;
}

bool IsSame(const TensorDesc& a, const TensorDesc& b) {
  return a.type == b.type && a.shape.dims() == b.shape.dims();
}

// The operator makes of such inputs outputs of these types and extents.
Status CheckInferred(const Node& node, const Operands& inputs,
                     const Operands& outputs) {
  InferContext context{.node = node, .inputs = {}, .outputs = {}};
  for (const Operand& input : inputs) {
    context.inputs.push_back({.desc = input.desc,
                              .constant = input.constant,
                              .is_scalar = input.is_scalar,
                              .is_constant = input.is_constant});
  }
  for (const Operand& output : outputs) {
    InferContext::Output& out = context.outputs.emplace_back();
    if (output.desc == nullptr) continue;
    out.desc = *output.desc;
    out.desc.shape = Shape();
    out.declared = &output.desc->shape;
  }
  TIM_RETURN_IF_ERROR(node.schema->infer_shapes(context));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorDesc* given = outputs[i].desc;
    if (given == nullptr) continue;
    const TensorDesc& made = context.outputs[i].desc;
    if (IsSame(made, *given)) continue;
    return InvalidArgument("output ", i, " is ", given->ToString(),
                           ", the operation gives ", made.ToString());
  }
  return OkStatus();
}

// Users' operators are asked for shapes once, when a graph is compiled, and
// check what they are given.
Status CheckRules(const Node& node, const Operands& inputs,
                  const Operands& outputs) {
  TIM_RETURN_IF_ERROR(CheckOperandCounts(node));
  if (!node.schema->user_kernel) {
    TIM_RETURN_IF_ERROR(CheckInferred(node, inputs, outputs));
  }
  if (!node.schema->check) return OkStatus();
  const std::vector<const TensorDesc*> in = DescsOf(inputs);
  const std::vector<const TensorDesc*> out = DescsOf(outputs);
  return node.schema->check({node, in, out});
}

Status CheckNode(const Node& node, const Operands& inputs,
                 const Operands& outputs) {
  if (!node.schema->eval) {
    return Unimplemented("'", node.name, "' has no host reference");
  }
  return CheckRules(node, inputs, outputs);
}

Operands OperandsOf(const std::vector<std::optional<CallOperand>>& operands) {
  Operands out;
  for (const auto& operand : operands) {
    out.push_back(
        operand ? Operand{&operand->desc, operand->constant, operand->scalar}
                : Operand());
  }
  return out;
}

Result<Operands> OperandsOf(const Graph& graph,
                            const std::vector<ValueId>& values) {
  Operands out;
  for (const ValueId id : values) {
    Operand& operand = out.emplace_back();
    if (id == kNone) continue;
    const Value& value = graph.value(id);
    operand = {&value.desc, value.role == Role::kConstant, value.is_scalar,
               value.constant.get()};
    TIM_RETURN_IF_ERROR(CheckDesc(value.desc).status());
  }
  return out;
}

Status DiffersInBody(const char* what, size_t index, const TensorDesc& given,
                     const TensorDesc& body) {
  return InvalidArgument(what, " ", index, " is ", given.ToString(),
                         ", in the body ", body.ToString());
}

Status CheckBodyInputs(const Operands& given, const Graph& body) {
  if (given.size() != body.inputs().size()) {
    return InvalidArgument("the body has ", body.inputs().size(),
                           " inputs, the operation ", given.size());
  }
  for (size_t i = 0; i < given.size(); ++i) {
    const ValueId id = body.inputs()[i];
    if (id == kNone) continue;  // the body does not read it
    if (given[i].desc == nullptr) {
      return InvalidArgument("the body reads input ", i, ", which is absent");
    }
    const TensorDesc& desc = body.value(id).desc;
    if (!IsSame(*given[i].desc, desc)) {
      return DiffersInBody("input", i, *given[i].desc, desc);
    }
  }
  return OkStatus();
}

Status CheckBodyOutputs(const Operands& given, const Graph& body) {
  if (given.size() != body.outputs().size()) {
    return InvalidArgument("the body has ", body.outputs().size(),
                           " outputs, the operation ", given.size());
  }
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i].desc == nullptr) continue;
    const ValueId id = body.outputs()[i];
    if (id == kNone) {
      return InvalidArgument("the body does not make output ", i);
    }
    const TensorDesc& desc = body.value(id).desc;
    if (!IsSame(*given[i].desc, desc)) {
      return DiffersInBody("output", i, *given[i].desc, desc);
    }
  }
  return OkStatus();
}

Status CheckBody(const Operands& inputs, const Operands& outputs,
                 const Graph& body);

Status CheckBodyNode(const Graph& body, const Node& node) {
  TIM_ASSIGN_OR_RETURN(const Operands inputs, OperandsOf(body, node.inputs));
  TIM_ASSIGN_OR_RETURN(const Operands outputs, OperandsOf(body, node.outputs));
  if (node.composite) return CheckBody(inputs, outputs, node.composite->body);
  if (node.schema == nullptr) return InvalidArgument("it has no operator");
  return CheckNode(node, inputs, outputs);
}

// What the body reads and makes is what the operation has, and all its nodes
// keep their rules.
Status CheckBody(const Operands& inputs, const Operands& outputs,
                 const Graph& body) {
  TIM_RETURN_IF_ERROR(CheckBodyInputs(inputs, body));
  TIM_RETURN_IF_ERROR(CheckBodyOutputs(outputs, body));
  for (const NodeId id : body.NodeIds()) {
    const Status status = CheckBodyNode(body, body.node(id));
    if (!status.ok()) return status.WithContext(body.node(id).name);
  }
  return OkStatus();
}

// As many operands as the call has, in their order.
Node NumberedNode(const HostCall& call) {
  Node node;
  node.name = call.name;
  node.attributes = call.attributes;
  ValueId next = 0;
  for (const auto& input : call.inputs) {
    node.inputs.push_back(input ? next++ : kNone);
  }
  for (const auto& output : call.outputs) {
    node.outputs.push_back(output ? next++ : kNone);
  }
  return node;
}

}  // namespace

Result<Node> MakeHostNode(const HostCall& call, const OpRegistry& operators) {
  Node node = NumberedNode(call);
  node.schema = operators.Find(call.op);
  if (node.schema == nullptr) {
    return InvalidArgument("there is no operator ", call.op);
  }
  TIM_RETURN_IF_ERROR(CompleteAttributes(*node.schema, &node.attributes));
  TIM_RETURN_IF_ERROR(
      CheckNode(node, OperandsOf(call.inputs), OperandsOf(call.outputs)));
  return node;
}

Status CheckPart(const Graph& part) {
  for (const NodeId id : part.NodeIds()) {
    const Node& node = part.node(id);
    TIM_ASSIGN_OR_RETURN(const Operands inputs, OperandsOf(part, node.inputs));
    TIM_ASSIGN_OR_RETURN(const Operands outputs,
                         OperandsOf(part, node.outputs));
    Status status = InvalidArgument("it has no operator");
    if (node.composite) {
      status = CheckBody(inputs, outputs, node.composite->body);
    } else if (node.schema != nullptr) {
      status = CheckRules(node, inputs, outputs);
    }
    if (!status.ok()) return status.WithContext(node.name);
  }
  return OkStatus();
}

Status CheckHostBody(const HostCall& call) {
  return CheckBody(OperandsOf(call.inputs), OperandsOf(call.outputs),
                   *call.body);
}

}  // namespace tim::ir
