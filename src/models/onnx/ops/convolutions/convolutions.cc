// Conv, ConvTranspose and ConvInteger.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "models/onnx/operator_families.h"
#include "models/onnx/ops/codes.h"
#include "models/onnx/ops/convolutions/convolve.h"
#include "models/onnx/ops/convolutions/integer_convolution.h"
#include "models/onnx/ops/convolutions/transposed_convolution.h"
#include "models/onnx/ops/operands.h"

namespace tim::models::onnx {
namespace {

// Attributes of all three, and `more`.
Status CheckConvolutionAttributes(const Node& node,
                                  const std::vector<std::string>& more = {}) {
  std::vector<std::string> names = {"auto_pad",     "dilations", "group",
                                    "kernel_shape", "pads",      "strides"};
  names.insert(names.end(), more.begin(), more.end());
  return CheckAttributes(node, names);
}

Status Conv(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 2, 3));
  TIM_RETURN_IF_ERROR(CheckConvolutionAttributes(node));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 0));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 1));
  TIM_ASSIGN_OR_RETURN(const Convolution it,
                       ConvolutionOf(node, node.inputs[0], node.inputs[1],
                                     OptionalOperand(node, 2)));
  return node.SetOutput(0, Convolve(node.builder, it, node.inputs[0].type));
}

// The zero points of weights, one or one for each output, beside them.
Result<Value> WeightZeroPoint(const Node& node, size_t input,
                              const Value& weights) {
  Value zero = OptionalOperand(node, input);
  if (zero.IsAbsent() || zero.rank() != 1 || zero.dims[0] == 1) return zero;
  Dims dims(weights.dims.size(), 1);
  if (!dims.empty()) dims[0] = zero.dims[0];
  return node.builder->Reshape(zero, dims);
}

Status ConvInteger(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 2, 4));
  TIM_RETURN_IF_ERROR(CheckConvolutionAttributes(node));
  const Value zero = OptionalOperand(node, 2);
  if (!zero.IsAbsent() && zero.ElementCount() != 1) {
    return Unimplemented("operand 2 is ", Describe(zero), ", one is taken");
  }
  TIM_ASSIGN_OR_RETURN(const Value of_weights,
                       WeightZeroPoint(node, 3, node.inputs[1]));
  TIM_ASSIGN_OR_RETURN(const Value weights,
                       Centered(node.builder, node.inputs[1], of_weights));
  TIM_ASSIGN_OR_RETURN(const Convolution it,
                       ConvolutionOf(node, node.inputs[0], weights, Value()));
  return node.SetOutput(0, IntegerConvolution(node.builder, it, zero));
}

Status ConvTranspose(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 2, 3));
  TIM_RETURN_IF_ERROR(
      CheckConvolutionAttributes(node, {"output_padding", "output_shape"}));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 0));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 1));
  TIM_ASSIGN_OR_RETURN(
      const TransposedConvolution it,
      TransposedConvolutionOf(node, node.inputs[0], node.inputs[1],
                              OptionalOperand(node, 2)));
  return node.SetOutput(0, ConvolveTransposed(node.builder, it));
}

}  // namespace

void AddConvolutions(OperatorTable* table) {
  table->Add("", "Conv", 1, Conv);
  table->Add("", "ConvInteger", 10, ConvInteger);
  table->Add("", "ConvTranspose", 1, ConvTranspose);
}

}  // namespace tim::models::onnx
