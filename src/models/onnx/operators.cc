// The table of all operators that are taken from ONNX files.
#include "models/onnx/operator_families.h"

namespace tim::models::onnx {

const OperatorTable& Operators() {
  static const OperatorTable* const table = [] {
    auto* made = new OperatorTable();
    AddElementwise(made);
    AddReductions(made);
    AddConvolutions(made);
    AddPools(made);
    AddProducts(made);
    AddNormalizations(made);
    AddRecurrent(made);
    AddQuantized(made);
    AddContributed(made);
    AddMovement(made);
    AddGathers(made);
    AddShapes(made);
    AddImages(made);
    AddLosses(made);
    AddSignals(made);
    return made;
  }();
  return *table;
}

}  // namespace tim::models::onnx
