// Reads logical tensors, and brings descriptions of one tensor together.
#include "tools/timcl/graph_json_tensor.h"

#include <algorithm>
#include <map>
#include <optional>

#include "graph_api/logical_tensor.h"
#include "graph_api/lower_ops.h"
#include "graph_api/port_layouts.h"
#include "tools/timcl/graph_json_names.h"

namespace tim::tool {
namespace {

using graph::Dims;
using graph::LogicalTensor;

// An enumerator that a member names; nothing where there is none.
template <typename Value>
Result<std::optional<Value>> Named(
    const JsonPlace& place, const char* member,
    std::optional<Value> (*find)(std::string_view), std::string_view expected) {
  const auto found = place.Find(member);
  if (!found) return std::optional<Value>();
  TIM_ASSIGN_OR_RETURN(const std::string text, found->Text());
  const std::optional<Value> value = find(text);
  if (!value) return found->Refuse(expected);
  return value;
}

// Older files have "" for the empty list, and a number for a list of one.
Result<std::optional<Dims>> ReadDims(const JsonPlace& place,
                                     const char* member) {
  const auto list = place.Find(member);
  if (!list) return std::optional<Dims>();
  if (list->value() == "") return std::optional<Dims>(Dims());
  if (!list->value().is_array()) {
    TIM_ASSIGN_OR_RETURN(const int64_t one, list->Integer());
    return std::optional<Dims>(Dims{one});
  }
  const size_t count = list->value().size();
  if (count > TIM_GRAPH_MAX_NDIMS) {
    return list->Refuse(
        StrCat("at most ", TIM_GRAPH_MAX_NDIMS, " numbers, one for each axis"));
  }
  if (count == 1 && list->value()[0] == "") return std::optional<Dims>(Dims());
  Dims dims;
  for (size_t i = 0; i < count; ++i) {
    TIM_ASSIGN_OR_RETURN(const int64_t dim, list->At(i).Integer());
    dims.push_back(dim);
  }
  return std::optional<Dims>(std::move(dims));
}

void SetShape(std::optional<Dims> shape, LogicalTensor* tensor) {
  if (shape) {
    for (int64_t& dim : *shape) dim = dim < 0 ? TIM_GRAPH_UNKNOWN_DIM : dim;
  }
  // Dumps write so that the rank is unknown.
  if (!shape || *shape == Dims{TIM_GRAPH_UNKNOWN_DIM}) {
    tensor->ndims = TIM_GRAPH_UNKNOWN_NDIMS;
    return;
  }
  tensor->ndims = static_cast<int>(shape->size());
  std::copy(shape->begin(), shape->end(), tensor->dims);
}

void SetDefaultStrides(LogicalTensor* tensor) {
  if (graph::HasKnownDims(*tensor)) {
    graph::SetDenseStrides(tensor);
    return;
  }
  std::fill(std::begin(tensor->layout.strides),
            std::end(tensor->layout.strides), TIM_GRAPH_UNKNOWN_DIM);
}

Status SetStrides(const JsonPlace& place, const std::optional<Dims>& strides,
                  LogicalTensor* tensor) {
  SetDefaultStrides(tensor);
  // A list for an unknown rank says nothing, nor does one of a scalar.
  if (!strides || strides->empty() || tensor->ndims <= 0) return OkStatus();
  if (strides->size() != static_cast<size_t>(tensor->ndims)) {
    if (strides->size() == 1 && strides->front() < 0) return OkStatus();
    return place.At("stride").Refuse(
        StrCat(tensor->ndims, " strides, as many as \"shape\" has dims"));
  }
  // Older files may write -1 beside an open dim, too; beside others it is wrong
  // for whoever compiles to say.
  const bool open = !graph::HasKnownDims(*tensor);
  std::transform(strides->begin(), strides->end(), tensor->layout.strides,
                 [=](int64_t stride) {
                   return open && stride < 0 ? TIM_GRAPH_UNKNOWN_DIM : stride;
                 });
  return OkStatus();
}

constexpr char kTypes[] =
    "a type: f32, f16, bf16, s64, s32, s8, u8, s4, u4, boolean, f8_e5m2, "
    "f8_e4m3 or undef";
constexpr char kLayouts[] = "a layout: undef, any, strided or opaque";
constexpr char kProperties[] =
    "a property: undef, variable, constant or host_scalar";

// ---- Agreement ----

int64_t Known(int64_t one, int64_t other) { return one < 0 ? other : one; }

// Takes over what `from` knows and `to` does not.
void Learn(const LogicalTensor& from, LogicalTensor* to) {
  const bool dims_open =
      !graph::HasKnownDims(*to) || !graph::HasKnownDims(from);
  if (to->data_type == tim_graph_data_type_undef) {
    to->data_type = from.data_type;
  }
  if (to->property == tim_graph_tensor_property_undef) {
    to->property = from.property;
  }
  if (to->ndims < 0) {
    to->ndims = from.ndims;
    std::copy(std::begin(from.dims), std::end(from.dims), to->dims);
  } else if (to->ndims == from.ndims) {
    std::transform(to->dims, to->dims + to->ndims, from.dims, to->dims, Known);
  }
  const bool layout_open = to->layout_type == tim_graph_layout_type_undef ||
                           to->layout_type == tim_graph_layout_type_any;
  const bool knows_layout = from.layout_type == tim_graph_layout_type_strided ||
                            (from.layout_type == tim_graph_layout_type_any &&
                             to->layout_type == tim_graph_layout_type_undef);
  if (layout_open && knows_layout) {
    to->layout_type = from.layout_type;
    to->layout = from.layout;
  }
  const bool strides_open = dims_open && graph::HasKnownDims(*to) &&
                            to->layout_type == tim_graph_layout_type_strided &&
                            !graph::HasKnownStrides(*to);
  if (!strides_open) return;
  if (from.layout_type == tim_graph_layout_type_strided &&
      graph::HasKnownDims(from) && graph::HasKnownStrides(from)) {
    to->layout = from.layout;
  } else {
    graph::SetDenseStrides(to);
  }
}

template <typename Function>
void ForEachTensor(std::vector<graph::Op>* ops, const Function& function) {
  for (graph::Op& op : *ops) {
    for (LogicalTensor& tensor : op.inputs) function(&tensor);
    for (LogicalTensor& tensor : op.outputs) function(&tensor);
  }
}

}  // namespace

Result<LogicalTensor> ReadLogicalTensor(const JsonPlace& place) {
  LogicalTensor tensor = {};
  TIM_ASSIGN_OR_RETURN(const JsonPlace id, place.Member("id"));
  TIM_ASSIGN_OR_RETURN(tensor.id, id.Id());
  TIM_ASSIGN_OR_RETURN(const auto type,
                       Named(place, "dtype", &DataTypeNamed, kTypes));
  TIM_ASSIGN_OR_RETURN(const auto shape, ReadDims(place, "shape"));
  TIM_ASSIGN_OR_RETURN(const auto strides, ReadDims(place, "stride"));
  TIM_ASSIGN_OR_RETURN(const auto layout,
                       Named(place, "layout_type", &LayoutNamed, kLayouts));
  TIM_ASSIGN_OR_RETURN(const auto property, Named(place, "property_type",
                                                  &PropertyNamed, kProperties));
  tensor.data_type = type.value_or(tim_graph_data_type_undef);
  tensor.property = property.value_or(tim_graph_tensor_property_undef);
  SetShape(shape, &tensor);
  tensor.layout_type = layout.value_or(strides ? tim_graph_layout_type_strided
                                               : tim_graph_layout_type_undef);
  if (tensor.layout_type == tim_graph_layout_type_strided) {
    TIM_RETURN_IF_ERROR(SetStrides(place, strides, &tensor));
  }
  const Status status = graph::CheckDescription(tensor);
  return status.ok() ? Result<LogicalTensor>(tensor)
                     : status.WithContext(place.path());
}

void AgreeOnTensors(std::vector<graph::Op>* ops) {
  std::map<size_t, LogicalTensor> known;
  ForEachTensor(ops, [&](LogicalTensor* tensor) {
    const auto [found, is_first] = known.emplace(tensor->id, *tensor);
    if (!is_first) Learn(*tensor, &found->second);
  });
  ForEachTensor(
      ops, [&](LogicalTensor* tensor) { Learn(known.at(tensor->id), tensor); });
}

}  // namespace tim::tool
