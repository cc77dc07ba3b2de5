// Small constants as integers or floats of 64 bits and back, and two of them
// element by element.
#include "models/onnx/exact_elements.h"

#include <memory>
#include <utility>

#include "models/onnx/exact.h"

namespace tim::models::onnx {
namespace {

using vx::DataType;

template <typename T>
HostArray Packed(const std::vector<int64_t>& values, DataType type, Dims dims) {
  std::vector<T> narrow(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    narrow[i] = static_cast<T>(values[i]);
  }
  HostArray array = ArrayOf(narrow, std::move(dims));
  array.type = type;
  return array;
}

HostArray PackedFloats(const Elements& made) {
  std::vector<float> narrow;
  for (const double value : made.floats) {
    narrow.push_back(static_cast<float>(value));
  }
  HostArray array = ArrayOf(narrow, made.dims);
  if (made.is_wide) {
    array.doubles = std::make_shared<const std::vector<double>>(made.floats);
  }
  return array;
}

}  // namespace

std::optional<Elements> LoadElements(const Node& node, size_t input) {
  const HostArray* array = SmallConstant(node, input);
  if (array == nullptr) return std::nullopt;
  Elements elements = {array->type, array->dims, {}, {}};
  if (array->doubles != nullptr) {
    elements.floats = *array->doubles;
    elements.is_wide = true;
    return elements;
  }
  if (elements.is_float()) {
    auto values = Floats(*array);
    if (!values.ok()) return std::nullopt;
    elements.floats.assign(values->begin(), values->end());
    return elements;
  }
  if (array->type != DataType::INT64 && array->type != DataType::INT32 &&
      array->type != DataType::BOOL8) {
    return std::nullopt;
  }
  auto values = Integers(*array);
  if (!values.ok()) return std::nullopt;
  elements.ints = *std::move(values);
  return elements;
}

bool StoreElements(Node* node, const Elements& made) {
  switch (made.type) {
    case DataType::FLOAT32:
      return SetConstant(node, PackedFloats(made));
    case DataType::INT64:
      return SetConstant(node, ArrayOf(made.ints, made.dims));
    case DataType::INT32:
      return SetConstant(node,
                         Packed<int32_t>(made.ints, made.type, made.dims));
    case DataType::BOOL8:
      return SetConstant(node,
                         Packed<uint8_t>(made.ints, made.type, made.dims));
    default:
      return false;
  }
}

std::vector<size_t> BroadcastPlaces(const Dims& from, const Dims& to) {
  std::vector<size_t> places(1, 0);
  const size_t skipped = to.size() - from.size();
  size_t stride = 1;
  std::vector<size_t> strides(to.size(), 0);
  for (size_t i = from.size(); i-- > 0;) {
    if (from[i] != 1) strides[skipped + i] = stride;
    stride *= static_cast<size_t>(from[i]);
  }
  for (size_t axis = 0; axis < to.size(); ++axis) {
    std::vector<size_t> next;
    next.reserve(places.size() * static_cast<size_t>(to[axis]));
    for (const size_t place : places) {
      for (int64_t i = 0; i < to[axis]; ++i) {
        next.push_back(place + strides[axis] * static_cast<size_t>(i));
      }
    }
    places = std::move(next);
  }
  return places;
}

bool Combine(const Elements& a, const Elements& b, DataType type,
             IntFunction of_ints, FloatFunction of_floats, FloatTest test,
             Elements* made) {
  if (a.type != b.type || a.is_wide != b.is_wide) return false;
  const auto dims = BroadcastDims(a.dims, b.dims);
  if (!dims.ok() || !AreFew(*dims)) return false;
  if (a.is_float() && of_floats == nullptr && test == nullptr) return false;
  if (!a.is_float() && of_ints == nullptr) return false;
  *made = {type, *dims, {}, {}, a.is_wide};
  const std::vector<size_t> left = BroadcastPlaces(a.dims, *dims);
  const std::vector<size_t> right = BroadcastPlaces(b.dims, *dims);
  for (size_t i = 0; i < left.size(); ++i) {
    if (!a.is_float()) {
      made->ints.push_back(of_ints(a.ints[left[i]], b.ints[right[i]]));
    } else if (test != nullptr) {
      made->ints.push_back(test(a.floats[left[i]], b.floats[right[i]]));
    } else {
      made->floats.push_back(of_floats(a.floats[left[i]], b.floats[right[i]]));
    }
  }
  return true;
}

}  // namespace tim::models::onnx
