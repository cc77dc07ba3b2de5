// Unique of ONNX, of a constant: how many elements a result has must be known.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "models/onnx/ops/gathers/gathers.h"
#include "models/onnx/ops/operands.h"

namespace tim::models::onnx::gathers {
namespace {

/// A constant as slices along one axis: [outer, count, inner].
struct Slices {
  HostArray array;
  int64_t outer = 1, count = 1, inner = 1;
  std::vector<float> floats;  ///< One of the two has the elements.
  std::vector<int64_t> integers;
};

template <typename T>
int Compare(const Slices& slices, const std::vector<T>& elements, int64_t a,
            int64_t b) {
  for (int64_t o = 0; o < slices.outer; ++o) {
    const T* const row = elements.data() + o * slices.count * slices.inner;
    for (int64_t i = 0; i < slices.inner; ++i) {
      const T left = row[a * slices.inner + i],
              right = row[b * slices.inner + i];
      if (left < right) return -1;
      if (right < left) return 1;
      const bool left_is_nan = !(left == left),
                 right_is_nan = !(right == right);
      if (left_is_nan != right_is_nan) return left_is_nan ? 1 : -1;
    }
  }
  return 0;
}

/// Order of slices a and b; NaN stands behind all numbers.
int Order(const Slices& slices, int64_t a, int64_t b) {
  return slices.floats.empty() ? Compare(slices, slices.integers, a, b)
                               : Compare(slices, slices.floats, a, b);
}

Result<Slices> Read(const Node& node) {
  TIM_ASSIGN_OR_RETURN(const Value value, MovedOperand(node, 0));
  // How many elements are unique follows from all of them.
  if (value.constant == nullptr) return node.ConstantFloats(0).status();
  Slices slices;
  slices.array = *value.constant;
  slices.count = value.ElementCount();
  if (node.HasAttribute("axis")) {
    TIM_ASSIGN_OR_RETURN(const int axis, node.Axis("axis", 0, value.rank()));
    TIM_ASSIGN_OR_RETURN(slices.outer, Extent(value.dims, 0, axis));
    TIM_ASSIGN_OR_RETURN(slices.inner,
                         Extent(value.dims, axis + 1, value.dims.size()));
    slices.count = value.dims[axis];
  } else {
    slices.array.dims = {slices.count};
  }
  if (slices.outer * slices.inner == 0) {
    return Unimplemented("operand 0 without elements");
  }
  if (IsFloat(value.type)) {
    TIM_ASSIGN_OR_RETURN(slices.floats, node.ConstantFloats(0));
  } else {
    TIM_ASSIGN_OR_RETURN(slices.integers, node.ConstantInts(0));
  }
  return slices;
}

/// The slices `chosen`, in this order.
HostArray Chosen(const Slices& slices, const std::vector<int64_t>& chosen,
                 int axis) {
  HostArray made = slices.array;
  made.dims[axis] = static_cast<int64_t>(chosen.size());
  made.bytes = static_cast<size_t>(ByteSizeOf(made.type, made.dims));
  const int64_t part = slices.inner * ByteSizeOf(made.type, {1});
  auto memory = std::make_shared<std::vector<int64_t>>(made.bytes / 8 + 1);
  auto* target = reinterpret_cast<char*>(memory->data());
  const auto* const source = static_cast<const char*>(slices.array.data.get());
  for (int64_t o = 0; o < slices.outer; ++o) {
    for (const int64_t slice : chosen) {
      std::memcpy(target, source + (o * slices.count + slice) * part,
                  static_cast<size_t>(part));
      target += part;
    }
  }
  made.data = std::shared_ptr<const void>(memory, memory->data());
  return made;
}

}  // namespace

Status Unique(Node& node) {
  TIM_ASSIGN_OR_RETURN(const Slices slices, Read(node));
  TIM_ASSIGN_OR_RETURN(const int64_t sorted, node.Int("sorted", 1));
  std::vector<int64_t> order(static_cast<size_t>(slices.count));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return Order(slices, a, b) < 0;
  });
  // Groups of equal slices, each by its first one.
  std::vector<int64_t> firsts, inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || Order(slices, order[i - 1], order[i]) != 0) {
      firsts.push_back(order[i]);
    }
    inverse[order[i]] = static_cast<int64_t>(firsts.size()) - 1;
  }
  if (sorted == 0) {
    std::vector<int64_t> by_place(firsts.size()), rank(firsts.size());
    std::iota(by_place.begin(), by_place.end(), 0);
    std::sort(by_place.begin(), by_place.end(),
              [&](int64_t a, int64_t b) { return firsts[a] < firsts[b]; });
    for (size_t i = 0; i < by_place.size(); ++i) {
      rank[by_place[i]] = static_cast<int64_t>(i);
    }
    for (int64_t& group : inverse) group = rank[group];
    std::sort(firsts.begin(), firsts.end());
  }
  std::vector<int64_t> counts(firsts.size(), 0);
  for (const int64_t group : inverse) ++counts[group];
  int axis = 0;
  if (node.HasAttribute("axis")) {
    TIM_ASSIGN_OR_RETURN(axis, node.Axis("axis", 0, node.inputs[0].rank()));
  }
  const GraphBuilder& builder = *node.builder;
  const auto groups = static_cast<int64_t>(firsts.size());
  TIM_RETURN_IF_ERROR(
      node.SetOutput(0, builder.Constant(Chosen(slices, firsts, axis), "",
                                         node.inputs[0].quantization)));
  TIM_RETURN_IF_ERROR(node.SetOutput(1, builder.ConstantOf(firsts, {groups})));
  TIM_RETURN_IF_ERROR(
      node.SetOutput(2, builder.ConstantOf(inverse, {slices.count})));
  return node.SetOutput(3, builder.ConstantOf(counts, {groups}));
}

}  // namespace tim::models::onnx::gathers
