// The operators of this folder, a row for each.
#ifndef TIM_OPS_RESIZE_RESIZE_NODE_H_
#define TIM_OPS_RESIZE_RESIZE_NODE_H_

#include <string>
#include <vector>

#include "ir/op_schema.h"
#include "ops/resize/resize_sources.h"

namespace tim::ops {

struct ResizeOp {
  std::string name;
  /// Attributes with the extents of the axes that are resized: 0, or 0 and 1.
  std::vector<std::string> targets;
  bool has_layout = false;  ///< The attribute `layout` means something.

  int axes() const { return static_cast<int>(targets.size()); }
};

std::vector<ResizeOp> ResizeOps();

ir::ComputeEstimate ResizeEstimate(const ir::NodeView& view);

}  // namespace tim::ops

#endif  // TIM_OPS_RESIZE_RESIZE_NODE_H_
