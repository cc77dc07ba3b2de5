#include "ops/resize/resize_node.h"

#include "ops/elements/shapes.h"

namespace tim::ops {

std::vector<ResizeOp> ResizeOps() {
  return {{.name = "Resize",
           .targets = {"target_width", "target_height"},
           .has_layout = true},
          {.name = "Resize1d", .targets = {"target_size"}}};
}

ir::ComputeEstimate ResizeEstimate(const ir::NodeView& view) {
  // Four products and three sums.
  const bool moves = ResizeMoves(view.node.attributes, view.inputs[0]->shape,
                                 view.outputs[0]->shape);
  return ElementwiseEstimate(view, moves ? 1 : 7);
}

}  // namespace tim::ops
