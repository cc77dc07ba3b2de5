#include "ops/reduction/reduce_axes.h"

#include "ops/elements/shapes.h"

namespace tim::ops {
namespace {

std::vector<int64_t> CountsOf(const std::vector<ReduceGroup>& groups) {
  std::vector<int64_t> counts;
  for (const ReduceGroup& group : groups) counts.push_back(group.count);
  return counts;
}

// Strides in the input and in the output: axes join where both go on.
std::vector<Axis> JoinedAxes(const ir::Shape& shape,
                             const std::vector<bool>& reduced) {
  const ir::Shape output = ReducedShape(shape, reduced, /*keep_dims=*/true);
  return JoinAxes(
      shape.dims(),
      {ir::DenseStrides(shape), BroadcastStrides(output.dims(), shape.dims())});
}

bool IsReduced(const Axis& axis) {
  return axis.extent != 1 && axis.strides[1] == 0;
}

}  // namespace

Result<std::vector<bool>> ReducedAxes(const std::vector<int64_t>& axes,
                                      int rank) {
  if (axes.empty()) {
    return InvalidArgument(
        "the list of axes is empty, expected those to reduce");
  }
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  for (const int64_t entry : axes) {
    TIM_ASSIGN_OR_RETURN(const int axis, WrapAxis(entry, rank));
    reduced[axis] = true;
  }
  return reduced;
}

ir::Shape ReducedShape(const ir::Shape& shape, const std::vector<bool>& reduced,
                       bool keep_dims) {
  std::vector<int64_t> dims;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (!reduced[axis]) {
      dims.push_back(shape[axis]);
    } else if (keep_dims) {
      dims.push_back(1);
    }
  }
  if (dims.empty()) dims.push_back(1);
  return ir::Shape(std::move(dims));
}

std::vector<ReduceGroup> ReduceGroups(const ir::Shape& shape,
                                      const std::vector<bool>& reduced) {
  const std::vector<Axis> axes = JoinedAxes(shape, reduced);
  std::vector<ReduceGroup> groups;
  int64_t inner = 1;  // Of what is kept.
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!IsReduced(axes[i])) {
      inner *= axes[i].extent;
      continue;
    }
    groups.push_back({.inner = inner,
                      .count = axes[i].extent,
                      .outer = CountElements(std::span(axes).subspan(i + 1))});
  }
  if (groups.empty()) groups.push_back({.inner = inner});
  return groups;
}

std::vector<Axis> AxesBehindFirstGroup(const ir::Shape& shape,
                                       const std::vector<bool>& reduced) {
  std::vector<Axis> axes = JoinedAxes(shape, reduced);
  const auto first = std::find_if(axes.begin(), axes.end(), IsReduced);
  if (first == axes.end()) return {};
  axes.erase(axes.begin(), first + 1);
  for (Axis& axis : axes) axis.strides.erase(axis.strides.begin());
  return axes;
}

ReduceGroup GroupOfAxis(const ir::Shape& shape, int axis) {
  return {.inner = shape.Product(0, axis),
          .count = shape[axis],
          .outer = shape.Product(axis + 1, shape.rank())};
}

PermutedAxes PermuteAxes(const ir::Shape& shape,
                         const std::vector<bool>& reduced, bool keep_dims,
                         std::span<const int> perm) {
  PermutedAxes out;
  // Place of each old axis among those that are kept.
  std::vector<int> place(reduced.size(), 0);
  int kept = 0;
  for (size_t axis = 0; axis < reduced.size(); ++axis) {
    place[axis] = keep_dims ? static_cast<int>(axis) : kept;
    if (!reduced[axis]) ++kept;
  }
  int last = -1;  // Reduced axis of more than one element.
  ir::Shape permuted = shape;
  std::vector<bool> permuted_reduced = reduced;
  for (size_t i = 0; i < perm.size(); ++i) {
    const int axis = perm[i];
    permuted.set_dim(static_cast<int>(i), shape[axis]);
    permuted_reduced[i] = reduced[axis];
    if (reduced[axis]) out.axes.push_back(static_cast<int64_t>(i));
    if (keep_dims || !reduced[axis]) out.output.push_back(place[axis]);
    if (!reduced[axis] || shape[axis] == 1) continue;
    out.same_order &= axis > last;
    last = axis;
  }
  out.same_order &= shape.IsStatic() &&
                    CountsOf(ReduceGroups(shape, reduced)) ==
                        CountsOf(ReduceGroups(permuted, permuted_reduced));
  return out;
}

int64_t ReduceScratchBytes(std::span<const ReduceGroup> groups,
                           int64_t element_bytes) {
  int64_t elements = groups[0].kept();
  if (groups.size() > 1) elements += groups[1].kept();
  return elements * element_bytes;
}

}  // namespace tim::ops
