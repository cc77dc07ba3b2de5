// ONNX's operators of images, by name in images.cc.
#ifndef TIM_MODELS_ONNX_OPS_IMAGES_IMAGES_H_
#define TIM_MODELS_ONNX_OPS_IMAGES_IMAGES_H_

#include "base/status.h"
#include "models/onnx/node.h"

namespace tim::models::onnx::images {

// resize.cc
Status Resize(Node& node);
Status Upsample(Node& node);
// regions.cc
Status RoiAlign(Node& node);
Status MaxRoiPool(Node& node);
// grid_sample.cc
Status GridSample(Node& node);
// deform_conv.cc
Status DeformConv(Node& node);
// affine_grid.cc
Status AffineGrid(Node& node);
// col2im.cc
Status Col2Im(Node& node);

}  // namespace tim::models::onnx::images

#endif  // TIM_MODELS_ONNX_OPS_IMAGES_IMAGES_H_
