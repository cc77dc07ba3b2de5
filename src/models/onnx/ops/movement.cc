// Table of ONNX's operators that move elements.
#include "models/onnx/ops/movement.h"

#include "models/onnx/operator_families.h"

namespace tim::models::onnx {

void AddMovement(OperatorTable* table) {
  table->Add("", "Reshape", 5, movement::Reshape);
  table->Add("", "Flatten", 1, movement::Flatten);
  table->Add("", "Squeeze", 1, movement::Squeeze);
  table->Add("", "Unsqueeze", 1, movement::Unsqueeze);
  table->Add("", "Transpose", 1, movement::Transpose);
  table->Add("", "Concat", 4, movement::Concat);
  table->Add("", "Split", 2, movement::Split);
  table->Add("", "Slice", 1, movement::Slice);
  table->Add("", "CenterCropPad", 18, movement::CenterCropPad);
  table->Add("", "Pad", 2, movement::Pad);
  table->Add("", "Expand", 8, movement::Expand);
  table->Add("", "Tile", 6, movement::Tile);
  table->Add("", "DepthToSpace", 1, movement::DepthToSpace);
  table->Add("", "SpaceToDepth", 1, movement::SpaceToDepth);
  table->Add("", "Trilu", 14, movement::Trilu);
  table->Add("", "ReverseSequence", 10, movement::ReverseSequence);
  table->Add("", "Compress", 9, movement::Compress);
}

}  // namespace tim::models::onnx
