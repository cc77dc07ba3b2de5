// The C boundary: registered operations, and what the library says of an op.
#include "tim/graph/c_extension.h"

#include <string>
#include <utility>
#include <vector>

#include "graph_api/definition.h"
#include "graph_api/error.h"
#include "graph_api/extended_ops.h"
#include "graph_api/graph.h"
#include "graph_api/support.h"
#include "tim/graph/c.h"

namespace tim::graph {
namespace {

// One number is a list where the attribute is one, which CheckOp() knows.
template <typename T>
Status SetNumbers(tim_graph_op_t op, const char* name, const T* value,
                  size_t count) {
  TIM_RETURN_IF_ERROR(RequireNotNull(op, "op"));
  TIM_RETURN_IF_ERROR(RequireNotNull(name, "name"));
  if (count != 0) TIM_RETURN_IF_ERROR(RequireNotNull(value, "value"));
  AttributeValue& to = op->op.named[name];
  if (count == 1) {
    to = *value;
  } else {
    to = std::vector<T>(value, value + count);
  }
  return OkStatus();
}

Status Register(const tim_graph_op_definition_t& definition,
                tim_graph_op_kind_t* kind) {
  TIM_ASSIGN_OR_RETURN(ExtendedOp op, ReadDefinition(definition));
  TIM_ASSIGN_OR_RETURN(*kind, RegisterExtendedOp(std::move(op)));
  return OkStatus();
}

// This thread's last answer.
OpSupport& LastSupport() {
  thread_local OpSupport support;
  return support;
}

}  // namespace
}  // namespace tim::graph

using namespace tim;         // NOLINT
using namespace tim::graph;  // NOLINT

tim_graph_status_t tim_graph_register_op(
    const tim_graph_op_definition_t* definition, tim_graph_op_kind_t* kind) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(definition, "definition"));
    TIM_RETURN_IF_ERROR(RequireNotNull(kind, "kind"));
    return Register(*definition, kind);
  });
}

tim_graph_status_t tim_graph_register_expression(const char* domain,
                                                 const char* name,
                                                 const char* text,
                                                 tim_graph_op_kind_t* kind) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(text, "text"));
    TIM_RETURN_IF_ERROR(RequireNotNull(kind, "kind"));
    tim_graph_op_definition_t definition = {};
    definition.domain = domain;
    definition.name = name;
    definition.version = 1;
    // An empty text is one, and wrong.
    definition.expression = *text == '\0' ? " " : text;
    return Register(definition, kind);
  });
}

tim_graph_status_t tim_graph_find_op(const char* domain, const char* name,
                                     int version, tim_graph_op_kind_t* kind) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(domain, "domain"));
    TIM_RETURN_IF_ERROR(RequireNotNull(name, "name"));
    TIM_RETURN_IF_ERROR(RequireNotNull(kind, "kind"));
    const OpDef* const def = FindExtendedOp(domain, name, version);
    *kind = def != nullptr ? def->kind : tim_graph_op_last_symbol;
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_query_support(const_tim_graph_op_t op,
                                           tim_graph_engine_kind_t engine_kind,
                                           tim_graph_op_support_t* support) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(op, "op"));
    TIM_RETURN_IF_ERROR(RequireNotNull(support, "support"));
    if (engine_kind != tim_graph_cpu && engine_kind != tim_graph_gpu) {
      return InvalidArgument("the engine kind is '",
                             tim_graph_engine_kind2str(engine_kind),
                             "', expected cpu or gpu");
    }
    OpSupport& answer = LastSupport();
    answer = QuerySupport(op->op, engine_kind);
    *support = {.supported = static_cast<uint8_t>(answer.supported ? 1 : 0),
                .device = answer.device.c_str(),
                .reason = answer.reason.c_str()};
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_op_set_named_attr_f32(tim_graph_op_t op,
                                                   const char* name,
                                                   const float* value,
                                                   size_t value_len) {
  return Answer([&] { return SetNumbers(op, name, value, value_len); });
}

tim_graph_status_t tim_graph_op_set_named_attr_s64(tim_graph_op_t op,
                                                   const char* name,
                                                   const int64_t* value,
                                                   size_t value_len) {
  return Answer([&] { return SetNumbers(op, name, value, value_len); });
}

tim_graph_status_t tim_graph_op_set_named_attr_bool(tim_graph_op_t op,
                                                    const char* name,
                                                    const uint8_t* value,
                                                    size_t value_len) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(op, "op"));
    TIM_RETURN_IF_ERROR(RequireNotNull(name, "name"));
    TIM_RETURN_IF_ERROR(RequireNotNull(value, "value"));
    if (value_len != 1) {
      return InvalidArgument("attribute '", name, "' was given ", value_len,
                             " bools, expected one");
    }
    op->op.named[name] = *value != 0;
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_op_set_named_attr_str(tim_graph_op_t op,
                                                   const char* name,
                                                   const char* value,
                                                   size_t value_len) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(op, "op"));
    TIM_RETURN_IF_ERROR(RequireNotNull(name, "name"));
    TIM_RETURN_IF_ERROR(RequireNotNull(value, "value"));
    if (value_len == 0) {
      return InvalidArgument("attribute '", name,
                             "' was given an empty string");
    }
    op->op.named[name] = std::string(value, value_len);
    return OkStatus();
  });
}
