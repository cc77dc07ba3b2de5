// Products of 8-bit codes that are exact integers.
#include "models/onnx/ops/codes.h"
#include "models/onnx/ops/compose.h"
#include "models/onnx/ops/products/product.h"

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

}  // namespace tim::models::onnx
