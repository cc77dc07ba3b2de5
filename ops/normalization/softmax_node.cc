#include "ops/normalization/softmax_node.h"

#include "ops/elements/shapes.h"

namespace tim::ops {
namespace {

constexpr float kLog2E = 1.44269504f;

}  // namespace

Result<SoftmaxProblem> SoftmaxProblemOf(const ir::AttributeMap& attributes,
                                        const ir::Shape& shape) {
  const int rank = shape.rank();
  TIM_ASSIGN_OR_RETURN(const int axis, WrapAxis(attributes.Int("axis"), rank));
  return SoftmaxProblem{.inner = shape.Product(0, axis),
                        .count = shape[axis],
                        .outer = shape.Product(axis + 1, rank),
                        .k = attributes.Float("beta") * kLog2E};
}

}  // namespace tim::ops
