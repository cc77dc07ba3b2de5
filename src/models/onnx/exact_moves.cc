// Operators that move elements, on small constants of any type.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "models/onnx/exact.h"

namespace tim::models::onnx {
namespace {

using vx::DataType;

// Operand 0 where it is a small constant of whole bytes.
const HostArray* Source(const Node& node, size_t input = 0) {
  const HostArray* array = SmallConstant(node, input);
  const bool is_packed = array != nullptr && (array->type == DataType::INT4 ||
                                              array->type == DataType::UINT4);
  return is_packed ? nullptr : array;
}

// Elements of `from` at `places` as an array with `dims`.
HostArray Picked(const HostArray& from, const std::vector<int64_t>& places,
                 Dims dims) {
  const auto unit = static_cast<size_t>(ByteSizeOf(from.type, {}));
  auto words = std::make_shared<std::vector<uint64_t>>(
      places.size() * unit / sizeof(uint64_t) + 1);
  auto* to = reinterpret_cast<uint8_t*>(words->data());
  const auto* bytes = static_cast<const uint8_t*>(from.data.get());
  for (const int64_t place : places) {
    std::memcpy(to, bytes + static_cast<size_t>(place) * unit, unit);
    to += unit;
  }
  HostArray picked = {from.type, std::move(dims), places.size() * unit,
                      std::shared_ptr<const void>(words, words->data())};
  if (from.doubles != nullptr) {
    std::vector<double> doubles;
    doubles.reserve(places.size());
    for (const int64_t place : places) {
      doubles.push_back((*from.doubles)[static_cast<size_t>(place)]);
    }
    picked.doubles =
        std::make_shared<const std::vector<double>>(std::move(doubles));
  }
  return picked;
}

// Places of elements by their indices along each axis.
std::vector<int64_t> PlacesOf(const Dims& dims,
                              const std::vector<std::vector<int64_t>>& chosen) {
  std::vector<int64_t> places(1, 0);
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    std::vector<int64_t> next;
    next.reserve(places.size() * chosen[axis].size());
    for (const int64_t place : places) {
      for (const int64_t index : chosen[axis]) {
        next.push_back(place * dims[axis] + index);
      }
    }
    places = std::move(next);
  }
  return places;
}

std::vector<std::vector<int64_t>> AllIndices(const Dims& dims) {
  std::vector<std::vector<int64_t>> chosen;
  for (const int64_t extent : dims) {
    chosen.emplace_back(static_cast<size_t>(extent));
    std::iota(chosen.back().begin(), chosen.back().end(), int64_t{0});
  }
  return chosen;
}

bool SetChosen(Node* node, const HostArray& from,
               const std::vector<std::vector<int64_t>>& chosen) {
  Dims dims;
  for (const auto& indices : chosen) {
    dims.push_back(static_cast<int64_t>(indices.size()));
  }
  if (!AreFew(dims)) return false;
  return SetConstant(node, Picked(from, PlacesOf(from.dims, chosen), dims));
}

// The constant of operand 0 in other extents, of any size.
bool SetReshaped(Node* node, Dims dims) {
  HostArray array = *node->inputs[0].constant;
  int64_t count = 1;
  for (const int64_t extent : dims) count *= extent;
  if (count != array.ElementCount()) return false;
  array.dims = std::move(dims);
  return SetConstant(node, std::move(array));
}

bool Gather(Node* node) {
  const HostArray* from = Source(*node);
  const HostArray* indices = SmallConstant(*node, 1);
  if (from == nullptr || indices == nullptr) return false;
  const int rank = static_cast<int>(from->dims.size());
  const auto axis = node->Axis("axis", 0, rank);
  auto picked = Integers(*indices);
  if (!axis.ok() || !picked.ok()) return false;
  const auto at = static_cast<size_t>(*axis);
  for (int64_t& index : *picked) {
    if (index < 0) index += from->dims[at];
    if (index < 0 || index >= from->dims[at]) return false;
  }
  Dims dims = from->dims;
  dims.erase(dims.begin() + *axis);
  dims.insert(dims.begin() + *axis, indices->dims.begin(), indices->dims.end());
  if (!AreFew(dims)) return false;
  auto chosen = AllIndices(from->dims);
  chosen[at] = *std::move(picked);
  return SetConstant(node, Picked(*from, PlacesOf(from->dims, chosen), dims));
}

// Elements of FLOAT64 of all operands, `rows` times a part of each; null where
// an operand has none.
std::shared_ptr<const std::vector<double>> JoinedDoubles(const Node& node,
                                                         size_t rows) {
  std::vector<double> joined;
  for (size_t row = 0; row < rows; ++row) {
    for (const Value& input : node.inputs) {
      const auto& part = input.constant->doubles;
      if (part == nullptr) return nullptr;
      const auto size = static_cast<std::ptrdiff_t>(part->size() / rows);
      const auto from = part->begin() + static_cast<std::ptrdiff_t>(row) * size;
      joined.insert(joined.end(), from, from + size);
    }
  }
  return std::make_shared<const std::vector<double>>(std::move(joined));
}

bool Concat(Node* node) {
  const HostArray* first = Source(*node);
  if (first == nullptr) return false;
  const auto axis = node->Axis("axis", node->opset < 4 ? 1 : 0,
                               static_cast<int>(first->dims.size()));
  if (!axis.ok() || !node->HasAttribute("axis")) return false;
  Dims dims = first->dims;
  dims[static_cast<size_t>(*axis)] = 0;
  for (size_t i = 0; i < node->inputs.size(); ++i) {
    const HostArray* part = Source(*node, i);
    if (part == nullptr || part->type != first->type ||
        part->dims.size() != dims.size()) {
      return false;
    }
    for (size_t j = 0; j < dims.size(); ++j) {
      if (static_cast<int>(j) == *axis) {
        dims[j] += part->dims[j];
      } else if (part->dims[j] != dims[j]) {
        return false;
      }
    }
  }
  if (!AreFew(dims)) return false;
  size_t rows = 1;
  for (int j = 0; j < *axis; ++j) rows *= static_cast<size_t>(dims[j]);
  std::vector<uint8_t> bytes;
  for (size_t row = 0; row < rows; ++row) {
    for (const Value& input : node->inputs) {
      const size_t size = input.constant->bytes / rows;
      const auto* from =
          static_cast<const uint8_t*>(input.constant->data.get());
      if (size != 0) {
        bytes.insert(bytes.end(), from + row * size, from + (row + 1) * size);
      }
    }
  }
  auto words = std::make_shared<std::vector<uint64_t>>(bytes.size() / 8 + 1);
  std::copy(bytes.begin(), bytes.end(),
            reinterpret_cast<uint8_t*>(words->data()));
  return SetConstant(node, {first->type, dims, bytes.size(),
                            std::shared_ptr<const void>(words, words->data()),
                            JoinedDoubles(*node, rows)});
}

// Indices along an axis, from a Slice's start, end and step.
std::vector<int64_t> SliceIndices(int64_t extent, int64_t start, int64_t end,
                                  int64_t step) {
  const auto inside = [extent](int64_t at, int64_t least, int64_t most) {
    if (at < 0) at += extent;
    return std::clamp(at, least, most);
  };
  std::vector<int64_t> indices;
  if (step > 0) {
    start = inside(start, 0, extent);
    end = inside(end, 0, extent);
    while (start < end) {
      indices.push_back(start);
      if (__builtin_add_overflow(start, step, &start)) break;
    }
  } else {
    start = inside(start, -1, extent - 1);
    end = inside(end, -1, extent - 1);
    while (start > end) {
      indices.push_back(start);
      if (__builtin_add_overflow(start, step, &start)) break;
    }
  }
  return indices;
}

bool Slice(Node* node) {
  const HostArray* from = Source(*node);
  if (from == nullptr) return false;
  const auto starts = node->IntsSince(10, 1, "starts", {});
  const auto ends = node->IntsSince(10, 2, "ends", {});
  auto axes = node->IntsSince(10, 3, "axes", {});
  auto steps = node->IntsSince(10, 4, "steps", {});
  if (!starts.ok() || !ends.ok() || !axes.ok() || !steps.ok() ||
      starts->size() != ends->size()) {
    return false;
  }
  if (axes->empty()) {
    axes->resize(starts->size());
    std::iota(axes->begin(), axes->end(), int64_t{0});
  }
  if (steps->empty()) steps->assign(starts->size(), 1);
  if (axes->size() != starts->size() || steps->size() != starts->size()) {
    return false;
  }
  auto chosen = AllIndices(from->dims);
  std::vector<bool> is_set(chosen.size());
  for (size_t i = 0; i < axes->size(); ++i) {
    const auto axis =
        PositiveAxis((*axes)[i], static_cast<int>(from->dims.size()));
    if (!axis.ok() || (*steps)[i] == 0) return false;
    const auto at = static_cast<size_t>(*axis);
    if (is_set[at]) return false;
    is_set[at] = true;
    chosen[at] =
        SliceIndices(from->dims[at], (*starts)[i], (*ends)[i], (*steps)[i]);
  }
  return SetChosen(node, *from, chosen);
}

// Axes of Squeeze or Unsqueeze, counted in `rank`, each once.
bool ReadAxes(const Node& node, int rank, std::vector<bool>* is_axis,
              bool* is_empty) {
  const auto axes = node.IntsSince(13, 1, "axes", {});
  if (!axes.ok()) return false;
  *is_empty = axes->empty();
  is_axis->assign(static_cast<size_t>(rank), false);
  for (const int64_t axis : *axes) {
    const auto positive = PositiveAxis(axis, rank);
    if (!positive.ok() || (*is_axis)[static_cast<size_t>(*positive)]) {
      return false;
    }
    (*is_axis)[static_cast<size_t>(*positive)] = true;
  }
  return true;
}

bool IsConstant(const Node& node) {
  return node.Has(0) && node.inputs[0].constant != nullptr;
}

bool Unsqueeze(Node* node) {
  if (!IsConstant(*node)) return false;
  const Dims& from = node->inputs[0].dims;
  const auto axes = node->IntsSince(13, 1, "axes", {});
  if (!axes.ok() || axes->size() > 8) return false;
  std::vector<bool> is_new;
  bool is_empty = false;
  const auto rank = static_cast<int>(from.size() + axes->size());
  if (!ReadAxes(*node, rank, &is_new, &is_empty)) return false;
  Dims dims;
  size_t next = 0;
  for (const bool inserted : is_new) {
    dims.push_back(inserted ? 1 : from[next++]);
  }
  return SetReshaped(node, std::move(dims));
}

bool Squeeze(Node* node) {
  if (!IsConstant(*node)) return false;
  const Dims& from = node->inputs[0].dims;
  std::vector<bool> is_gone;
  bool all = false;
  if (!ReadAxes(*node, static_cast<int>(from.size()), &is_gone, &all)) {
    return false;
  }
  Dims dims;
  for (size_t i = 0; i < from.size(); ++i) {
    if (is_gone[i] && from[i] != 1) return false;
    if (!is_gone[i] && !(all && from[i] == 1)) dims.push_back(from[i]);
  }
  return SetReshaped(node, std::move(dims));
}

bool Reshape(Node* node) {
  if (!IsConstant(*node)) return false;
  auto dims = node->ConstantInts(1);
  const auto allows_zero = node->Int("allowzero", 0);
  if (!dims.ok() || !allows_zero.ok() || dims->size() > 8) return false;
  const HostArray& from = *node->inputs[0].constant;
  int64_t known = 1;
  int64_t* open = nullptr;
  for (size_t i = 0; i < dims->size(); ++i) {
    int64_t& extent = (*dims)[i];
    if (extent == 0 && *allows_zero == 0) {
      if (i >= from.dims.size()) return false;
      extent = from.dims[i];
    }
    if (extent == -1 && open == nullptr) {
      open = &extent;
    } else if (extent < 0 || __builtin_mul_overflow(known, extent, &known)) {
      return false;
    }
  }
  if (open != nullptr) {
    if (known == 0 || from.ElementCount() % known != 0) return false;
    *open = from.ElementCount() / known;
  }
  return SetReshaped(node, *std::move(dims));
}

bool Flatten(Node* node) {
  if (!IsConstant(*node)) return false;
  const Dims& from = node->inputs[0].dims;
  const auto rank = static_cast<int64_t>(from.size());
  const auto axis = node->Int("axis", 1);
  if (!axis.ok() || *axis < -rank || *axis > rank) return false;
  const int64_t at = *axis < 0 ? *axis + rank : *axis;
  Dims dims = {1, 1};
  for (int64_t i = 0; i < rank; ++i) dims[i < at ? 0 : 1] *= from[i];
  return SetReshaped(node, std::move(dims));
}

bool Expand(Node* node) {
  const HostArray* from = Source(*node);
  const auto shape = node->ConstantInts(1);
  if (from == nullptr || !shape.ok() || !AreFew(*shape)) return false;
  const auto dims = BroadcastDims(from->dims, *shape);
  if (!dims.ok() || !AreFew(*dims)) return false;
  Dims padded(dims->size() - from->dims.size(), 1);
  padded.insert(padded.end(), from->dims.begin(), from->dims.end());
  auto chosen = AllIndices(padded);
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (padded[i] == 1) chosen[i].assign(static_cast<size_t>((*dims)[i]), 0);
  }
  return SetConstant(node, Picked(*from, PlacesOf(padded, chosen), *dims));
}

bool Tile(Node* node) {
  const HostArray* from = Source(*node);
  const auto repeats = node->ConstantInts(1);
  if (from == nullptr || !repeats.ok() ||
      repeats->size() != from->dims.size()) {
    return false;
  }
  Dims dims;
  for (size_t i = 0; i < repeats->size(); ++i) {
    if ((*repeats)[i] < 0 || (*repeats)[i] > kMostFoldedElements) return false;
    dims.push_back(from->dims[i] * (*repeats)[i]);
  }
  if (!AreFew(dims)) return false;
  auto chosen = AllIndices(dims);
  for (size_t i = 0; i < chosen.size(); ++i) {
    for (int64_t& index : chosen[i]) index %= from->dims[i];
  }
  return SetChosen(node, *from, chosen);
}

bool Transpose(Node* node) {
  const HostArray* from = Source(*node);
  if (from == nullptr) return false;
  const size_t rank = from->dims.size();
  std::vector<int64_t> reversed(rank);
  for (size_t i = 0; i < rank; ++i) {
    reversed[i] = static_cast<int64_t>(rank - 1 - i);
  }
  const auto order = node->Ints("perm", reversed);
  if (!order.ok() || order->size() != rank) return false;
  std::vector<int64_t> strides(rank, 1);
  for (size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * from->dims[i];
  std::vector<bool> is_taken(rank);
  Dims dims;
  std::vector<int64_t> places(1, 0);
  for (const int64_t axis : *order) {
    if (axis < 0 || axis >= static_cast<int64_t>(rank)) return false;
    const auto at = static_cast<size_t>(axis);
    if (is_taken[at]) return false;
    is_taken[at] = true;
    dims.push_back(from->dims[at]);
    std::vector<int64_t> next;
    for (const int64_t place : places) {
      for (int64_t i = 0; i < from->dims[at]; ++i) {
        next.push_back(place + i * strides[at]);
      }
    }
    places = std::move(next);
  }
  return SetConstant(node, Picked(*from, places, dims));
}

bool ConstantOfShape(Node* node) {
  const auto dims = node->ConstantInts(0);
  if (!dims.ok() || dims->size() > 8 || !AreFew(*dims)) return false;
  HostArray one = ArrayOf(std::vector<float>{0}, {1});
  const auto value = node->attributes.find("value");
  if (value != node->attributes.end()) {
    const auto* given = std::get_if<HostArray>(&value->second);
    if (given == nullptr || given->ElementCount() != 1) return false;
    if (given->type == DataType::INT4 || given->type == DataType::UINT4) {
      return false;
    }
    one = *given;
  }
  int64_t count = 1;
  for (const int64_t extent : *dims) count *= extent;
  const std::vector<int64_t> places(static_cast<size_t>(count), 0);
  return SetConstant(node, Picked(one, places, *dims));
}

}  // namespace

void AddExactMoves(ExactTable* table) {
  table->insert({{"Concat", &Concat},
                 {"ConstantOfShape", &ConstantOfShape},
                 {"Expand", &Expand},
                 {"Flatten", &Flatten},
                 {"Gather", &Gather},
                 {"Reshape", &Reshape},
                 {"Slice", &Slice},
                 {"Squeeze", &Squeeze},
                 {"Tile", &Tile},
                 {"Transpose", &Transpose},
                 {"Unsqueeze", &Unsqueeze}});
}

}  // namespace tim::models::onnx
