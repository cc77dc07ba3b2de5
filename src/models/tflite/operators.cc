// The table of all operators that are taken from .tflite files.
#include "models/tflite/node.h"

namespace tim::models::tflite {

const OperatorTable& Operators() {
  static const OperatorTable* const table = [] {
    auto* made = new OperatorTable();
    AddActivations(made);
    AddConvolutions(made);
    AddPools(made);
    AddProducts(made);
    AddElementwise(made);
    AddReductions(made);
    AddShapes(made);
    AddMovement(made);
    AddSlices(made);
    AddGathers(made);
    AddRecurrent(made);
    AddLstm(made);
    AddVariables(made);
    AddDetection(made);
    return made;
  }();
  return *table;
}

}  // namespace tim::models::tflite
