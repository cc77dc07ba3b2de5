#include "tim/vx/builtin_op.h"

#include "tim/vx/graph.h"
#include "tim/vx/ops/control.h"
#include "vx/operation/op_impl.h"

namespace tim::vx {

BuiltinOp::BuiltinOp(Graph* graph, uint32_t kind, int, int, DataLayout) {
  impl_->kind = Builtin{.number = kind};
  impl_->Join(CoreOf(graph));
}

BuiltinOp::BuiltinOp(Graph* graph, const char* name,
                     std::initializer_list<NamedAttribute> attributes) {
  impl_->name = name;
  impl_->SetAttributes(attributes);
  impl_->Join(CoreOf(graph));
}

BuiltinOp::BuiltinOp(const BuiltinOp& original) = default;

ControlOp::ControlOp(Graph* graph, const char* name, Graphs graphs,
                     std::initializer_list<NamedAttribute> attributes)
    : BuiltinOp(graph, name, attributes) {
  impl_->graphs.assign(graphs.begin(), graphs.end());
}

std::shared_ptr<Operation> BuiltinOp::AddClone(
    const std::shared_ptr<Graph>& graph, std::shared_ptr<Operation> clone) {
  if (graph != nullptr) graph->AddOperation(clone);
  return clone;
}

}  // namespace tim::vx
