#include "tim/vx/builtin_op.h"

#include "vx/operation/op_impl.h"

namespace tim::vx {
namespace {

ir::Attribute ToIr(const NamedAttribute& attribute) {
  switch (attribute.type()) {
    case NamedAttribute::Type::kBool:
      return attribute.number() != 0;
    case NamedAttribute::Type::kInt:
      return attribute.number();
    case NamedAttribute::Type::kFloat:
      return attribute.real();
    case NamedAttribute::Type::kString:
      return attribute.text();
    case NamedAttribute::Type::kInts:
      return attribute.numbers();
    case NamedAttribute::Type::kFloats:
      return attribute.reals();
    case NamedAttribute::Type::kStrings:
      return attribute.texts();
  }
  return int64_t{0};
}

}  // namespace

BuiltinOp::BuiltinOp(Graph* graph, uint32_t kind, int, int, DataLayout) {
  impl_->kind = kind;
  impl_->Join(CoreOf(graph));
}

BuiltinOp::BuiltinOp(Graph* graph, const char* name,
                     std::initializer_list<NamedAttribute> attributes) {
  impl_->name = name;
  for (const NamedAttribute& attribute : attributes) {
    impl_->attributes.Set(attribute.name(), ToIr(attribute));
  }
  impl_->Join(CoreOf(graph));
}

std::shared_ptr<Operation> BuiltinOp::AddClone(
    const std::shared_ptr<Graph>& graph, std::shared_ptr<Operation> clone) {
  if (graph != nullptr) graph->AddOperation(clone);
  return clone;
}

}  // namespace tim::vx
