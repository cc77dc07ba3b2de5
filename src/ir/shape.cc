#include "ir/shape.h"

#include "base/checked_math.h"
#include "base/str_cat.h"

namespace tim::ir {

void Shape::set_dim(int axis, int64_t extent) {
  dims_[axis] = extent;
  if (!bounds_.empty()) bounds_[axis] = kUnknownDim;
}

int64_t Shape::Bound(int axis) const {
  if (dims_[axis] != kUnknownDim || bounds_.empty()) return dims_[axis];
  return bounds_[axis];
}

void Shape::SetBound(int axis, int64_t bound) {
  if (bounds_.empty()) bounds_.assign(dims_.size(), kUnknownDim);
  bounds_[axis] = bound;
}

void Shape::TightenBound(int axis, int64_t bound) {
  const int64_t own = Bound(axis);
  if (bound == kUnknownDim || (own != kUnknownDim && own <= bound)) return;
  SetBound(axis, bound);
}

bool Shape::IsStatic() const {
  if (!ranked_) return false;
  for (const int64_t dim : dims_) {
    if (dim == kUnknownDim) return false;
  }
  return true;
}

std::optional<int64_t> Shape::NumElements() const {
  if (!IsStatic()) return std::nullopt;
  std::optional<int64_t> product = 1;
  for (const int64_t dim : dims_) {
    product = CheckedMul(*product, dim);
    if (!product) return std::nullopt;
  }
  return product;
}

int64_t Shape::Product(int first, int last) const {
  int64_t product = 1;
  for (int axis = first; axis < last; ++axis) product *= dims_[axis];
  return product;
}

bool Shape::operator==(const Shape& other) const {
  if (ranked_ != other.ranked_ || dims_ != other.dims_) return false;
  for (int axis = 0; axis < rank(); ++axis) {
    if (Bound(axis) != other.Bound(axis)) return false;
  }
  return true;
}

std::string Shape::ToString() const {
  if (!ranked_) return "[...]";
  std::string out = "[";
  for (int axis = 0; axis < rank(); ++axis) {
    if (axis > 0) out += ", ";
    if (dims_[axis] != kUnknownDim) {
      out += StrCat(dims_[axis]);
    } else if (Bound(axis) != kUnknownDim) {
      out += StrCat("?<=", Bound(axis));
    } else {
      out += "?";
    }
  }
  return out + "]";
}

std::vector<int64_t> DenseStrides(const Shape& shape) {
  std::vector<int64_t> strides(shape.rank(), 1);
  for (int axis = 1; axis < shape.rank(); ++axis) {
    strides[axis] = strides[axis - 1] * shape[axis - 1];
  }
  return strides;
}

}  // namespace tim::ir
