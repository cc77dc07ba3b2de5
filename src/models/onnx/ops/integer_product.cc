// Products of 8-bit codes that are exact integers.
#include "models/onnx/ops/compose.h"
#include "models/onnx/ops/product.h"
#include "tim/vx/ops/elementwise.h"

namespace tim::models::onnx {
namespace {

enum class Side { kLeft, kRight };

// Codes less their zero point; one of several elements has one for each row of
// the left matrix or column of the right one.
Result<Value> Centered(Node& node, size_t codes, size_t zero_point, Side side) {
  const Value& x = node.inputs[codes];
  if (x.type != vx::DataType::INT8 && x.type != vx::DataType::UINT8) {
    return Unimplemented("operand ", codes, " is ", Describe(x),
                         ", int8 and uint8 are taken");
  }
  if (!node.Has(zero_point)) return x;
  Value zero = node.inputs[zero_point];
  if (zero.rank() == 1 && zero.dims[0] != 1 && side == Side::kLeft) {
    TIM_ASSIGN_OR_RETURN(zero, node.builder->Reshape(zero, {zero.dims[0], 1}));
  }
  TIM_ASSIGN_OR_RETURN(const Dims dims, BroadcastDims(x.dims, zero.dims));
  if (zero.ElementCount() != 1 && dims != x.dims) {
    return InvalidArgument("operand ", zero_point, " is ",
                           Describe(node.inputs[zero_point]), " for ",
                           Describe(x));
  }
  if (zero.rank() > x.rank()) {
    TIM_ASSIGN_OR_RETURN(zero, node.builder->Reshape(zero, {}));
  }
  return node.builder->Add<vx::ops::Sub>(
      {x, zero}, Wanted::Of(vx::DataType::INT16, x.dims));
}

}  // namespace

Result<Value> IntegerProduct(Node& node, size_t a, size_t b, size_t zero_a,
                             size_t zero_b) {
  TIM_ASSIGN_OR_RETURN(const Value left,
                       Centered(node, a, zero_a, Side::kLeft));
  TIM_ASSIGN_OR_RETURN(const Value right,
                       Centered(node, b, zero_b, Side::kRight));
  return Multiplied(node.builder, left, right, {},
                    Wanted::Of(vx::DataType::INT32));
}

}  // namespace tim::models::onnx
