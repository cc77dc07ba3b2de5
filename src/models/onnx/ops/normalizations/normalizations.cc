// The normalisations of ONNX: a family of three files.
#include "models/onnx/operator_families.h"
#include "models/onnx/ops/normalizations/normalize.h"

namespace tim::models::onnx {

void AddNormalizations(OperatorTable* table) {
  AddChannelNormalizations(table);
  AddLayerNormalizations(table);
  AddSoftmaxes(table);
}

}  // namespace tim::models::onnx
