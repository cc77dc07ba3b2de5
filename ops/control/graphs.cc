// Sizes and checks of graphs inside of operators.
#include "ops/control/graphs.h"

#include <memory>
#include <string>
#include <variant>

namespace tim::ops {
namespace {

bool MayBeSame(const ir::Shape& a, const ir::Shape& b) {
  return !a.IsStatic() || !b.IsStatic() || a == b;
}

}  // namespace

const ir::Graph& GraphOf(const ir::Node& node, std::string_view attribute) {
  return *std::get<std::shared_ptr<const ir::Graph>>(
      *node.attributes.Find(attribute));
}

const ir::Value& OutputOf(const ir::Graph& graph, size_t index) {
  return graph.value(graph.outputs()[index]);
}

int64_t EvalBytesOf(const ir::Graph& graph) {
  int64_t bytes = 0;
  for (const ir::ValueId id : graph.ValueIds()) {
    const ir::Value& value = graph.value(id);
    if (value.role != ir::Role::kTransient) continue;
    const auto size = ir::ByteSize(value.desc);
    if (size.ok()) bytes += *size;
  }
  return bytes;
}

Status CheckCondition(const char* what, const ir::TensorDesc& desc) {
  const bool known = desc.shape.IsStatic();
  if (desc.type == ir::DataType::kBool8 &&
      (!known || desc.shape.NumElements() == 1)) {
    return OkStatus();
  }
  return InvalidArgument(what, " is ", desc.ToString(),
                         ", expected BOOL8 of one element");
}

Status CheckSame(const char* what, size_t index, const char* first,
                 const ir::TensorDesc& a, const char* second,
                 const ir::TensorDesc& b) {
  if (a.type == b.type && a.quantization == b.quantization &&
      MayBeSame(a.shape, b.shape)) {
    return OkStatus();
  }
  return InvalidArgument(what, " ", index, " is ", a.ToString(), " ", first,
                         " and ", b.ToString(), " ", second,
                         "; both must be equal");
}

}  // namespace tim::ops
