// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear.
#include <string>

#include "models/onnx/element_type.h"
#include "models/onnx/ops/codes.h"
#include "models/onnx/ops/compose.h"
#include "models/onnx/ops/operands.h"
#include "models/onnx/ops/quantized/blocks.h"
#include "models/onnx/ops/quantized/quantized.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/simple_operations.h"

namespace tim::models::onnx {
namespace {

using vx::DataType;

// The axis of scales; -1 where there is one scale.
Result<int> ScaleAxis(const Node& node, const Value& x, const Value& scale) {
  if (scale.ElementCount() == 1) return -1;
  TIM_ASSIGN_OR_RETURN(const int axis, node.Axis("axis", 1, x.rank()));
  if (scale.dims != Dims{x.dims[axis]}) {
    return InvalidArgument("scales ", Describe(scale), " along axis ", axis,
                           " of ", Describe(x));
  }
  return axis;
}

// A scale or zero point beside x.
Result<Value> Beside(GraphBuilder* builder, const Value& parameter,
                     const Value& x, int axis) {
  if (axis < 0) return builder->Reshape(parameter, {});
  Dims dims(x.dims.size(), 1);
  dims[axis] = x.dims[axis];
  return builder->Reshape(parameter, dims);
}

// The type of the codes that a QuantizeLinear makes.
Result<DataType> CodeTypeOf(const Node& node) {
  TIM_ASSIGN_OR_RETURN(const int64_t number, node.Int("output_dtype", 0));
  DataType type = DataType::UINT8;
  if (number != 0) {
    TIM_ASSIGN_OR_RETURN(type, DataTypeOf(number));
  }
  if (node.Has(2)) {
    if (number != 0 && type != node.inputs[2].type) {
      return InvalidArgument(
          "attribute 'output_dtype' is not the type of operand 2");
    }
    type = node.inputs[2].type;
  }
  if (IsCodeType(type)) return type;
  return Unimplemented("codes of another type than 4, 8 or 16-bit integers");
}

Status QuantizeLinear(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 2, 3));
  TIM_RETURN_IF_ERROR(CheckAttributes(
      node, {"axis", "block_size", "output_dtype", "saturate"}));
  const Value& x = node.inputs[0];
  if (!IsFloat(x.type) && x.type != DataType::INT32) {
    return Unimplemented("operand 0 is ", Describe(x),
                         ", float32, float16 and int32 are taken");
  }
  TIM_ASSIGN_OR_RETURN(const DataType type, CodeTypeOf(node));
  TIM_ASSIGN_OR_RETURN(const int64_t block, node.Int("block_size", 0));
  if (block != 0) return QuantizeBlocks(node, type);
  TIM_ASSIGN_OR_RETURN(const int axis, ScaleAxis(node, x, node.inputs[1]));
  const Value& scale = node.inputs[1];
  const bool known = scale.constant != nullptr &&
                     (!node.Has(2) || node.inputs[2].constant != nullptr);
  if (known) {
    TIM_ASSIGN_OR_RETURN(const vx::Quantization quantization,
                         QuantizationOf(node, 1, 2, type, x.dims, axis));
    return node.SetOutput(0, Quantized(node.builder, x, type, quantization));
  }
  TIM_ASSIGN_OR_RETURN(const Value by, Beside(node.builder, scale, x, axis));
  Value zero;
  if (node.Has(2)) {
    TIM_ASSIGN_OR_RETURN(zero, Beside(node.builder, node.inputs[2], x, axis));
  }
  return node.SetOutput(0, QuantizedBy(node.builder, x, by, zero, type));
}

// (x - zero point) * scale, where these are not known.
Result<Value> DequantizedBy(Node& node, int axis) {
  GraphBuilder* builder = node.builder;
  TIM_ASSIGN_OR_RETURN(Value codes, Unlabelled(builder, node.inputs[0]));
  if (node.Has(2)) {
    TIM_ASSIGN_OR_RETURN(Value zero, Unlabelled(builder, node.inputs[2]));
    TIM_ASSIGN_OR_RETURN(zero, Beside(builder, zero, codes, axis));
    TIM_ASSIGN_OR_RETURN(
        codes, Binary<vx::ops::Sub>(builder, DataType::INT32, codes, zero));
  }
  TIM_ASSIGN_OR_RETURN(const Value scale,
                       Beside(builder, node.inputs[1], codes, axis));
  return Binary<vx::ops::Multiply>(builder, node.inputs[1].type, codes, scale);
}

Status DequantizeLinear(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 2, 3));
  TIM_RETURN_IF_ERROR(CheckAttributes(node, {"axis", "block_size"}));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 1));
  const Value& x = node.inputs[0];
  if (!IsCodeType(x.type) && x.type != DataType::INT32) {
    return Unimplemented("operand 0 is ", Describe(x),
                         ", integers of 4, 8, 16 and 32 bits are taken");
  }
  TIM_ASSIGN_OR_RETURN(const int64_t block, node.Int("block_size", 0));
  if (block != 0) return DequantizeBlocks(node);
  const Value& scale = node.inputs[1];
  TIM_ASSIGN_OR_RETURN(const int axis, ScaleAxis(node, x, scale));
  const bool known = scale.constant != nullptr &&
                     (!node.Has(2) || node.inputs[2].constant != nullptr);
  if (!known) return node.SetOutput(0, DequantizedBy(node, axis));
  TIM_ASSIGN_OR_RETURN(const vx::Quantization quantization,
                       QuantizationOf(node, 1, 2, x.type, x.dims, axis));
  TIM_ASSIGN_OR_RETURN(const Value codes,
                       Labelled(node.builder, x, quantization));
  return node.SetOutput(0, Dequantized(node.builder, codes, scale.type));
}

Status DynamicQuantizeLinear(Node& node) {
  TIM_RETURN_IF_ERROR(CheckOperands(node, 1, 1));
  TIM_RETURN_IF_ERROR(CheckAttributes(node, {}));
  TIM_RETURN_IF_ERROR(CheckFloat(node, 0));
  TIM_ASSIGN_OR_RETURN(const DynamicCodes made,
                       QuantizedByRange(node.builder, node.inputs[0]));
  const Value* values[] = {&made.codes, &made.scale, &made.zero_point};
  for (size_t i = 0; i < 3; ++i) {
    if (i == 0 || node.Wants(i)) {
      TIM_RETURN_IF_ERROR(node.SetOutput(i, *values[i]));
    }
  }
  return OkStatus();
}

}  // namespace

void AddConversions(OperatorTable* table) {
  for (const char* domain : {"", "com.microsoft"}) {
    const bool own = domain[0] == '\0';
    table->Add(domain, "QuantizeLinear", own ? 10 : 1, QuantizeLinear);
    table->Add(domain, "DequantizeLinear", own ? 10 : 1, DequantizeLinear);
  }
  table->Add("", "DynamicQuantizeLinear", 11, DynamicQuantizeLinear);
}

}  // namespace tim::models::onnx
