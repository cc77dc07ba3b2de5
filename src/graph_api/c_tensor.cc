// The C boundary: tensors.
#include "graph_api/error.h"
#include "graph_api/gpu_ports.h"
#include "graph_api/tensor.h"
#include "ir/data_type.h"
#include "tim/graph/c.h"

namespace tim::graph {
namespace {

bool IsHostScalar(const LogicalTensor& description) {
  return description.property == tim_graph_tensor_property_host_scalar;
}

Status CreateTensor(tim_graph_tensor_t* tensor,
                    const LogicalTensor* description, tim_graph_engine_t engine,
                    void* handle) {
  TIM_RETURN_IF_ERROR(RequireNotNull(tensor, "tensor"));
  TIM_RETURN_IF_ERROR(RequireNotNull(description, "logical tensor"));
  TIM_RETURN_IF_ERROR(RequireNotNull(engine, "engine"));
  if (IsHostScalar(*description)) {
    return InvalidArgument("tensor ", description->id,
                           " is a host scalar, which "
                           "make_scalar_tensor() makes");
  }
  auto shared = engine->shared_from_this();
  if (handle == TIM_GRAPH_MEMORY_ALLOCATE) {
    TIM_ASSIGN_OR_RETURN(auto memory, AllocateFor(*description, *engine));
    const HandleKind kind = engine->allocator()->gives_mem_objects()
                                ? HandleKind::kMemObject
                                : HandleKind::kPointer;
    *tensor = tim_graph_tensor::Make(*description, std::move(shared),
                                     std::move(memory), kind);
    return OkStatus();
  }
  const HandleKind kind = engine->kind() == tim_graph_gpu
                              ? HandleKindOf(*engine)
                              : HandleKind::kPointer;
  *tensor =
      tim_graph_tensor::Make(*description, std::move(shared), handle, kind);
  return OkStatus();
}

Status CreateScalar(tim_graph_tensor_t* tensor,
                    const LogicalTensor* description, const void* value) {
  TIM_RETURN_IF_ERROR(RequireNotNull(tensor, "tensor"));
  TIM_RETURN_IF_ERROR(RequireNotNull(description, "logical tensor"));
  TIM_RETURN_IF_ERROR(RequireNotNull(value, "scalar"));
  if (!IsHostScalar(*description) || description->ndims != 0) {
    return InvalidArgument("tensor ", description->id,
                           " is no host scalar: its property must say so, and "
                           "it must have no dims");
  }
  const auto type = description->data_type;
  if (type != tim_graph_f32 && type != tim_graph_s32 && type != tim_graph_s64) {
    return InvalidArgument("host scalar ", description->id, " is of type ",
                           tim_graph_dt2str(type),
                           ", expected f32, s32 or s64");
  }
  const size_t bytes = type == tim_graph_s64 ? 8 : 4;
  *tensor = tim_graph_tensor::Make(*description, value, bytes);
  return OkStatus();
}

}  // namespace
}  // namespace tim::graph

using namespace tim;         // NOLINT
using namespace tim::graph;  // NOLINT

tim_graph_status_t tim_graph_tensor_create(
    tim_graph_tensor_t* tensor,
    const tim_graph_logical_tensor_t* logical_tensor, tim_graph_engine_t engine,
    void* handle) {
  return Answer(
      [&] { return CreateTensor(tensor, logical_tensor, engine, handle); });
}

tim_graph_status_t tim_graph_tensor_create_scalar(
    tim_graph_tensor_t* tensor,
    const tim_graph_logical_tensor_t* logical_tensor, void* handle) {
  return Answer([&] { return CreateScalar(tensor, logical_tensor, handle); });
}

tim_graph_status_t tim_graph_tensor_destroy(tim_graph_tensor_t tensor) {
  return Answer([&]() -> Status {
    if (tensor != nullptr) tensor->Drop();
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_tensor_get_data_handle(
    const_tim_graph_tensor_t tensor, void** handle) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(tensor, "tensor"));
    TIM_RETURN_IF_ERROR(RequireNotNull(handle, "handle"));
    *handle = tensor->handle();
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_tensor_set_data_handle(tim_graph_tensor_t tensor,
                                                    void* handle) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(tensor, "tensor"));
    if (tensor->is_scalar()) {
      return InvalidArgument("tensor ", tensor->description().id,
                             " is a host scalar: its value was copied, and it "
                             "has no handle");
    }
    tensor->set_handle(handle);
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_tensor_get_engine(const_tim_graph_tensor_t tensor,
                                               tim_graph_engine_t* engine) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(tensor, "tensor"));
    TIM_RETURN_IF_ERROR(RequireNotNull(engine, "engine"));
    *engine = tensor->engine().get();
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_tensor_get_logical_tensor(
    const_tim_graph_tensor_t tensor,
    tim_graph_logical_tensor_t* logical_tensor) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(tensor, "tensor"));
    TIM_RETURN_IF_ERROR(RequireNotNull(logical_tensor, "logical tensor"));
    *logical_tensor = tensor->description();
    return OkStatus();
  });
}
