// Operators of com.microsoft that exporters write: a family of several files.
#include "models/onnx/ops/contributed/contributed.h"

#include "models/onnx/operator_families.h"
#include "models/onnx/ops/quantized/quantized.h"

namespace tim::models::onnx {

void AddContributed(OperatorTable* table) {
  AddCodeOperators(table);
  AddFused(table);
  AddAttention(table);
  AddEmbeddings(table);
  AddDynamicProducts(table);
}

}  // namespace tim::models::onnx
