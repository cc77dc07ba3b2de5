// Operators of quantized models: a family of three files.
#include "models/onnx/ops/quantized/quantized.h"

#include "models/onnx/operator_families.h"

namespace tim::models::onnx {

void AddQuantized(OperatorTable* table) {
  AddConversions(table);
  AddCodeProducts(table);
}

}  // namespace tim::models::onnx
