#include "ops/reduction/reduce_permute.h"

#include "ops/elements/shapes.h"

namespace tim::ops {
namespace {

ir::PermutedNode NodeOf(const ir::NodeView& view, const PermutedAxes& axes,
                        std::span<const int> perm) {
  ir::PermutedNode out = ir::UnpermutedNode(view);
  out.inputs[0] = ir::Permutation(perm.begin(), perm.end());
  for (ir::Permutation& output : out.outputs) output = axes.output;
  return out;
}

}  // namespace

Result<ir::PermutedNode> PermuteReduced(const ir::NodeView& view,
                                        const char* name, ReduceOrder order,
                                        std::span<const int> perm) {
  const ir::Shape& shape = view.inputs[0]->shape;
  const ir::AttributeMap& attributes = view.node.attributes;
  TIM_ASSIGN_OR_RETURN(const std::vector<bool> reduced,
                       ReducedAxes(attributes.Ints(name), shape.rank()));
  const PermutedAxes axes =
      PermuteAxes(shape, reduced, attributes.Bool("keep_dims"), perm);
  if (order == ReduceOrder::kMatters && !axes.same_order) {
    return Unimplemented("elements would be joined in another order");
  }
  ir::PermutedNode out = NodeOf(view, axes, perm);
  out.attributes.Set(name, axes.axes);
  return out;
}

Result<ir::PermutedNode> PermuteWithoutAxis(const ir::NodeView& view,
                                            std::span<const int> perm) {
  const ir::Shape& shape = view.inputs[0]->shape;
  TIM_ASSIGN_OR_RETURN(
      const int axis, WrapAxis(view.node.attributes.Int("axis"), shape.rank()));
  std::vector<bool> reduced(static_cast<size_t>(shape.rank()), false);
  reduced[axis] = true;
  const PermutedAxes axes =
      PermuteAxes(shape, reduced, /*keep_dims=*/false, perm);
  ir::PermutedNode out = NodeOf(view, axes, perm);
  out.attributes.Set("axis", axes.axes[0]);
  return out;
}

}  // namespace tim::ops
