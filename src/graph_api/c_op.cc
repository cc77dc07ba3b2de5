// The C boundary: operations.
#include <algorithm>
#include <string>
#include <vector>

#include "graph_api/error.h"
#include "graph_api/graph.h"
#include "graph_api/logical_tensor.h"
#include "graph_api/op_def.h"
#include "tim/graph/c.h"

namespace tim::graph {
namespace {

Status Append(const LogicalTensor* tensor, const char* what,
              std::vector<LogicalTensor>* list) {
  TIM_RETURN_IF_ERROR(RequireNotNull(tensor, what));
  TIM_RETURN_IF_ERROR(CheckDescription(*tensor));
  list->push_back(*tensor);
  return OkStatus();
}

// One number is a list where the attribute is one; CheckOp() finds types that
// do not fit.
template <typename T>
Status SetNumbers(tim_graph_op_t op, tim_graph_op_attr_t name, const T* value,
                  size_t count, AttributeType list) {
  TIM_RETURN_IF_ERROR(RequireNotNull(op, "op"));
  if (count != 0) TIM_RETURN_IF_ERROR(RequireNotNull(value, "value"));
  AttributeValue& to = op->op.attributes[name];
  if (count == 1 && TypeOf(name) != list) {
    to = *value;
  } else if (count == 0) {
    to = std::vector<T>();
  } else {
    to = std::vector<T>(value, value + count);
  }
  return OkStatus();
}

}  // namespace
}  // namespace tim::graph

using namespace tim;         // NOLINT
using namespace tim::graph;  // NOLINT

tim_graph_status_t tim_graph_op_create(tim_graph_op_t* op, size_t id,
                                       tim_graph_op_kind_t kind,
                                       const char* verbose_name) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(op, "op"));
    *op =
        new tim_graph_op{{.id = id,
                          .kind = kind,
                          .name = verbose_name == nullptr ? "" : verbose_name}};
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_op_destroy(tim_graph_op_t op) {
  return Answer([&] {
    delete op;
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_op_add_input(
    tim_graph_op_t op, const tim_graph_logical_tensor_t* input) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(op, "op"));
    return Append(input, "input", &op->op.inputs);
  });
}

tim_graph_status_t tim_graph_op_add_output(
    tim_graph_op_t op, const tim_graph_logical_tensor_t* output) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(op, "op"));
    return Append(output, "output", &op->op.outputs);
  });
}

tim_graph_status_t tim_graph_op_set_attr_f32(tim_graph_op_t op,
                                             tim_graph_op_attr_t name,
                                             const float* value,
                                             size_t value_len) {
  return Answer([&] {
    return SetNumbers(op, name, value, value_len, AttributeType::kFloats);
  });
}

tim_graph_status_t tim_graph_op_set_attr_s64(tim_graph_op_t op,
                                             tim_graph_op_attr_t name,
                                             const int64_t* value,
                                             size_t value_len) {
  return Answer([&] {
    return SetNumbers(op, name, value, value_len, AttributeType::kInts);
  });
}

tim_graph_status_t tim_graph_op_set_attr_bool(tim_graph_op_t op,
                                              tim_graph_op_attr_t name,
                                              const uint8_t* value,
                                              size_t value_len) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(op, "op"));
    TIM_RETURN_IF_ERROR(RequireNotNull(value, "value"));
    if (value_len != 1) {
      return InvalidArgument("attribute '", NameOf(name), "' was given ",
                             value_len, " bools, expected one");
    }
    op->op.attributes[name] = *value != 0;
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_op_set_attr_str(tim_graph_op_t op,
                                             tim_graph_op_attr_t name,
                                             const char* value,
                                             size_t value_len) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(op, "op"));
    TIM_RETURN_IF_ERROR(RequireNotNull(value, "value"));
    // Programs in C may count the null at the end, too.
    std::string text(value, value_len);
    text.resize(std::min(text.find('\0'), text.size()));
    if (text.empty()) {
      return InvalidArgument("attribute '", NameOf(name),
                             "' was given an empty string");
    }
    op->op.attributes[name] = text;
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_op_get_id(const_tim_graph_op_t op, size_t* id) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(op, "op"));
    TIM_RETURN_IF_ERROR(RequireNotNull(id, "id"));
    *id = op->op.id;
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_op_get_kind(const_tim_graph_op_t op,
                                         tim_graph_op_kind_t* kind) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(op, "op"));
    TIM_RETURN_IF_ERROR(RequireNotNull(kind, "kind"));
    *kind = op->op.kind;
    return OkStatus();
  });
}
