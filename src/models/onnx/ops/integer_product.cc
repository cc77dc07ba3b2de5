// Products of 8-bit codes that are exact integers.
#include "models/onnx/ops/codes.h"
#include "models/onnx/ops/compose.h"
#include "models/onnx/ops/product.h"
#include "tim/vx/ops/elementwise.h"

namespace tim::models::onnx {
namespace {

enum class Side { kLeft, kRight };

// Codes less their zero point; one of several elements has one for each row of
// the left matrix or column of the right one.
Result<Value> Centered(GraphBuilder* builder, const Value& codes,
                       const Value& zero_point, Side side) {
  if (codes.type != vx::DataType::INT8 && codes.type != vx::DataType::UINT8) {
    return Unimplemented("an operand is ", Describe(codes),
                         ", int8 and uint8 are taken");
  }
  TIM_ASSIGN_OR_RETURN(const Value x, Unlabelled(builder, codes));
  if (zero_point.IsAbsent()) return x;
  TIM_ASSIGN_OR_RETURN(Value zero, Unlabelled(builder, zero_point));
  if (zero.ElementCount() == 1) {
    TIM_ASSIGN_OR_RETURN(zero, builder->Reshape(zero, {}));
  } else if (zero.rank() == 1 && side == Side::kLeft) {
    TIM_ASSIGN_OR_RETURN(zero, builder->Reshape(zero, {zero.dims[0], 1}));
  }
  TIM_ASSIGN_OR_RETURN(const Dims dims, BroadcastDims(x.dims, zero.dims));
  if (dims != x.dims) {
    return InvalidArgument("a zero point ", Describe(zero_point), " for ",
                           Describe(x));
  }
  return builder->Add<vx::ops::Sub>({x, zero},
                                    Wanted::Of(vx::DataType::INT16, x.dims));
}

}  // namespace

Result<Value> IntegerProduct(GraphBuilder* builder, const Value& a,
                             const Value& zero_a, const Value& b,
                             const Value& zero_b) {
  TIM_ASSIGN_OR_RETURN(const Value left,
                       Centered(builder, a, zero_a, Side::kLeft));
  TIM_ASSIGN_OR_RETURN(const Value right,
                       Centered(builder, b, zero_b, Side::kRight));
  return Multiplied(builder, left, right, {}, Wanted::Of(vx::DataType::INT32));
}

}  // namespace tim::models::onnx
