// Sums of products that an equation names.
#ifndef TIM_MODELS_ONNX_OPS_PRODUCTS_EINSUM_H_
#define TIM_MODELS_ONNX_OPS_PRODUCTS_EINSUM_H_

#include <string>
#include <vector>

#include "models/onnx/node.h"

namespace tim::models::onnx {

/// Einsum-12 over float operands: letters, "..." and repeated letters, with or
/// without "->".
Result<Value> Einsum(GraphBuilder* builder, const std::string& equation,
                     const std::vector<Value>& operands);

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_OPS_PRODUCTS_EINSUM_H_
