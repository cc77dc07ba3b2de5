// Nodes that the caller of an import supplies.
#ifndef TIM_MODELS_TFLITE_SUPPLIED_H_
#define TIM_MODELS_TFLITE_SUPPLIED_H_

#include "base/status.h"
#include "models/tflite/node.h"
#include "tim/models/model.h"

namespace tim::models::tflite {

/// Numbers and texts of a custom operator's options, a FlexBuffers map.
/// Members of other kinds are left out.  Fails where they are no such map.
Status ReadCustomOptions(const fbs::Operator& table, SuppliedNode* node);

/// Asks `supplier` for the node and takes its tensors as outputs; false: it
/// has none.
Result<bool> Supply(const NodeSupplier& supplier, Node* node);

}  // namespace tim::models::tflite

#endif  // TIM_MODELS_TFLITE_SUPPLIED_H_
