// Conv, ConvTranspose and ConvInteger.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "models/onnx/operator_families.h"
#include "models/onnx/ops/codes.h"
#include "models/onnx/ops/compose.h"
#include "models/onnx/ops/convolve.h"
#include "models/onnx/ops/transposed_convolution.h"
#include "tim/vx/ops/elementwise.h"

namespace tim::models::onnx {
namespace {

const std::vector<std::string> kAttributes = {
    "auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"};

Value Operand(const Node& node, size_t index) {
  return node.Has(index) ? node.inputs[index] : Value();
}

Status Conv(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 2, 3));
  TIM_RETURN_IF_ERROR(CheckAttributes(node, kAttributes));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 0));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 1));
  TIM_ASSIGN_OR_RETURN(
      const Convolution it,
      ConvolutionOf(node, node.inputs[0], node.inputs[1], Operand(node, 2)));
  return node.SetOutput(0, Convolve(node.builder, it, node.inputs[0].type));
}

// Codes without their zero point, as 16-bit integers; `axis`: the one that a
// zero point of several elements runs along.
Result<Value> Centered(Node& node, size_t codes, size_t zero_point, int axis) {
  TIM_ASSIGN_OR_RETURN(const Value x,
                       Unlabelled(node.builder, node.inputs[codes]));
  if (x.type != vx::DataType::INT8 && x.type != vx::DataType::UINT8) {
    return Unimplemented("operand ", codes, " is ", Describe(x),
                         ", int8 and uint8 are taken");
  }
  if (!node.Has(zero_point)) return x;
  TIM_ASSIGN_OR_RETURN(Value zero,
                       Unlabelled(node.builder, node.inputs[zero_point]));
  if (zero.ElementCount() != 1) {
    if (axis < 0 || zero.dims != Dims{x.dims[axis]}) {
      return InvalidArgument("operand ", zero_point, " is ", Describe(zero),
                             " for ", Describe(x));
    }
    Dims dims(x.dims.size(), 1);
    dims[axis] = x.dims[axis];
    TIM_ASSIGN_OR_RETURN(zero, node.builder->Reshape(zero, dims));
  }
  return node.builder->Add<vx::ops::Sub>(
      {x, zero}, Wanted::Of(vx::DataType::INT16, x.dims));
}

Status ConvInteger(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 2, 4));
  TIM_RETURN_IF_ERROR(CheckAttributes(node, kAttributes));
  TIM_ASSIGN_OR_RETURN(const Value x, Centered(node, 0, 2, -1));
  TIM_ASSIGN_OR_RETURN(const Value weights, Centered(node, 1, 3, 0));
  TIM_ASSIGN_OR_RETURN(const Convolution it,
                       ConvolutionOf(node, x, weights, Value()));
  return node.SetOutput(0, Convolve(node.builder, it, vx::DataType::INT32));
}

Status ConvTranspose(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 2, 3));
  std::vector<std::string> attributes = kAttributes;
  attributes.insert(attributes.end(), {"output_padding", "output_shape"});
  TIM_RETURN_IF_ERROR(CheckAttributes(node, attributes));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 0));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 1));
  TIM_ASSIGN_OR_RETURN(
      const TransposedConvolution it,
      TransposedConvolutionOf(node, node.inputs[0], node.inputs[1],
                              Operand(node, 2)));
  return node.SetOutput(0, ConvolveTransposed(node.builder, it));
}

}  // namespace

void AddConvolutions(OperatorTable* table) {
  table->Add("", "Conv", 1, Conv);
  table->Add("", "ConvInteger", 10, ConvInteger);
  table->Add("", "ConvTranspose", 1, ConvTranspose);
}

}  // namespace tim::models::onnx
