// Operators that reduce axes of a tensor: which elements go together, and the
// order in which float values are joined.
#ifndef TIM_OPS_REDUCTION_REDUCE_AXES_H_
#define TIM_OPS_REDUCTION_REDUCE_AXES_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/checked_math.h"
#include "ir/op_schema.h"
#include "ops/elements/axes.h"

namespace tim::ops {

/// Neighbouring axes of a dense tensor that are reduced together: the tensor is
/// [inner, count, outer], fastest first, and `count` goes.
struct ReduceGroup {
  int64_t inner = 1;
  int64_t count = 1;
  int64_t outer = 1;

  /// Of what is left.
  int64_t kept() const { return inner * outer; }
  bool operator==(const ReduceGroup&) const = default;
};

/// Which axes `axes` names: in [-rank, rank), in any order, more than once if
/// need be.  Fails where there is none, or one is outside.
Result<std::vector<bool>> ReducedAxes(const std::vector<int64_t>& axes,
                                      int rank);

/// The shape that is left, extents of 1 in place of what is reduced or without
/// it; [1] where nothing is left.
ir::Shape ReducedShape(const ir::Shape& shape, const std::vector<bool>& reduced,
                       bool keep_dims);

/// The groups one after the other, fastest first: each is of the tensor that
/// the groups before it leave.  At least one, of count 1 where nothing but
/// extents of 1 is reduced.
std::vector<ReduceGroup> ReduceGroups(const ir::Shape& shape,
                                      const std::vector<bool>& reduced);

/// The axes behind the first of these groups, joined, with their strides in
/// what all groups leave (0: reduced).  Their extents make its `outer`.
std::vector<Axis> AxesBehindFirstGroup(const ir::Shape& shape,
                                       const std::vector<bool>& reduced);

/// A single axis in [0, rank).
ReduceGroup GroupOfAxis(const ir::Shape& shape, int axis);

/// The axes and how they stand when the input is permuted (new axis i = old
/// axis perm[i]).
struct PermutedAxes {
  std::vector<int64_t> axes;  ///< Reduced ones of the permuted input, sorted.
  std::vector<int> output;    ///< Permutation of what is left; see keep_dims.
  bool same_order = true;     ///< Float results keep their bits.
};
PermutedAxes PermuteAxes(const ir::Shape& shape,
                         const std::vector<bool>& reduced, bool keep_dims,
                         std::span<const int> perm);

// ---- order -----------------------------------------------------------------
// Element i of a run of at most kReduceChunk goes to lane i % kReduceLanes,
// which begins with the identity; then lanes j and j + 8 are joined, j and j +
// 4, j and j + 2, j and j + 1.  A longer run is cut into chunks of
// kReduceChunk, whose results are a run again.  Every form of every kernel
// keeps to it (device twin: reduce_axes.clh), so that results do not depend on
// the device.

inline constexpr int64_t kReduceLanes = 16;
inline constexpr int64_t kReduceChunk = 1024;

/// At most kReduceChunk values.
template <typename T, typename Value, typename Join>
T ReduceChunk(int64_t count, T identity, const Value& value, const Join& join) {
  T lanes[kReduceLanes];
  std::fill(std::begin(lanes), std::end(lanes), identity);
  for (int64_t i = 0; i < count; ++i) {
    T& lane = lanes[i % kReduceLanes];
    lane = join(lane, value(i));
  }
  for (int64_t step = kReduceLanes / 2; step > 0; step /= 2) {
    for (int64_t j = 0; j < step; ++j) {
      lanes[j] = join(lanes[j], lanes[j + step]);
    }
  }
  return lanes[0];
}

/// value(0) to value(count - 1), joined in that order.
template <typename T, typename Value, typename Join>
T ReduceInOrder(int64_t count, T identity, const Value& value,
                const Join& join) {
  if (count <= kReduceChunk) return ReduceChunk(count, identity, value, join);
  std::vector<T> chunks;
  for (int64_t first = 0; first < count; first += kReduceChunk) {
    chunks.push_back(ReduceChunk(
        std::min(count - first, kReduceChunk), identity,
        [&](int64_t i) { return value(first + i); }, join));
  }
  while (static_cast<int64_t>(chunks.size()) > kReduceChunk) {
    std::vector<T> fewer;
    const auto left = static_cast<int64_t>(chunks.size());
    for (int64_t first = 0; first < left; first += kReduceChunk) {
      fewer.push_back(ReduceChunk(
          std::min(left - first, kReduceChunk), identity,
          [&](int64_t i) { return chunks[first + i]; }, join));
    }
    chunks = std::move(fewer);
  }
  return ReduceChunk(
      static_cast<int64_t>(chunks.size()), identity,
      [&](int64_t i) { return chunks[i]; }, join);
}

/// The sum of float values in that order.
template <typename Value>
float SumInOrder(int64_t count, const Value& value) {
  return ReduceInOrder(count, 0.0f, value,
                       [](float a, float b) { return a + b; });
}

/// All elements of what the group leaves; value(i) is element i of the tensor.
template <typename T, typename Value, typename Join>
std::vector<T> ReduceGroupOf(const ReduceGroup& group, T identity,
                             const Value& value, const Join& join) {
  std::vector<T> out;
  out.reserve(static_cast<size_t>(group.kept()));
  for (int64_t o = 0; o < group.outer; ++o) {
    for (int64_t k = 0; k < group.inner; ++k) {
      const int64_t first = o * group.count * group.inner + k;
      out.push_back(ReduceInOrder(
          group.count, identity,
          [&](int64_t i) { return value(first + i * group.inner); }, join));
    }
  }
  return out;
}

/// All elements of what the groups leave.
template <typename T, typename Value, typename Join>
std::vector<T> ReduceGroupsOf(std::span<const ReduceGroup> groups, T identity,
                              const Value& value, const Join& join) {
  std::vector<T> out = ReduceGroupOf(groups[0], identity, value, join);
  for (const ReduceGroup& group : groups.subspan(1)) {
    out = ReduceGroupOf(
        group, identity, [&](int64_t i) { return out[i]; }, join);
  }
  return out;
}

/// Bytes that ReduceGroupsOf allocates for a T of `element_bytes`.
int64_t ReduceScratchBytes(std::span<const ReduceGroup> groups,
                           int64_t element_bytes);

}  // namespace tim::ops

#endif  // TIM_OPS_REDUCTION_REDUCE_AXES_H_
