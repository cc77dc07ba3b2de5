// Table of ONNX's operators of images.
#include "models/onnx/ops/images.h"

#include "models/onnx/operator_families.h"

namespace tim::models::onnx {

void AddImages(OperatorTable* table) {
  table->Add("", "Resize", 10, images::Resize);
  table->Add("", "Upsample", 7, images::Upsample);
  table->Add("", "RoiAlign", 10, images::RoiAlign);
  table->Add("", "MaxRoiPool", 1, images::MaxRoiPool);
  table->Add("", "GridSample", 16, images::GridSample);
  table->Add("", "AffineGrid", 20, images::AffineGrid);
  table->Add("", "Col2Im", 18, images::Col2Im);
}

}  // namespace tim::models::onnx
