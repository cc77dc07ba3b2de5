// The C boundary: logical tensors.
#include <algorithm>
#include <cstdint>

#include "graph_api/error.h"
#include "graph_api/logical_tensor.h"
#include "graph_api/port_layouts.h"
#include "tim/graph/c.h"

namespace tim::graph {
namespace {

LogicalTensor Described(size_t id, tim_graph_data_type_t type, int32_t ndims,
                        tim_graph_layout_type_t layout,
                        tim_graph_tensor_property_t property) {
  LogicalTensor made = {};
  made.id = id;
  made.ndims = ndims;
  made.data_type = type;
  made.layout_type = layout;
  made.property = property;
  return made;
}

// Strides of strided tensors: rows without gaps, or unknown ones.
void SetStrides(LogicalTensor* tensor) {
  if (tensor->layout_type != tim_graph_layout_type_strided) return;
  const int rank = std::max(tensor->ndims, 0);
  const bool known =
      tensor->ndims >= 0 && std::all_of(tensor->dims, tensor->dims + rank,
                                        [](int64_t dim) { return dim >= 0; });
  if (known) {
    SetDenseStrides(tensor);
  } else {
    std::fill_n(tensor->layout.strides, TIM_GRAPH_MAX_NDIMS,
                TIM_GRAPH_UNKNOWN_DIM);
  }
}

Status SetDims(const int64_t* dims, LogicalTensor* tensor) {
  if (tensor->ndims <= 0) return OkStatus();
  TIM_RETURN_IF_ERROR(RequireNotNull(dims, "list of dims"));
  for (int i = 0; i < tensor->ndims; ++i) {
    tensor->dims[i] = dims[i] < 0 ? TIM_GRAPH_UNKNOWN_DIM : dims[i];
  }
  return OkStatus();
}

}  // namespace
}  // namespace tim::graph

using namespace tim;         // NOLINT
using namespace tim::graph;  // NOLINT

tim_graph_status_t tim_graph_logical_tensor_init(
    tim_graph_logical_tensor_t* logical_tensor, size_t tid,
    tim_graph_data_type_t dtype, int32_t ndims, tim_graph_layout_type_t ltype,
    tim_graph_tensor_property_t ptype) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(logical_tensor, "logical tensor"));
    LogicalTensor made = Described(tid, dtype, ndims, ltype, ptype);
    TIM_RETURN_IF_ERROR(CheckDescription(made));
    std::fill_n(made.dims, std::max(ndims, 0), TIM_GRAPH_UNKNOWN_DIM);
    SetStrides(&made);
    *logical_tensor = made;
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_logical_tensor_init_with_dims(
    tim_graph_logical_tensor_t* logical_tensor, size_t tid,
    tim_graph_data_type_t dtype, int32_t ndims, const tim_graph_dims_t dims,
    tim_graph_layout_type_t ltype, tim_graph_tensor_property_t ptype) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(logical_tensor, "logical tensor"));
    LogicalTensor made = Described(tid, dtype, ndims, ltype, ptype);
    TIM_RETURN_IF_ERROR(CheckDescription(made));
    TIM_RETURN_IF_ERROR(SetDims(dims, &made));
    SetStrides(&made);
    *logical_tensor = made;
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_logical_tensor_init_with_strides(
    tim_graph_logical_tensor_t* logical_tensor, size_t tid,
    tim_graph_data_type_t dtype, int32_t ndims, const tim_graph_dims_t dims,
    const tim_graph_dims_t strides, tim_graph_tensor_property_t ptype) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(logical_tensor, "logical tensor"));
    LogicalTensor made =
        Described(tid, dtype, ndims, tim_graph_layout_type_strided, ptype);
    TIM_RETURN_IF_ERROR(CheckDescription(made));
    TIM_RETURN_IF_ERROR(SetDims(dims, &made));
    if (ndims > 0) {
      TIM_RETURN_IF_ERROR(RequireNotNull(strides, "list of strides"));
      std::copy_n(strides, ndims, made.layout.strides);
    }
    *logical_tensor = made;
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_logical_tensor_get_mem_size(
    const tim_graph_logical_tensor_t* logical_tensor, size_t* size) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(logical_tensor, "logical tensor"));
    TIM_RETURN_IF_ERROR(RequireNotNull(size, "size"));
    *size = MemorySizeOf(*logical_tensor);
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_logical_tensor_is_equal(
    const tim_graph_logical_tensor_t* lt1,
    const tim_graph_logical_tensor_t* lt2, uint8_t* is_equal) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(lt1, "first logical tensor"));
    TIM_RETURN_IF_ERROR(RequireNotNull(lt2, "second logical tensor"));
    TIM_RETURN_IF_ERROR(RequireNotNull(is_equal, "result"));
    *is_equal = AreEqual(*lt1, *lt2) ? 1 : 0;
    return OkStatus();
  });
}
