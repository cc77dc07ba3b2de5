// Inputs that are bound behind those that the operator has.
#include <limits>

#include "compiler/compiler.h"
#include "ir/op_schema.h"
#include "tests/properties/properties.h"

namespace tim::testing {
namespace {

// The graph of the node with `count` more inputs, where all inputs that it may
// have are bound or absent.
ir::Graph WithMoreInputs(const TestNode& node, int count, ir::Role role) {
  ir::Graph graph = node.graph;
  ir::Node more = graph.node(node.node);
  graph.RemoveNode(node.node);
  more.inputs.resize(more.schema->InputArity(more.attributes).limit, ir::kNone);
  ir::TensorDesc desc;
  desc.type = ir::DataType::kInt32;
  desc.shape = ir::Shape({2});
  const std::vector<std::byte> zeros(2 * sizeof(int32_t));
  for (int i = 0; i < count; ++i) {
    ir::ValueId id = ir::kNone;
    if (role == ir::Role::kConstant) {
      id = graph.AddConstant(desc, ir::MakeConstant(zeros), "surplus");
    } else {
      id = graph.AddValue(desc, role, "surplus");
      graph.AddInput(id);
    }
    more.inputs.push_back(id);
  }
  graph.AddNode(std::move(more));
  return graph;
}

Status Refused(const TestNode& node, int count, ir::Role role) {
  ir::Graph graph = WithMoreInputs(node, count, role);
  const Status status = compiler::InferGraph(&graph, *node.registry);
  if (status.message().find("inputs are bound, expected") !=
      std::string::npos) {
    return OkStatus();
  }
  return InvalidArgument(count, " inputs too many give '", status.message(),
                         "'");
}

}  // namespace

Status SurplusInputsAreDropped(const Described& described, const NodeCase& node,
                               CaseRng&) {
  TIM_ASSIGN_OR_RETURN(const TestNode made, MakeNode(node, described.registry));
  const ir::Node& own = made.graph.node(made.node);
  const int limit = own.schema->InputArity(own.attributes).limit;
  if (limit > std::numeric_limits<int16_t>::max()) return OkStatus();
  const int surplus = own.schema->surplus_inputs;
  TIM_RETURN_IF_ERROR(Refused(made, surplus + 1, ir::Role::kConstant));
  if (surplus == 0) return OkStatus();
  TIM_RETURN_IF_ERROR(Refused(made, surplus, ir::Role::kInput));
  ir::Graph graph = WithMoreInputs(made, surplus, ir::Role::kConstant);
  TIM_RETURN_IF_ERROR(compiler::InferGraph(&graph, described.registry));
  for (const ir::ValueId id : graph.ValueIds()) {
    if (graph.value(id).name != "surplus" || graph.value(id).uses.empty()) {
      continue;
    }
    return InvalidArgument("a surplus constant is still bound");
  }
  return OkStatus();
}

}  // namespace tim::testing
