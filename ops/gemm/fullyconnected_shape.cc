#include "ops/gemm/fullyconnected_shape.h"

#include <algorithm>
#include <limits>

#include "ops/elements/shapes.h"

namespace tim::ops {

FullyConnectedShape FullyConnectedShapeOf(const ir::AttributeMap& attributes,
                                          const ir::Shape& input,
                                          const ir::Shape& weights) {
  const Result<int> axis = WrapAxis(attributes.Int("axis"), input.rank());
  if (!axis.ok()) return {};
  return {.depth = input.Product(0, *axis + 1),
          .outputs = weights[weights.rank() - 1],
          .rows = input.Product(*axis + 1, input.rank())};
}

Result<FullyConnectedProblem> FullyConnectedProblemOf(
    const ir::KernelNode& node) {
  const FullyConnectedShape shape = FullyConnectedShapeOf(
      node.attributes(), node.inputs[0].shape, node.inputs[1].shape);
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue, EpilogueOf(node, 0));
  if (epilogue.add >= 0 && node.anchor_output.shape[0] != shape.outputs) {
    return Unimplemented("a fused Add needs the channels along axis 0");
  }
  const int64_t largest =
      std::max({shape.depth * shape.rows, shape.depth * shape.outputs,
                shape.outputs * shape.rows});
  if (largest > std::numeric_limits<int32_t>::max()) {
    return Unimplemented("a tensor has more elements than 32 bits count");
  }
  return FullyConnectedProblem{shape, epilogue};
}

}  // namespace tim::ops
