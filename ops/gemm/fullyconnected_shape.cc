#include "ops/gemm/fullyconnected_shape.h"

#include <algorithm>
#include <limits>

#include "ops/elements/product_sum.h"
#include "ops/elements/shapes.h"
#include "ops/launch/epilogue.h"

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

FullyConnectedShape FullyConnectedShapeOf(const ir::KernelNode& node) {
  return FullyConnectedShapeOf(node.attributes(), node.inputs[0].shape,
                               node.inputs[1].shape);
}

Status CheckFullyConnectedKernel(const ir::KernelNode& node) {
  const FullyConnectedShape shape = FullyConnectedShapeOf(node);
  TIM_ASSIGN_OR_RETURN(const Epilogue epilogue, EpilogueOf(node, 0));
  if (epilogue.add >= 0 && node.anchor_output.shape[0] != shape.outputs) {
    return Unimplemented("a fused Add needs the channels along axis 0");
  }
  const int64_t largest =
      std::max({shape.depth * shape.rows, shape.depth * shape.outputs,
                shape.outputs * shape.rows});
  if (largest <= std::numeric_limits<int32_t>::max()) return OkStatus();
  return Unimplemented("a tensor has more elements than 32 bits count");
}

ir::ComputeEstimate EstimateFullyConnected(const ir::NodeView& view) {
  const FullyConnectedShape shape = FullyConnectedShapeOf(
      view.node.attributes, view.inputs[0]->shape, view.inputs[1]->shape);
  return SumEstimate(view, static_cast<double>(shape.depth));
}

}  // namespace tim::ops
