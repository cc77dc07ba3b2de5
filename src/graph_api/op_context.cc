// Calls the callbacks of registered operations.
#include "graph_api/op_context.h"

#include <algorithm>
#include <utility>

#include "base/guarded.h"
#include "graph_api/lowering.h"
#include "graph_api/port_layouts.h"

namespace tim::graph {
namespace {

StatusCode CodeFor(tim_graph_status_t status) {
  struct Pair {
    tim_graph_status_t status;
    StatusCode code;
  };
  constexpr Pair kPairs[] = {
      {tim_graph_out_of_memory, StatusCode::kOutOfMemory},
      {tim_graph_invalid_arguments, StatusCode::kInvalidArgument},
      {tim_graph_invalid_graph, StatusCode::kInvalidArgument},
      {tim_graph_invalid_graph_op, StatusCode::kInvalidArgument},
      {tim_graph_invalid_shape, StatusCode::kInvalidArgument},
      {tim_graph_invalid_data_type, StatusCode::kInvalidArgument},
      {tim_graph_unimplemented, StatusCode::kUnimplemented},
      {tim_graph_last_impl_reached, StatusCode::kUnimplemented}};
  for (const Pair& pair : kPairs) {
    if (pair.status == status) return pair.code;
  }
  return StatusCode::kFailedPrecondition;
}

tim_graph_data_type_t OuterType(ir::DataType type) {
  for (const tim_graph_data_type_t outer : ExtendedTypes()) {
    if (InnerType(outer) == type) return outer;
  }
  return tim_graph_data_type_undef;
}

// Attributes of an operator in the form of this front.
struct Outer {
  AttributeValue operator()(bool value) const { return value; }
  AttributeValue operator()(int64_t value) const { return value; }
  AttributeValue operator()(double value) const {
    return static_cast<float>(value);
  }
  AttributeValue operator()(const std::string& value) const { return value; }
  AttributeValue operator()(const Dims& value) const { return value; }
  AttributeValue operator()(const std::vector<double>& value) const {
    return Floats(value.begin(), value.end());
  }
  // Operators that are registered have no others.
  template <typename Other>
  AttributeValue operator()(const Other&) const {
    return int64_t{0};
  }
};

}  // namespace

const char* ToString(CallbackRole role) {
  constexpr const char* kNames[] = {"infer_shapes", "decompose", "host",
                                    "launch"};
  return kNames[static_cast<int>(role)];
}

LogicalTensor DescribedAs(size_t id, const ir::TensorDesc* desc,
                          bool is_scalar) {
  LogicalTensor tensor = {};
  tensor.id = id;
  tensor.ndims = TIM_GRAPH_UNKNOWN_NDIMS;
  tensor.layout_type = tim_graph_layout_type_strided;
  if (desc == nullptr) return tensor;
  tensor.data_type = OuterType(desc->type);
  if (!desc->shape.ranked() || desc->shape.rank() > TIM_GRAPH_MAX_NDIMS) {
    return tensor;
  }
  const Dims dims = is_scalar ? Dims() : Reversed(desc->shape.dims());
  tensor.ndims = static_cast<int>(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    tensor.dims[i] = dims[i] < 0 ? TIM_GRAPH_UNKNOWN_DIM : dims[i];
  }
  if (HasKnownDims(tensor)) {
    SetDenseStrides(&tensor);
  } else {
    std::fill_n(tensor.layout.strides, dims.size(), TIM_GRAPH_UNKNOWN_DIM);
  }
  return tensor;
}

Types TypesOf(const std::vector<LogicalTensor>& tensors) {
  Types types;
  for (const LogicalTensor& tensor : tensors) types.push_back(tensor.data_type);
  return types;
}

}  // namespace tim::graph

tim_graph_op_context::tim_graph_op_context(const tim::graph::ExtendedOp& called,
                                           tim::graph::CallbackRole its_role,
                                           const tim::ir::AttributeMap& values)
    : op(called), role(its_role) {
  for (const tim::graph::NamedAttributeDef& def : called.attributes) {
    const tim::ir::Attribute* const value = values.Find(def.name);
    if (value == nullptr) continue;
    attributes.emplace(def.name, std::visit(tim::graph::Outer(), *value));
  }
}

void tim_graph_op_context::AddInput(const tim::ir::TensorDesc* desc,
                                    bool is_scalar) {
  inputs.push_back(tim::graph::DescribedAs(inputs.size(), desc, is_scalar));
}

void tim_graph_op_context::AddOutput(const tim::ir::TensorDesc* desc) {
  while (inputs.size() < op.inputs.params.size()) AddInput(nullptr);
  outputs.push_back(
      tim::graph::DescribedAs(inputs.size() + outputs.size(), desc));
}

tim::Status tim_graph_op_context::Call(tim_graph_op_callback_t callback) {
  tim_graph_status_t code = tim_graph_runtime_error;
  const tim::Status guarded = tim::GuardedCall([&] {
    code = callback(op.user, this);
    return tim::OkStatus();
  });
  if (guarded.ok() && code == tim_graph_success) return guarded;
  const std::string text =
      !guarded.ok() ? guarded.message()
      : message.empty()
          ? tim::StrCat("it fails with ", tim_graph_status2str(code))
          : message;
  return tim::Status(
      tim::graph::CodeFor(code),
      tim::StrCat(op.Key(), ": ", tim::graph::ToString(role), ": ", text));
}
