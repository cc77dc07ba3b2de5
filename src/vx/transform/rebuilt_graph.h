// A client's graph made of an ir::Graph that was lowered from another one.
#ifndef TIM_VX_TRANSFORM_REBUILT_GRAPH_H_
#define TIM_VX_TRANSFORM_REBUILT_GRAPH_H_

#include <map>
#include <memory>

#include "base/status.h"
#include "vx/graph/graph_impl.h"
#include "vx/lowering/lowering.h"

namespace tim::transform {

using TensorMap =
    std::map<std::shared_ptr<vx::Tensor>, std::shared_ptr<vx::Tensor>>;

/// INPUT and OUTPUT tensors of `to` for those of `source`, in their order, with
/// spec and content, or on the same memory of a client.
TensorMap CopyInputsAndOutputs(const vx::GraphImpl& source, vx::GraphImpl& to);

/// Fills `to` with the operations and tensors of `lowered.graph`: nodes with an
/// operation become its clones, with the attributes that the node has since;
/// others are Transpose or Reshape.  `tensors` has the inputs and outputs, and
/// gets the VARIABLE tensors.
Status Rebuild(const vx::LoweredGraph& lowered,
               const std::shared_ptr<vx::GraphImpl>& to, TensorMap* tensors);

}  // namespace tim::transform

#endif  // TIM_VX_TRANSFORM_REBUILT_GRAPH_H_
