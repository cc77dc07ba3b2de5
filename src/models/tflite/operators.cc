// The table of all operators that are taken from .tflite files.
#include <atomic>

#include "base/fork/keep_one.h"
#include "models/tflite/node.h"

namespace tim::models::tflite {

const OperatorTable& Operators() {
  static constinit std::atomic<const OperatorTable*> table = nullptr;
  return KeepOne(table, [] {
    OperatorTable made;
    AddActivations(&made);
    AddConvolutions(&made);
    AddPools(&made);
    AddProducts(&made);
    AddElementwise(&made);
    AddReductions(&made);
    AddShapes(&made);
    AddMovement(&made);
    AddSlices(&made);
    AddGathers(&made);
    AddSequences(&made);
    AddListings(&made);
    AddDiagonals(&made);
    AddTransposed(&made);
    AddRecurrent(&made);
    AddLstm(&made);
    AddVariables(&made);
    AddDetection(&made);
    return made;
  });
}

}  // namespace tim::models::tflite
