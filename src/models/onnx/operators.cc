// The table of all operators that are taken from ONNX files.
#include <atomic>

#include "base/fork/keep_one.h"
#include "models/onnx/operator_families.h"

namespace tim::models::onnx {

const OperatorTable& Operators() {
  static constinit std::atomic<const OperatorTable*> table = nullptr;
  return KeepOne(table, [] {
    OperatorTable made;
    AddElementwise(&made);
    AddReductions(&made);
    AddConvolutions(&made);
    AddPools(&made);
    AddProducts(&made);
    AddNormalizations(&made);
    AddRecurrent(&made);
    AddQuantized(&made);
    AddContributed(&made);
    AddMovement(&made);
    AddGathers(&made);
    AddShapes(&made);
    AddImages(&made);
    AddLosses(&made);
    AddSignals(&made);
    return made;
  });
}

}  // namespace tim::models::onnx
