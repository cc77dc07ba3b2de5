// The equation of an Einsum, read.
#ifndef TIM_MODELS_ONNX_OPS_PRODUCTS_EINSUM_EQUATION_H_
#define TIM_MODELS_ONNX_OPS_PRODUCTS_EINSUM_EQUATION_H_

#include <string>
#include <vector>

#include "models/onnx/node.h"

namespace tim::models::onnx {

/// Axes by label: letters, and numbers below 'A' for those of an ellipsis.
using Labels = std::vector<int>;

struct Equation {
  std::vector<Labels> operands;
  Labels output;
};

/// Every operand has a label for each of its axes; every label of the output
/// is one of an operand's, once.
Result<Equation> ParseEquation(const std::string& text,
                               const std::vector<Value>& operands);

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_OPS_PRODUCTS_EINSUM_EQUATION_H_
