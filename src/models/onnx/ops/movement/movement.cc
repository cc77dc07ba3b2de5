// Table of ONNX's operators that move elements.
#include "models/onnx/ops/movement/movement.h"

#include "models/onnx/operator_families.h"
#include "models/onnx/ops/operands.h"

namespace tim::models::onnx {

void AddMovement(OperatorTable* table) {
  table->Add("", "Reshape", 5, Strict<movement::Reshape, 2, "allowzero">);
  table->Add("", "Flatten", 1, Strict<movement::Flatten, 1, "axis">);
  table->Add("", "Squeeze", 1, Strict<movement::Squeeze, 2, "axes">);
  table->Add("", "Unsqueeze", 1, Strict<movement::Unsqueeze, 2, "axes">);
  table->Add("", "Transpose", 1, Strict<movement::Transpose, 1, "perm">);
  table->Add("", "Concat", 4, Strict<movement::Concat, kAnyNumber, "axis">);
  table->Add("", "Split", 2,
             Strict<movement::Split, 2, "axis", "split", "num_outputs">);
  table->Add("", "Slice", 1,
             Strict<movement::Slice, 5, "starts", "ends", "axes">);
  table->Add("", "CenterCropPad", 18,
             Strict<movement::CenterCropPad, 2, "axes">);
  table->Add("", "Pad", 2, Strict<movement::Pad, 4, "mode", "pads", "value">);
  table->Add("", "Expand", 8, Strict<movement::Expand, 2>);
  table->Add("", "Tile", 6, Strict<movement::Tile, 2>);
  table->Add("", "DepthToSpace", 1,
             Strict<movement::DepthToSpace, 1, "blocksize", "mode">);
  table->Add("", "SpaceToDepth", 1,
             Strict<movement::SpaceToDepth, 1, "blocksize">);
  table->Add("", "Trilu", 14, Strict<movement::Trilu, 2, "upper">);
  table->Add("", "ReverseSequence", 10,
             Strict<movement::ReverseSequence, 2, "batch_axis", "time_axis">);
  table->Add("", "Compress", 9, Strict<movement::Compress, 2, "axis">);
}

}  // namespace tim::models::onnx
