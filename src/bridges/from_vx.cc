// Lowers a graph of tim::vx and imports what comes out, unless a part of it is
// nothing that values have.
#include "bridges/from_vx.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compiler/compiler.h"
#include "ir/op_schema.h"
#include "ops/registered.h"
#include "vx/graph/effective_operations.h"
#include "vx/graph/graph_impl.h"
#include "vx/lowering/lowering.h"
#include "vx/operation/op_impl.h"

namespace tim::bridges {
namespace {

using values::internal::GraphState;
using Tensors = std::vector<std::shared_ptr<vx::Tensor>>;

// Nodes of all depths have operators that both fronts know.
Status CheckNode(const ir::Node& node) {
  if (node.schema != nullptr) {
    const std::string key = node.schema->Key();
    if (ops::KnownOperators().Find(key) != node.schema) {
      return Unimplemented(
          "operation ", node.name, ": its operator ", key,
          " is the graph's own, a custom operator or a binary graph; values "
          "have those of the library and those that were registered "
          "(tim/graph/extension.hpp, plug-ins)");
    }
  }
  if (node.device >= 0) {
    return Unimplemented("operation ", node.name,
                         " must run on one device (SetAffinity()); programs of "
                         "values say where by ProgramOptions::devices");
  }
  for (const ir::Graph* inner : ir::NestedGraphs(node)) {
    for (const ir::NodeId id : inner->NodeIds()) {
      const Status status = CheckNode(inner->node(id));
      if (!status.ok()) return status.WithContext(node.name);
    }
  }
  return OkStatus();
}

Status CheckSayable(const vx::LoweredGraph& lowered) {
  if (!lowered.states.empty()) {
    return Unimplemented(
        "tensor ", lowered.states[0]->Name(),
        " is a VARIABLE, which is memory of the graph; make an INPUT and an "
        "OUTPUT of it, and hand the one run's output to the next");
  }
  for (const ir::NodeId id : lowered.graph.NodeIds()) {
    TIM_RETURN_IF_ERROR(CheckNode(lowered.graph.node(id)));
  }
  return OkStatus();
}

bool Has(const std::vector<std::shared_ptr<vx::TensorImpl>>& list,
         const std::shared_ptr<vx::Tensor>& tensor) {
  return std::find(list.begin(), list.end(), tensor) != list.end();
}

// Names that users gave, without the numbers beside them.
void GiveNames(vx::LoweredGraph* lowered) {
  for (const vx::LoweredTensor& entry : lowered->tensors) {
    const std::string& given = entry.tensor->GetSpec().GetName();
    if (!given.empty()) lowered->graph.value(entry.value).name = given;
  }
  for (size_t i = 0; i < lowered->operations.size(); ++i) {
    const std::string& given = lowered->operations[i]->InstanceName();
    if (given.empty()) continue;
    lowered->graph.node(static_cast<ir::NodeId>(i)).name = given;
  }
}

// Makes all tensors that the client feeds or reads ports of the graph, in the
// order of their creation.
Status AddUnread(const Tensors& io, vx::LoweredGraph* lowered) {
  ir::Graph& graph = lowered->graph;
  const std::vector<ir::ValueId> known = graph.inputs();
  std::vector<ir::ValueId> inputs;
  size_t next = 0;
  for (const auto& tensor : io) {
    if (Has(lowered->outputs, tensor)) continue;
    if (Has(lowered->inputs, tensor)) {
      inputs.push_back(known[next++]);
      continue;
    }
    auto& unread = static_cast<vx::TensorImpl&>(*tensor);
    if (unread.attribute() != vx::INPUT) {
      return InvalidArgument("no operation writes the OUTPUT tensor ",
                             unread.Name());
    }
    TIM_ASSIGN_OR_RETURN(ir::TensorDesc desc, unread.DeclaredDesc());
    const std::string& given = unread.GetSpec().GetName();
    inputs.push_back(graph.AddValue(std::move(desc), ir::Role::kInput,
                                    given.empty() ? unread.Name() : given));
    graph.value(inputs.back()).is_scalar = unread.IsScalar();
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i < known.size()) {
      graph.SetGraphInput(static_cast<int>(i), inputs[i]);
    } else {
      graph.AddInput(inputs[i]);
    }
  }
  return OkStatus();
}

// Bodies and graphs inside as they were: what inference found of them is for
// these shapes, and what operators are decomposed into is theirs.
void RestoreInner(const ir::Graph& lowered, ir::Graph* inferred) {
  for (const ir::NodeId id : lowered.NodeIds()) {
    const ir::Node& before = lowered.node(id);
    ir::Node& node = inferred->node(id);
    node.composite = before.composite;
    for (const auto& [name, value] : before.attributes.entries()) {
      if (ir::TypeOf(value) == ir::AttributeType::kGraph) {
        node.attributes.Set(name, value);
      }
    }
  }
}

}  // namespace

Result<std::shared_ptr<GraphState>> FromVx(vx::Graph* graph) {
  if (graph == nullptr) return InvalidArgument("the graph is null");
  auto* own = dynamic_cast<vx::GraphImpl*>(graph);
  if (own == nullptr) {
    return InvalidArgument("the graph is not one of this library");
  }
  vx::GraphCore& core = *own->core();
  TIM_ASSIGN_OR_RETURN(const vx::Operations operations,
                       vx::EffectiveOperations(core, own->OpVector()));
  Tensors io = own->InputsTensor();
  for (const auto& output : own->OutputsTensor()) io.push_back(output);
  TIM_ASSIGN_OR_RETURN(vx::LoweredGraph lowered,
                       vx::Lower(core, operations, io));
  TIM_RETURN_IF_ERROR(CheckSayable(lowered));
  GiveNames(&lowered);
  TIM_RETURN_IF_ERROR(AddUnread(io, &lowered));
  ir::Graph inferred = lowered.graph;
  TIM_RETURN_IF_ERROR(compiler::InferGraph(&inferred, ops::KnownOperators()));
  RestoreInner(lowered.graph, &inferred);
  return GraphState::Import(inferred);
}

}  // namespace tim::bridges
