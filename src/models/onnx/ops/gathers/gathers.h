// ONNX's operators that choose elements by index, by name in gathers.cc.
#ifndef TIM_MODELS_ONNX_OPS_GATHERS_GATHERS_H_
#define TIM_MODELS_ONNX_OPS_GATHERS_GATHERS_H_

#include "base/status.h"
#include "models/onnx/node.h"
#include "models/onnx/ops/movement/moves.h"

namespace tim::models::onnx::gathers {

/// Operand `input` as indices, INT32 or INT64; of a constant each is checked
/// against [-extent, extent), where `extent` is not negative.
Result<Value> IndexOperand(const Node& node, size_t input, int64_t extent);

/// Indices as INT32, which they are in the graph; constants lie in its range.
Result<Value> AsInt32(const Node& node, const Value& indices);
/// As AsInt32(), negative ones with `extent` added.
Result<Value> PositiveIndices(const Node& node, const Value& indices,
                              int64_t extent);

// gather_nodes.cc
Status Gather(Node& node);
Status GatherElements(Node& node);
Status GatherND(Node& node);
// scatter_nodes.cc
Status ScatterElements(Node& node);
Status ScatterND(Node& node);
// ranking.cc
Status OneHot(Node& node);
Status TopK(Node& node);
Status NonMaxSuppression(Node& node);
// unique.cc
Status Unique(Node& node);

}  // namespace tim::models::onnx::gathers

#endif  // TIM_MODELS_ONNX_OPS_GATHERS_GATHERS_H_
