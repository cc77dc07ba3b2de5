// Fills dims that graph files leave open.
#include "tools/timcl/graph_shapes.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "graph_api/logical_tensor.h"
#include "graph_api/lower_ops.h"
#include "graph_api/port_layouts.h"

namespace tim::tool {
namespace {

using graph::Dims;
using graph::LogicalTensor;

struct Shape {
  size_t id = 0;
  Dims dims = {};
};

template <typename T>
bool ReadNumber(std::string_view text, T* number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && stop == end;
}

Result<Shape> ReadShape(std::string_view text) {
  const Status wrong = InvalidArgument(
      "--shape ", text, ": expected ID=DIMxDIM..., a tensor's id and at most ",
      TIM_GRAPH_MAX_NDIMS, " dims from 0 on, as 3=1x224x224");
  Shape shape;
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos ||
      !ReadNumber(text.substr(0, equals), &shape.id)) {
    return wrong;
  }
  std::string_view rest = text.substr(equals + 1);
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('x'), rest.size());
    int64_t dim = -1;
    if (!ReadNumber(rest.substr(0, end), &dim) || dim < 0) return wrong;
    shape.dims.push_back(dim);
    if (end + 1 == rest.size()) return wrong;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (shape.dims.size() > TIM_GRAPH_MAX_NDIMS) return wrong;
  return shape;
}

bool Fits(const Dims& dims, const LogicalTensor& tensor) {
  if (tensor.ndims < 0) return true;
  if (dims.size() != static_cast<size_t>(tensor.ndims)) return false;
  return std::equal(
      dims.begin(), dims.end(), tensor.dims,
      [](int64_t dim, int64_t given) { return given < 0 || given == dim; });
}

void SetDims(const Dims& dims, LogicalTensor* tensor) {
  if (graph::HasKnownDims(*tensor)) return;
  tensor->ndims = static_cast<int>(dims.size());
  std::copy(dims.begin(), dims.end(), tensor->dims);
  if (tensor->layout_type == tim_graph_layout_type_strided) {
    graph::SetDenseStrides(tensor);
  }
}

}  // namespace

Status SetShapes(const std::vector<std::string>& shapes,
                 std::vector<graph::Op>* ops) {
  for (const std::string& text : shapes) {
    TIM_ASSIGN_OR_RETURN(const Shape shape, ReadShape(text));
    bool found = false;
    for (graph::Op& op : *ops) {
      for (auto* tensors : {&op.inputs, &op.outputs}) {
        for (LogicalTensor& tensor : *tensors) {
          if (tensor.id != shape.id) continue;
          found = true;
          if (!Fits(shape.dims, tensor)) {
            return InvalidArgument("--shape ", text, ": the file has tensor ",
                                   shape.id, " as ", graph::ToString(tensor),
                                   "; only dims that it leaves open are given");
          }
          SetDims(shape.dims, &tensor);
        }
      }
    }
    if (!found) {
      return InvalidArgument("--shape ", text, ": no operation has a tensor ",
                             shape.id);
    }
  }
  return OkStatus();
}

}  // namespace tim::tool
