// Shapes, specs and attributes as the public header has them.
#include "tim/values/types.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/str_cat.h"
#include "values/access.h"
#include "values/conversion.h"
#include "values/graph_state.h"

namespace tim::values {
namespace {

std::shared_ptr<const internal::AttributeState> Held(ir::Attribute value) {
  return std::make_shared<const internal::AttributeState>(
      internal::AttributeState{std::move(value)});
}

}  // namespace

constexpr int64_t Shape::kUnknown;

Shape Shape::Scalar() { return Shape(std::vector<int64_t>()); }

Shape Shape::FromSlowestFirst(std::vector<int64_t> extents) {
  std::reverse(extents.begin(), extents.end());
  return Shape(std::move(extents));
}

Shape& Shape::SetBound(int axis, int64_t most) {
  if (axis < 0 || axis >= rank()) return *this;
  bounds_.resize(extents_.size(), kUnknown);
  bounds_[static_cast<size_t>(axis)] = most;
  return *this;
}

int64_t Shape::operator[](int axis) const {
  return axis >= 0 && axis < rank() ? extents_[static_cast<size_t>(axis)]
                                    : kUnknown;
}

int64_t Shape::Bound(int axis) const {
  const int64_t extent = (*this)[axis];
  if (extent != kUnknown || axis < 0 || axis >= rank() || bounds_.empty()) {
    return extent;
  }
  return bounds_[static_cast<size_t>(axis)];
}

bool Shape::IsStatic() const {
  return ranked_ && std::find(extents_.begin(), extents_.end(), kUnknown) ==
                        extents_.end();
}

int64_t Shape::NumElements() const {
  if (!IsStatic()) return kUnknown;
  int64_t product = 1;
  for (const int64_t extent : extents_) {
    if (extent < 0) return kUnknown;
    if (extent > 0 && product > std::numeric_limits<int64_t>::max() / extent) {
      return kUnknown;
    }
    product *= extent;
  }
  return product;
}

std::string Shape::ToString() const {
  if (!ranked_) return "[...]";
  std::string text;
  for (int axis = 0; axis < rank(); ++axis) {
    text += axis == 0 ? "" : ", ";
    if ((*this)[axis] != kUnknown) {
      text += StrCat((*this)[axis]);
    } else if (Bound(axis) != kUnknown) {
      text += StrCat("?<=", Bound(axis));
    } else {
      text += '?';
    }
  }
  return StrCat("[", text, "]");
}

bool Shape::operator==(const Shape& other) const {
  if (ranked_ != other.ranked_ || extents_ != other.extents_) return false;
  for (int axis = 0; axis < rank(); ++axis) {
    if (Bound(axis) != other.Bound(axis)) return false;
  }
  return true;
}

Spec::Spec() : type(Type::kFloat32) {}

Spec::Spec(Type element_type, Shape extents)
    : type(element_type), shape(std::move(extents)) {}

Attribute::Attribute(std::shared_ptr<const internal::AttributeState> state)
    : state_(std::move(state)) {}
Attribute::Attribute(bool value) : state_(Held(value)) {}
Attribute Attribute::FromInteger(int64_t value) {
  return Attribute(Held(value));
}
Attribute::Attribute(double value) : state_(Held(value)) {}
Attribute::Attribute(const char* value)
    : state_(Held(std::string(value != nullptr ? value : ""))) {}
Attribute::Attribute(std::string value) : state_(Held(std::move(value))) {}
Attribute::Attribute(std::vector<int64_t> value)
    : state_(Held(std::move(value))) {}
Attribute::Attribute(std::vector<double> value)
    : state_(Held(std::move(value))) {}
Attribute::Attribute(std::vector<std::string> value)
    : state_(Held(std::move(value))) {}
Attribute::Attribute(const Graph& value)
    : state_(Held(internal::Access::StateOf(value)->Snapshot())) {}

}  // namespace tim::values
