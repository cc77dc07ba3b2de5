// Operators on each element by itself: the list of their parts.
#include "models/onnx/ops/elementwise/elementwise.h"

#include "models/onnx/operator_families.h"

namespace tim::models::onnx {

void AddElementwise(OperatorTable* table) {
  AddUnary(table);
  AddActivations(table);
  AddClips(table);
  AddBinary(table);
  AddLogic(table);
  AddBits(table);
  AddCasts(table);
}

}  // namespace tim::models::onnx
