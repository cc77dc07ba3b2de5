// Table of ONNX's operators of images.
#include "models/onnx/ops/images/images.h"

#include "models/onnx/operator_families.h"
#include "models/onnx/ops/operands.h"

namespace tim::models::onnx {

void AddImages(OperatorTable* table) {
  table->Add(
      "", "Resize", 10,
      Strict<images::Resize, 4, "mode", "coordinate_transformation_mode",
             "nearest_mode", "cubic_coeff_a", "antialias", "exclude_outside",
             "extrapolation_value", "axes", "keep_aspect_ratio_policy">);
  table->Add("", "Upsample", 7, Strict<images::Upsample, 2, "mode", "scales">);
  table->Add("", "RoiAlign", 10,
             Strict<images::RoiAlign, 3, "output_height", "output_width",
                    "sampling_ratio", "spatial_scale", "mode",
                    "coordinate_transformation_mode">);
  table->Add("", "MaxRoiPool", 1,
             Strict<images::MaxRoiPool, 2, "pooled_shape", "spatial_scale">);
  table->Add(
      "", "GridSample", 16,
      Strict<images::GridSample, 2, "mode", "padding_mode", "align_corners">);
  table->Add("", "DeformConv", 19,
             Strict<images::DeformConv, 5, "dilations", "group", "kernel_shape",
                    "offset_group", "pads", "strides">);
  table->Add("", "AffineGrid", 20,
             Strict<images::AffineGrid, 2, "align_corners">);
  table->Add("", "Col2Im", 18,
             Strict<images::Col2Im, 3, "dilations", "pads", "strides">);
}

}  // namespace tim::models::onnx
