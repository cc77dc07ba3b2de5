// Prelu: y = x >= 0 ? x : x * slope.
#include <utility>

#include "ir/op_registry.h"
#include "kernels/integers.h"
#include "ops/elements/shapes.h"
#include "ops/elementwise/binary.h"

namespace tim::ops {
namespace {

constexpr char kAxis[] = "axis";

// The axis along which a slope of rank 1 lies that does not broadcast as it is;
// 0: it broadcasts.
int AxisOfSlope(const ir::AttributeMap& attributes, const ir::Shape& x,
                const ir::Shape& slope) {
  if (!x.ranked() || !slope.ranked() || slope.rank() != 1) return 0;
  const Result<int> axis = WrapAxis(attributes.Int(kAxis), x.rank());
  if (!axis.ok() || slope[0] == x[0] || slope[0] != x[*axis]) return 0;
  return slope[0] == 1 || slope[0] == ir::kUnknownDim ? 0 : *axis;
}

// Whether extents that are not known yet decide where it lies.
bool IsOpen(const ir::Shape& x, int axis, int64_t length) {
  if (axis == 0 || length == 1) return false;
  if (length == ir::kUnknownDim) return true;
  if (x[0] == length) return false;
  if (x[axis] != length && x[axis] != ir::kUnknownDim) return false;
  return x[0] == ir::kUnknownDim || x[axis] == ir::kUnknownDim;
}

ir::Shape SlopeShape(const ir::AttributeMap& attributes, const ir::Shape& x,
                     const ir::Shape& slope) {
  if (!x.ranked() || !slope.ranked() || slope.rank() != 1) return slope;
  const Result<int> wrapped = WrapAxis(attributes.Int(kAxis), x.rank());
  if (!wrapped.ok()) return slope;
  const bool open = IsOpen(x, *wrapped, slope[0]);
  const int axis = open ? *wrapped : AxisOfSlope(attributes, x, slope);
  if (axis == 0) return slope;
  std::vector<int64_t> dims(static_cast<size_t>(axis) + 1, 1);
  dims.front() = open ? ir::kUnknownDim : 1;
  dims.back() = open ? ir::kUnknownDim : slope[0];
  return ir::Shape(std::move(dims));
}

Result<ir::PermutedNode> PermutePrelu(const ir::NodeView& view, int operand,
                                      std::span<const int> perm) {
  const ir::AttributeMap& attributes = view.node.attributes;
  const ir::Shape& x = view.inputs[0]->shape;
  const ir::Shape& slope = view.inputs[1]->shape;
  TIM_ASSIGN_OR_RETURN(ir::PermutedNode out,
                       KeepAttributes(view, operand, perm));
  const ir::Permutation& whole = out.outputs[0];
  TIM_ASSIGN_OR_RETURN(const int axis,
                       WrapAxis(attributes.Int(kAxis), x.rank()));
  if (axis != 0 && slope.rank() == 1) {
    if (!x.IsStatic() || !slope.IsStatic()) {
      return Unimplemented("the axis of a slope of rank 1 is not known");
    }
    const int along = AxisOfSlope(attributes, x, slope);
    if (along != 0) {
      // [n] becomes [1, .., n, .., 1].
      ir::Permutation moved = ir::IdentityPermutation(x.rank());
      std::swap(moved[0], moved[static_cast<size_t>(along)]);
      out.inputs[1] = ir::Compose(moved, out.inputs[0]);
    }
  }
  // In the range of x's rank; without a meaning where the slope has more axes.
  const int moved_axis = ir::NewAxis(whole, axis);
  out.attributes.Set(kAxis, int64_t{moved_axis < x.rank() ? moved_axis : 0});
  return out;
}

Status CheckPrelu(const ir::NodeView& view) {
  const ir::Shape& x = view.inputs[0]->shape;
  if (x.ranked()) {
    TIM_RETURN_IF_ERROR(
        WrapAxis(view.node.attributes.Int(kAxis), x.rank()).status());
  }
  return CheckNumbers(view);
}

}  // namespace

TIM_OPERATOR(prelu) {
  AddBinary({.name = "Prelu",
             .pointwise = {
                 .arity = 2,
                 .macro = "TIM_PRELU",
                 .header = "kernels/formulas/arithmetic.clh",
                 .binary = [](float x, float s) { return x >= 0 ? x : x * s; },
                 .binary_integer =
                     [](int64_t x, int64_t s, bool wrap) {
                       return x >= 0 ? x
                                     : kernels::MultiplyIntegers(x, s, wrap);
                     }},
             .flops = 2,
             .attributes = {{.name = kAxis, .type = ir::AttributeType::kInt}},
             .check = CheckPrelu,
             .second_shape = SlopeShape,
             .permute_rule = PermutePrelu},
            registry);
}

}  // namespace tim::ops
