// Maxima over windows and where they stand.
#ifndef TIM_MODELS_ONNX_OPS_POOLS_GREATEST_PLACES_H_
#define TIM_MODELS_ONNX_OPS_POOLS_GREATEST_PLACES_H_

#include "models/onnx/node.h"
#include "models/onnx/ops/convolutions/windows.h"

namespace tim::models::onnx {

/// Order in which indices count the elements of an image: along rows, as they
/// lie in memory, or along columns.
enum class IndexOrder { kRows, kColumns };

struct GreatestPlaces {
  Value values;
  Value indices;  ///< INT64 in the model; in the whole input.
};

/// Over one or two spatial axes, without dilations; refuses others.
Result<GreatestPlaces> FindGreatest(GraphBuilder* builder, const Value& x,
                                    const Windows& windows, IndexOrder order);

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_OPS_POOLS_GREATEST_PLACES_H_
