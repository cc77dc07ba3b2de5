// Operators of ONNX that opset 7 has as an earlier one had them.
#ifndef TIM_MODELS_ONNX_EARLY_OPSETS_H_
#define TIM_MODELS_ONNX_EARLY_OPSETS_H_

#include <cstdint>
#include <string_view>

#include "base/status.h"

namespace tim::models::onnx {

/// Opsets of ai.onnx that node functions know.
inline constexpr int64_t kFirstOpset = 7;
inline constexpr int64_t kLastOpset = 21;

/// The opset that a node function reads `op` of ai.onnx by, in a model or a
/// function of `opset`: that itself, or kFirstOpset where `opset` is an earlier
/// one and the operator is the same in both.  Fails where it is not, and beyond
/// kLastOpset.
Result<int> OpsetOf(std::string_view op, int64_t opset);

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_EARLY_OPSETS_H_
