// Turns strides and layout ids into layouts of the inner graph, and back.
#include "graph_api/port_layouts.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/checked_math.h"
#include "graph_api/layout_ids.h"
#include "graph_api/lower_ops.h"
#include "graph_api/lowering.h"

namespace tim::graph {
namespace {

// The greatest number where a stride does not fit: no memory has such a tensor,
// which is refused where its bytes are counted.
Dims DenseStridesOf(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i > 1; --i) {
    strides[i - 2] =
        CheckedMul(strides[i - 1], std::max<int64_t>(dims[i - 1], 1))
            .value_or(std::numeric_limits<int64_t>::max());
  }
  return strides;
}

Result<ir::Layout> StridedLayout(const LogicalTensor& tensor) {
  const Dims dims = DimsOf(tensor);
  const Dims dense = DenseStridesOf(dims);
  if (!HasKnownStrides(tensor)) {
    return InvalidArgument("tensor ", tensor.id,
                           " has strides that are not known");
  }
  Dims strides(tensor.layout.strides, tensor.layout.strides + dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] <= 1) {
      strides[i] = dense[i];  // no element is reached by it
    } else if (strides[i] <= 0) {
      return Unimplemented("tensor ", tensor.id, " has a stride of ",
                           strides[i], " along axis ", i,
                           "; strides of 1 and more are supported");
    }
  }
  if (strides == dense) return ir::Layout::Dense();
  if (ir::Info(InnerType(tensor.data_type)).bits < 8) {
    return Unimplemented("tensor ", tensor.id,
                         " has 4-bit elements and is not dense");
  }
  return ir::Layout::Strided(Reversed(strides));
}

Result<ir::Layout> OpaqueLayout(const LogicalTensor& tensor,
                                const Engine& engine) {
  const auto entry = FindLayout(tensor.layout.layout_id);
  if (!entry || entry->family != engine.family()) {
    return InvalidArgument(
        "tensor ", tensor.id, " has layout id ", tensor.layout.layout_id,
        entry ? ", which is of another family of devices"
              : ", which query_logical_tensor() has never given");
  }
  const Dims dims = DimsOf(tensor);
  const bool fits = entry->desc.type == InnerType(tensor.data_type) &&
                    entry->desc.shape.dims() == Reversed(dims);
  if (fits) return entry->desc.layout;
  return InvalidArgument("tensor ", tensor.id,
                         " has the layout id of a tensor ",
                         entry->desc.ToString(), " (first axis fastest)");
}

}  // namespace

bool HasKnownStrides(const LogicalTensor& strided) {
  const int rank = std::clamp(strided.ndims, 0, TIM_GRAPH_MAX_NDIMS);
  return std::find(strided.layout.strides, strided.layout.strides + rank,
                   TIM_GRAPH_UNKNOWN_DIM) == strided.layout.strides + rank;
}

void SetDenseStrides(LogicalTensor* tensor) {
  const Dims strides = DenseStridesOf(DimsOf(*tensor));
  tensor->layout_type = tim_graph_layout_type_strided;
  std::copy(strides.begin(), strides.end(), tensor->layout.strides);
}

Result<ir::Layout> LayoutOf(const LogicalTensor& tensor, const Engine& engine) {
  if (tensor.layout_type == tim_graph_layout_type_opaque) {
    return OpaqueLayout(tensor, engine);
  }
  return StridedLayout(tensor);
}

Status SetLayout(const ir::TensorDesc& desc, const Engine& engine,
                 LogicalTensor* tensor) {
  if (desc.layout.dense()) {
    SetDenseStrides(tensor);
    return OkStatus();
  }
  if (desc.layout.strided()) {
    const Dims strides = Reversed(desc.layout.strides);
    tensor->layout_type = tim_graph_layout_type_strided;
    std::copy(strides.begin(), strides.end(), tensor->layout.strides);
    return OkStatus();
  }
  TIM_ASSIGN_OR_RETURN(tensor->layout.layout_id,
                       LayoutIdOf(desc, engine.family()));
  tensor->layout_type = tim_graph_layout_type_opaque;
  return OkStatus();
}

bool IsSamePort(const LogicalTensor& port, const LogicalTensor& tensor) {
  const bool same_head =
      port.id == tensor.id && port.ndims == tensor.ndims &&
      port.data_type == tensor.data_type && port.ndims >= 0 &&
      std::equal(port.dims, port.dims + port.ndims, tensor.dims);
  if (!same_head) return false;
  if (port.layout_type == tim_graph_layout_type_strided &&
      tensor.layout_type == tim_graph_layout_type_strided &&
      std::equal(port.layout.strides, port.layout.strides + port.ndims,
                 tensor.layout.strides)) {
    return true;
  }
  LogicalTensor alike = tensor;
  alike.property = port.property;
  uint8_t equal = 0;
  return tim_graph_logical_tensor_is_equal(&port, &alike, &equal) ==
             tim_graph_success &&
         equal != 0;
}

}  // namespace tim::graph
