// The C boundary: what callbacks of registered operations are told and say.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "graph_api/error.h"
#include "graph_api/graph.h"
#include "graph_api/logical_tensor.h"
#include "graph_api/lowering.h"
#include "graph_api/op_context.h"
#include "graph_api/port_layouts.h"
#include "tim/graph/c_extension.h"

namespace tim::graph {
namespace {

using Context = tim_graph_op_context;

Status Require(const Context* context, CallbackRole role) {
  TIM_RETURN_IF_ERROR(RequireNotNull(context, "context"));
  if (context->role == role) return OkStatus();
  return InvalidArgument("this is a function of ", ToString(role),
                         " and was called in ", ToString(context->role));
}

template <typename T>
Status At(const std::vector<T>& list, const char* what, size_t index, T* to) {
  TIM_RETURN_IF_ERROR(RequireNotNull(to, what));
  if (index >= list.size()) {
    return InvalidArgument("there is no ", what, " ", index, "; there are ",
                           list.size());
  }
  *to = list[index];
  return OkStatus();
}

Status Count(const std::vector<LogicalTensor>* list, size_t* num) {
  TIM_RETURN_IF_ERROR(RequireNotNull(num, "number"));
  *num = list->size();
  return OkStatus();
}

// The attribute's value in C, which points into the context.
struct ValueInC {
  tim_graph_attribute_value_t operator()(const int64_t& value) const {
    return {tim_graph_attribute_s64, 1, &value};
  }
  tim_graph_attribute_value_t operator()(const float& value) const {
    return {tim_graph_attribute_f32, 1, &value};
  }
  tim_graph_attribute_value_t operator()(const bool& value) const {
    static_assert(sizeof(bool) == 1);
    return {tim_graph_attribute_bool, 1, &value};
  }
  tim_graph_attribute_value_t operator()(const std::string& value) const {
    return {tim_graph_attribute_string, value.size(), value.c_str()};
  }
  tim_graph_attribute_value_t operator()(const Dims& value) const {
    return {tim_graph_attribute_s64_list, value.size(), value.data()};
  }
  tim_graph_attribute_value_t operator()(const Floats& value) const {
    return {tim_graph_attribute_f32_list, value.size(), value.data()};
  }
};

Status SetDims(int ndims, const int64_t* dims, LogicalTensor* tensor) {
  if (ndims < TIM_GRAPH_UNKNOWN_NDIMS || ndims > ir::kMaxRank) {
    return InvalidArgument("a rank of ", ndims, ", expected 0 to ",
                           ir::kMaxRank, ", or -1 for an unknown one");
  }
  if (ndims > 0) TIM_RETURN_IF_ERROR(RequireNotNull(dims, "list of dims"));
  tensor->ndims = ndims;
  if (ndims > 0) std::copy_n(dims, ndims, tensor->dims);
  return OkStatus();
}

// A tensor between the ops of a decomposition.
LogicalTensor NewTensor(Decomposition& made, tim_graph_data_type_t type) {
  LogicalTensor tensor = {};
  tensor.id = made.next_id++;
  tensor.ndims = TIM_GRAPH_UNKNOWN_NDIMS;
  tensor.data_type = type;
  tensor.layout_type = tim_graph_layout_type_strided;
  return tensor;
}

Status AddConstant(Context& context, tim_graph_data_type_t type, int ndims,
                   const int64_t* dims, const void* data, LogicalTensor* to) {
  TIM_RETURN_IF_ERROR(RequireNotNull(data, "data"));
  Decomposition& made = context.decomposition;
  LogicalTensor tensor = NewTensor(made, type);
  TIM_RETURN_IF_ERROR(SetDims(ndims, dims, &tensor));
  if (!HasKnownDims(tensor) || IsEmpty(DimsOf(tensor)) ||
      ElementBits(type) % 8 != 0 || ElementBits(type) == 0) {
    return InvalidArgument("a constant is ", ToString(tensor),
                           ", expected known dims above 0, and a type of whole "
                           "bytes");
  }
  SetDenseStrides(&tensor);
  const size_t bytes = MemorySizeOf(tensor);
  if (bytes == SIZE_MAX) {
    return InvalidArgument("a constant is too large: ", ToString(tensor));
  }
  tensor.property = tim_graph_tensor_property_constant;
  made.constants.push_back(tensor);
  made.contents[tensor.id] = ir::MakeConstant(data, bytes);
  *to = tensor;
  return OkStatus();
}

// Ops are of the library, or were registered before the one that they are of.
Status AddOp(Context& context, Op op) {
  if (static_cast<int>(op.kind) >= static_cast<int>(context.op.kind)) {
    return InvalidArgument(
        "op ", op.id, " '", op.name,
        "' is of a kind that was registered no earlier than ", context.op.Key(),
        ", which it is to be a part of");
  }
  TIM_RETURN_IF_ERROR(CheckOp(BuiltinOps(), &op));
  context.decomposition.ops.push_back(std::move(op));
  return OkStatus();
}

Status SetSizes(size_t dimensions, const size_t* sizes, const char* what,
                std::array<int64_t, 3>* to) {
  if (dimensions < 1 || dimensions > to->size()) {
    return InvalidArgument(dimensions, " ", what, " sizes, expected 1 to ",
                           to->size());
  }
  TIM_RETURN_IF_ERROR(RequireNotNull(sizes, "list of sizes"));
  for (size_t i = 0; i < dimensions; ++i) {
    if (sizes[i] > static_cast<size_t>(INT64_MAX)) {
      return InvalidArgument(what, " size ", i, " is ", sizes[i]);
    }
    (*to)[i] = static_cast<int64_t>(sizes[i]);
  }
  return OkStatus();
}

Status AddScalar(Context* context, ir::UserScalarArg::Value value,
                 const char* type) {
  TIM_RETURN_IF_ERROR(Require(context, CallbackRole::kLaunch));
  auto& scalars = context->launch.scalars;
  ir::UserScalarArg scalar;
  scalar.value = value;
  scalar.type = type;
  scalar.name = StrCat("scalar ", scalars.size());
  scalars.push_back(std::move(scalar));
  return OkStatus();
}

}  // namespace
}  // namespace tim::graph

using namespace tim;         // NOLINT
using namespace tim::graph;  // NOLINT

tim_graph_status_t tim_graph_op_context_get_input_num(
    tim_graph_op_context_t context, size_t* num) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(context, "context"));
    return Count(&context->inputs, num);
  });
}

tim_graph_status_t tim_graph_op_context_get_output_num(
    tim_graph_op_context_t context, size_t* num) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(context, "context"));
    return Count(&context->outputs, num);
  });
}

tim_graph_status_t tim_graph_op_context_get_input(
    tim_graph_op_context_t context, size_t index,
    tim_graph_logical_tensor_t* tensor) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(context, "context"));
    return At(context->inputs, "input", index, tensor);
  });
}

tim_graph_status_t tim_graph_op_context_get_output(
    tim_graph_op_context_t context, size_t index,
    tim_graph_logical_tensor_t* tensor) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(context, "context"));
    return At(context->outputs, "output", index, tensor);
  });
}

tim_graph_status_t tim_graph_op_context_get_attribute(
    tim_graph_op_context_t context, const char* name,
    tim_graph_attribute_value_t* value) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(context, "context"));
    TIM_RETURN_IF_ERROR(RequireNotNull(name, "name"));
    TIM_RETURN_IF_ERROR(RequireNotNull(value, "value"));
    const auto found = context->attributes.find(name);
    if (found == context->attributes.end()) {
      return InvalidArgument(context->op.Key(), " has no attribute '", name,
                             "'");
    }
    *value = std::visit(ValueInC(), found->second);
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_op_context_set_message(
    tim_graph_op_context_t context, const char* message) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(context, "context"));
    TIM_RETURN_IF_ERROR(RequireNotNull(message, "message"));
    context->message = message;
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_op_context_set_output_dims(
    tim_graph_op_context_t context, size_t index, int ndims,
    const int64_t* dims) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(Require(context, CallbackRole::kInferShapes));
    LogicalTensor output;
    TIM_RETURN_IF_ERROR(At(context->outputs, "output", index, &output));
    return SetDims(ndims, dims, &context->outputs[index]);
  });
}

tim_graph_status_t tim_graph_op_context_get_input_data(
    tim_graph_op_context_t context, size_t index, const void** data) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(Require(context, CallbackRole::kHost));
    return At(context->input_data, "input", index, data);
  });
}

tim_graph_status_t tim_graph_op_context_get_output_data(
    tim_graph_op_context_t context, size_t index, void** data) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(Require(context, CallbackRole::kHost));
    return At(context->output_data, "output", index, data);
  });
}

tim_graph_status_t tim_graph_op_context_create_tensor(
    tim_graph_op_context_t context, tim_graph_data_type_t type,
    tim_graph_logical_tensor_t* tensor) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(Require(context, CallbackRole::kDecompose));
    TIM_RETURN_IF_ERROR(RequireNotNull(tensor, "tensor"));
    *tensor = NewTensor(context->decomposition, type);
    return CheckDescription(*tensor);
  });
}

tim_graph_status_t tim_graph_op_context_create_constant(
    tim_graph_op_context_t context, tim_graph_data_type_t type, int ndims,
    const int64_t* dims, const void* data, tim_graph_logical_tensor_t* tensor) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(Require(context, CallbackRole::kDecompose));
    TIM_RETURN_IF_ERROR(RequireNotNull(tensor, "tensor"));
    return AddConstant(*context, type, ndims, dims, data, tensor);
  });
}

tim_graph_status_t tim_graph_op_context_add_op(tim_graph_op_context_t context,
                                               const_tim_graph_op_t op) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(Require(context, CallbackRole::kDecompose));
    TIM_RETURN_IF_ERROR(RequireNotNull(op, "op"));
    return AddOp(*context, op->op);
  });
}

tim_graph_status_t tim_graph_op_context_set_global_size(
    tim_graph_op_context_t context, size_t dimensions, const size_t* sizes) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(Require(context, CallbackRole::kLaunch));
    ir::NdRange& range = context->launch.range;
    range.global = {1, 1, 1};
    TIM_RETURN_IF_ERROR(SetSizes(dimensions, sizes, "global", &range.global));
    range.dimensions = static_cast<int>(dimensions);
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_op_context_set_local_size(
    tim_graph_op_context_t context, size_t dimensions, const size_t* sizes) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(Require(context, CallbackRole::kLaunch));
    return SetSizes(dimensions, sizes, "local", &context->launch.range.local);
  });
}

tim_graph_status_t tim_graph_op_context_add_option(
    tim_graph_op_context_t context, const char* option) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(Require(context, CallbackRole::kLaunch));
    TIM_RETURN_IF_ERROR(RequireNotNull(option, "option"));
    std::string& options = context->launch.options;
    options += StrCat(options.empty() ? "" : " ", option);
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_op_context_add_scalar_f32(
    tim_graph_op_context_t context, float value) {
  return Answer(
      [&] { return AddScalar(context, static_cast<double>(value), "float"); });
}

tim_graph_status_t tim_graph_op_context_add_scalar_s64(
    tim_graph_op_context_t context, int64_t value) {
  return Answer([&] { return AddScalar(context, value, "int64_t"); });
}

tim_graph_status_t tim_graph_op_context_get_device(
    tim_graph_op_context_t context, tim_graph_device_facts_t* device) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(Require(context, CallbackRole::kLaunch));
    TIM_RETURN_IF_ERROR(RequireNotNull(device, "device"));
    const ir::DeviceInfo& info = *context->launch.device;
    *device = {
        .name = info.name.c_str(),
        .max_work_group_size = static_cast<size_t>(info.max_work_group_size),
        .local_memory_bytes = static_cast<size_t>(info.local_memory_bytes),
        .has_fp16 = static_cast<uint8_t>(info.has_fp16 ? 1 : 0)};
    return OkStatus();
  });
}
