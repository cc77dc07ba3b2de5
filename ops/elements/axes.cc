#include "ops/elements/axes.h"

#include <algorithm>
#include <utility>

#include "ops/launch/packed.h"

namespace tim::ops {
namespace {

// Whether `next` begins in every operand where `axis` ends.
bool Continues(const Axis& axis, const Axis& next) {
  for (size_t k = 0; k < axis.strides.size(); ++k) {
    if (next.strides[k] != axis.strides[k] * axis.extent) return false;
  }
  return true;
}

}  // namespace

std::vector<Axis> JoinAxes(const std::vector<int64_t>& extents,
                           const std::vector<std::vector<int64_t>>& strides) {
  std::vector<Axis> out;
  for (size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] == 1) continue;
    Axis axis{.extent = extents[i], .strides = {}};
    for (const auto& operand : strides) axis.strides.push_back(operand[i]);
    if (!out.empty() && Continues(out.back(), axis)) {
      out.back().extent *= axis.extent;
    } else {
      out.push_back(std::move(axis));
    }
  }
  if (out.empty()) {
    out.push_back(
        {.extent = 1, .strides = std::vector<int64_t>(strides.size(), 0)});
  }
  return out;
}

std::vector<int64_t> BroadcastStrides(const std::vector<int64_t>& dims,
                                      const std::vector<int64_t>& output_dims) {
  std::vector<int64_t> strides(output_dims.size(), 0);
  int64_t stride = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != 1) strides[i] = stride;
    stride *= dims[i];
  }
  return strides;
}

ir::PackedConstant PackAxes(std::span<const Axis> axes, int operands) {
  std::vector<int32_t> table;
  for (const Axis& axis : axes) {
    table.push_back(static_cast<int32_t>(axis.extent));
    table.insert(table.end(), axis.strides.begin(), axis.strides.end());
  }
  if (table.empty()) table.resize(1 + operands);  // device memory is not empty
  return PackedTable("axes", std::move(table));
}

int64_t CountElements(std::span<const Axis> axes) {
  int64_t count = 1;
  for (const Axis& axis : axes) count *= axis.extent;
  return count;
}

int64_t IndexOf(int64_t i, const std::vector<int64_t>& extents,
                const std::vector<int64_t>& strides) {
  int64_t index = 0;
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    index += i % extents[axis] * strides[axis];
    i /= extents[axis];
  }
  return index;
}

}  // namespace tim::ops
