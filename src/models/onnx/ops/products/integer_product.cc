// Products of 8-bit codes: exact integers, and real values of them.
#include "models/onnx/ops/codes.h"
#include "models/onnx/ops/compose.h"
#include "models/onnx/ops/products/product.h"
#include "tim/vx/ops/elementwise.h"

namespace tim::models::onnx {

Result<Value> IntegerProduct(GraphBuilder* builder, const Value& a,
                             const Value& zero_a, const Value& b,
                             const Value& zero_b) {
  Value of_rows = zero_a;
  // One of several elements is one for each row of the left matrix.
  if (!of_rows.IsAbsent() && of_rows.rank() == 1 && of_rows.dims[0] != 1) {
    TIM_ASSIGN_OR_RETURN(of_rows,
                         builder->Reshape(of_rows, {of_rows.dims[0], 1}));
  }
  TIM_ASSIGN_OR_RETURN(const Value left, Centered(builder, a, of_rows));
  TIM_ASSIGN_OR_RETURN(const Value right, Centered(builder, b, zero_b));
  return Multiplied(builder, left, right, {}, Wanted::Of(vx::DataType::INT32));
}

Result<Value> RealSums(GraphBuilder* builder, const Value& sums,
                       const Value& scale_a, const Value& scale_b,
                       const Value& bias) {
  constexpr vx::DataType kReal = vx::DataType::FLOAT32;
  TIM_ASSIGN_OR_RETURN(
      const Value scale,
      Binary<vx::ops::Multiply>(builder, kReal, scale_a, scale_b));
  TIM_ASSIGN_OR_RETURN(const Value real,
                       Binary<vx::ops::Multiply>(builder, kReal, sums, scale));
  if (real.dims != sums.dims) {
    return InvalidArgument("scales ", Describe(scale), " for ", Describe(sums));
  }
  if (bias.IsAbsent()) return real;
  return Binary<vx::ops::Add>(builder, kReal, real, bias);
}

Result<Value> DynamicProduct(GraphBuilder* builder, const Value& a,
                             const CodedMatrix& matrix, const Value& bias) {
  TIM_ASSIGN_OR_RETURN(const DynamicCodes codes, QuantizedByRange(builder, a));
  TIM_ASSIGN_OR_RETURN(const Value left,
                       Centered(builder, codes.codes, codes.zero_point));
  TIM_ASSIGN_OR_RETURN(const Value sums,
                       Multiplied(builder, left, matrix.codes, {},
                                  Wanted::Of(vx::DataType::INT32)));
  return RealSums(builder, sums, codes.scale, matrix.scale, bias);
}

}  // namespace tim::models::onnx
