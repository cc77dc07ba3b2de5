// ONNX's operators that move elements, by name in movement.cc.
#ifndef TIM_MODELS_ONNX_OPS_MOVEMENT_MOVEMENT_H_
#define TIM_MODELS_ONNX_OPS_MOVEMENT_MOVEMENT_H_

#include "base/status.h"
#include "models/onnx/node.h"

namespace tim::models::onnx::movement {

// reshapes.cc
Status Reshape(Node& node);
Status Flatten(Node& node);
Status Squeeze(Node& node);
Status Unsqueeze(Node& node);
Status Transpose(Node& node);
// joins.cc
Status Concat(Node& node);
Status Split(Node& node);
// ranges.cc
Status Slice(Node& node);
Status CenterCropPad(Node& node);
// pads.cc
Status Pad(Node& node);
// repeats.cc
Status Expand(Node& node);
Status Tile(Node& node);
// rearrangements.cc
Status DepthToSpace(Node& node);
Status SpaceToDepth(Node& node);
Status Trilu(Node& node);
Status ReverseSequence(Node& node);
Status Compress(Node& node);

}  // namespace tim::models::onnx::movement

#endif  // TIM_MODELS_ONNX_OPS_MOVEMENT_MOVEMENT_H_
