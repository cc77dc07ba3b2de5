// Sizes of tensors from their descriptions, and which descriptions are alike.
#include "graph_api/logical_tensor.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/checked_math.h"
#include "graph_api/layout_ids.h"
#include "graph_api/lowering.h"

namespace tim::graph {
namespace {

bool IsHostScalarType(tim_graph_data_type_t type) {
  return type == tim_graph_s32 || type == tim_graph_f32 ||
         type == tim_graph_s64;
}

int RankOf(const LogicalTensor& tensor) {
  return std::clamp(tensor.ndims, 0, TIM_GRAPH_MAX_NDIMS);
}

bool AreEqualLists(const int64_t* a, const int64_t* b, int count) {
  return std::equal(a, a + count, b);
}

bool IsStrided(const LogicalTensor& tensor) {
  return tensor.layout_type == tim_graph_layout_type_strided;
}

// Strides of axes that have no second element reach none.
bool LieAlike(const LogicalTensor& strided, const LogicalTensor& opaque) {
  const auto entry = FindLayout(opaque.layout.layout_id);
  if (!entry || entry->desc.type != InnerType(strided.data_type)) return false;
  const Dims dims(strided.dims, strided.dims + RankOf(strided));
  if (entry->desc.shape.dims() != Reversed(dims)) return false;
  const auto strides = StridesOf(*entry);
  if (!strides) return false;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] > 1 && strided.layout.strides[i] != (*strides)[i]) return false;
  }
  return true;
}

bool HaveEqualLayouts(const LogicalTensor& a, const LogicalTensor& b) {
  if (a.layout_type != b.layout_type) {
    if (IsStrided(a) && b.layout_type == tim_graph_layout_type_opaque) {
      return LieAlike(a, b);
    }
    return IsStrided(b) && a.layout_type == tim_graph_layout_type_opaque &&
           LieAlike(b, a);
  }
  if (IsStrided(a)) {
    return AreEqualLists(a.layout.strides, b.layout.strides, RankOf(a));
  }
  return a.layout_type != tim_graph_layout_type_opaque ||
         a.layout.layout_id == b.layout.layout_id;
}

bool HaveEqualMembers(const LogicalTensor& a, const LogicalTensor& b) {
  return a.id == b.id && a.ndims == b.ndims && a.data_type == b.data_type &&
         a.property == b.property && AreEqualLists(a.dims, b.dims, RankOf(a));
}

size_t BytesOf(int64_t elements, int bits) {
  const auto all = CheckedMul(elements, bits);
  if (!all) return SIZE_MAX;
  return static_cast<size_t>(*all / 8 + (*all % 8 != 0 ? 1 : 0));
}

size_t StridedSizeOf(const LogicalTensor& tensor) {
  const int bits = ElementBits(tensor.data_type);
  if (bits == 0 || tensor.ndims < 0) return SIZE_MAX;
  int64_t most = 1;
  bool is_empty = false;
  for (int i = 0; i < RankOf(tensor); ++i) {
    const int64_t extent = tensor.dims[i];
    if (extent < 0) return SIZE_MAX;
    is_empty = is_empty || extent == 0;
    const int64_t stride = extent == 1 ? 1 : tensor.layout.strides[i];
    if (stride == TIM_GRAPH_UNKNOWN_DIM) return SIZE_MAX;
    const auto reach = CheckedMul(extent, stride);
    if (!reach) return SIZE_MAX;
    most = std::max(most, *reach);
  }
  return is_empty ? 0 : BytesOf(most, bits);
}

}  // namespace

int ElementBits(tim_graph_data_type_t type) {
  struct Row {
    tim_graph_data_type_t type;
    int bits;
  };
  constexpr Row kRows[] = {
      {tim_graph_f16, 16},    {tim_graph_bf16, 16},   {tim_graph_f32, 32},
      {tim_graph_s32, 32},    {tim_graph_s8, 8},      {tim_graph_u8, 8},
      {tim_graph_f64, 64},    {tim_graph_boolean, 8}, {tim_graph_f8_e5m2, 8},
      {tim_graph_f8_e4m3, 8}, {tim_graph_s4, 4},      {tim_graph_u4, 4},
      {tim_graph_e8m0, 8},    {tim_graph_f4_e2m1, 4}, {tim_graph_f4_e3m0, 4},
      {tim_graph_s64, 64},
  };
  const auto* row =
      std::find_if(std::begin(kRows), std::end(kRows),
                   [=](const Row& known) { return known.type == type; });
  return row == std::end(kRows) ? 0 : row->bits;
}

size_t MemorySizeOf(const LogicalTensor& tensor) {
  if (IsStrided(tensor)) return StridedSizeOf(tensor);
  if (tensor.layout_type != tim_graph_layout_type_opaque) return SIZE_MAX;
  const auto entry = FindLayout(tensor.layout.layout_id);
  return entry ? static_cast<size_t>(entry->bytes) : SIZE_MAX;
}

bool AreEqual(const LogicalTensor& a, const LogicalTensor& b) {
  return HaveEqualMembers(a, b) && HaveEqualLayouts(a, b);
}

bool AreSame(const LogicalTensor& a, const LogicalTensor& b) {
  return a.layout_type == b.layout_type && AreEqual(a, b);
}

Status CheckDescription(const LogicalTensor& tensor) {
  if (tensor.ndims < TIM_GRAPH_UNKNOWN_NDIMS ||
      tensor.ndims > TIM_GRAPH_MAX_NDIMS) {
    return InvalidArgument("logical tensor ", tensor.id, " has rank ",
                           tensor.ndims, ", expected -1 (unknown) to ",
                           TIM_GRAPH_MAX_NDIMS);
  }
  if (tensor.data_type != tim_graph_data_type_undef &&
      ElementBits(tensor.data_type) == 0) {
    return InvalidArgument("logical tensor ", tensor.id, " has type number ",
                           static_cast<int>(tensor.data_type),
                           ", which is none");
  }
  if (tensor.layout_type < tim_graph_layout_type_undef ||
      tensor.layout_type > tim_graph_layout_type_opaque) {
    return InvalidArgument(
        "logical tensor ", tensor.id, " has layout type number ",
        static_cast<int>(tensor.layout_type), ", which is none");
  }
  if (tensor.property < tim_graph_tensor_property_undef ||
      tensor.property > tim_graph_tensor_property_host_scalar) {
    return InvalidArgument(
        "logical tensor ", tensor.id, " has property number ",
        static_cast<int>(tensor.property), ", which is none");
  }
  if (tensor.property != tim_graph_tensor_property_host_scalar) {
    return OkStatus();
  }
  if (tensor.ndims == 0 && IsHostScalarType(tensor.data_type)) {
    return OkStatus();
  }
  return InvalidArgument("logical tensor ", tensor.id, ", ", ToString(tensor),
                         ", is a host scalar, which has rank 0 and type s32, "
                         "f32 or s64");
}

std::string ToString(const LogicalTensor& tensor) {
  const std::string type = tim_graph_dt2str(tensor.data_type);
  if (tensor.ndims < 0) return StrCat(type, " of unknown rank");
  if (tensor.ndims == 0) return StrCat(type, " scalar");
  std::string dims;
  for (int i = 0; i < RankOf(tensor); ++i) {
    if (i > 0) dims += ", ";
    dims += tensor.dims[i] < 0 ? "?" : StrCat(tensor.dims[i]);
  }
  return StrCat(type, " {", dims, "}");
}

}  // namespace tim::graph
