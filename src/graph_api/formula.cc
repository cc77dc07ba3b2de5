// Operators of the inner graph that formulas are made of.
#include "graph_api/formula.h"

#include <algorithm>

namespace tim::graph {
namespace {

std::vector<int64_t> InnerAxes(const std::vector<int64_t>& axes, int64_t rank) {
  std::vector<int64_t> out;
  for (const int64_t axis : axes) out.push_back(InnerAxis(axis, rank));
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

Status Formula::Store(size_t index, const Tensor& tensor) {
  if (status_.ok()) lowering_.SetOutput(index, tensor);
  return status_;
}

Result<Tensor> Formula::Get(const Tensor& tensor) const {
  if (!status_.ok()) return status_;
  return tensor;
}

Tensor Formula::Unary(std::string_view op, const Tensor& x,
                      ir::AttributeMap attributes) {
  if (!status_.ok()) return {};
  return Try(lowering_.Add(op, {x}, std::move(attributes)));
}

Tensor Formula::Binary(std::string_view op, const Tensor& a, const Tensor& b) {
  if (!status_.ok()) return {};
  return Try(lowering_.Add(op, {a, b}));
}

Tensor Formula::Linear(const Tensor& x, double a, double b) {
  return Unary("Linear", x, {{"a", a}, {"b", b}});
}

Tensor Formula::Clip(const Tensor& x, double min, double max) {
  return Unary("Clip", x, {{"min", min}, {"max", max}});
}

Tensor Formula::Greater(const Tensor& x, double limit) {
  return Binary("Greater", x, Number(limit));
}

Tensor Formula::Less(const Tensor& x, double limit) {
  return Binary("Less", x, Number(limit));
}

Tensor Formula::Select(const Tensor& condition, const Tensor& a,
                       const Tensor& b) {
  if (!status_.ok()) return {};
  return Try(lowering_.Add("Select", {condition, a, b}));
}

Tensor Formula::Number(double value) {
  if (!status_.ok()) return {};
  return Try(lowering_.Constant(Floats{static_cast<float>(value)}, Dims()));
}

Tensor Formula::Reduce(std::string_view op, const Tensor& x,
                       const std::vector<int64_t>& axes) {
  if (axes.empty()) return x;
  return Unary(op, x,
               {{"axis", InnerAxes(axes, x.rank())}, {"keep_dims", true}});
}

Tensor Formula::Sum(const Tensor& x, const std::vector<int64_t>& axes) {
  return Reduce("ReduceSum", x, axes);
}

Tensor Formula::Mean(const Tensor& x, const std::vector<int64_t>& axes) {
  return Reduce("ReduceMean", x, axes);
}

Tensor Formula::Reshape(const Tensor& x, const Dims& dims) {
  if (!status_.ok()) return {};
  return Try(lowering_.Reshape(x, dims));
}

Tensor Formula::Transpose(const Tensor& x, const std::vector<int64_t>& order) {
  if (!status_.ok()) return {};
  return Try(lowering_.Transpose(x, order));
}

Tensor Formula::Cast(const Tensor& x, ir::DataType type) {
  if (!status_.ok()) return {};
  return Try(lowering_.Cast(x, type));
}

Tensor Formula::Broadcast(const Tensor& x, const Dims& dims) {
  if (!status_.ok()) return {};
  return Try(lowering_.Broadcast(x, dims));
}

Tensor Formula::Pad(const Tensor& x, const Dims& front, const Dims& back) {
  const auto is_zero = [](int64_t count) { return count == 0; };
  if (std::all_of(front.begin(), front.end(), is_zero) &&
      std::all_of(back.begin(), back.end(), is_zero)) {
    return x;
  }
  return Unary(
      "Pad", x,
      {{"front_size", Reversed(front)}, {"back_size", Reversed(back)}});
}

Tensor Formula::Slice(const Tensor& x, const Dims& start, const Dims& extents) {
  if (x.dims == extents) return x;
  return Unary("Slice", x,
               {{"dims", x.rank()},
                {"start", Reversed(start)},
                {"length", Reversed(extents)}});
}

Tensor Formula::MultiplyAlong(const Tensor& x, int64_t axis,
                              const Floats& matrix, int64_t columns) {
  if (!status_.ok()) return {};
  std::vector<int64_t> order = AxesBut(x.rank(), axis);
  std::vector<int64_t> back;
  for (int64_t i = 0; i < axis; ++i) back.push_back(i);
  back.push_back(x.rank() - 1);
  for (int64_t i = axis; i + 1 < x.rank(); ++i) back.push_back(i);
  order.push_back(axis);
  const Tensor last = Transpose(x, order);
  const int64_t rows = x.dims[static_cast<size_t>(axis)];
  const Tensor factor = Try(lowering_.Constant(matrix, {rows, columns}));
  const Tensor flat = Reshape(last, {CountOf(x.dims) / rows, rows});
  const Tensor made = Binary("Matmul", flat, factor);
  if (!status_.ok()) return {};
  Dims dims = last.dims;
  dims.back() = columns;
  return Transpose(Reshape(made, dims), back);
}

std::vector<int64_t> AxesBut(int64_t rank, int64_t kept) {
  std::vector<int64_t> out;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (axis != kept) out.push_back(axis);
  }
  return out;
}

Dims AlongAxis(int64_t rank, int64_t axis, int64_t extent) {
  Dims out(static_cast<size_t>(rank), 1);
  out[static_cast<size_t>(axis)] = extent;
  return out;
}

int64_t CountOf(const Dims& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return count;
}

Dims DeclaredDims(const Op& op, size_t output) {
  if (output >= op.outputs.size()) return {};
  const LogicalTensor& tensor = op.outputs[output];
  if (tensor.ndims <= 0) return {};
  const Dims dims(tensor.dims, tensor.dims + tensor.ndims);
  const bool known = std::all_of(dims.begin(), dims.end(),
                                 [](int64_t dim) { return dim >= 0; });
  return known ? dims : Dims();
}

}  // namespace tim::graph
