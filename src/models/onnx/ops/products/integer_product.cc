// Products of 8-bit codes: exact integers, and real values of them.
#include <vector>

#include "models/onnx/ops/codes.h"
#include "models/onnx/ops/compose.h"
#include "models/onnx/ops/products/product.h"
#include "tim/vx/ops/elementwise.h"

namespace tim::models::onnx {
namespace {

using vx::DataType;

template <typename T>
std::vector<int32_t> SumsOfColumnsOf(const HostArray& matrix) {
  const auto columns = static_cast<size_t>(matrix.dims[1]);
  std::vector<int32_t> sums(columns, 0);
  const T* codes = static_cast<const T*>(matrix.data.get());
  for (int64_t row = 0; row < matrix.dims[0]; ++row) {
    for (size_t i = 0; i < columns; ++i) sums[i] += *codes++;
  }
  return sums;
}

std::vector<int32_t> SumsOfColumns(const HostArray& matrix) {
  switch (matrix.type) {
    case DataType::INT8:
      return SumsOfColumnsOf<int8_t>(matrix);
    case DataType::UINT8:
      return SumsOfColumnsOf<uint8_t>(matrix);
    default:
      return SumsOfColumnsOf<int16_t>(matrix);
  }
}

// Codes times a constant matrix in pieces of bytes: products of bytes, from
// which the zero point's share, which is a sum for each column, is taken.
Result<Value> BytesTimesConstant(GraphBuilder* builder, const Value& codes,
                                 const Value& zero, const Value& matrix,
                                 const std::vector<Value>& pieces) {
  constexpr DataType kSum = DataType::INT32;
  TIM_ASSIGN_OR_RETURN(const Value plain, Unlabelled(builder, codes));
  TIM_ASSIGN_OR_RETURN(const Value product,
                       SumOverPieces(builder, pieces, [&](const Value& piece) {
                         return Multiplied(builder, plain, piece, {},
                                           Wanted::Of(kSum));
                       }));
  if (zero.IsAbsent()) return product;
  const HostArray& array = *matrix.constant;
  const Value sums = builder->ConstantOf(SumsOfColumns(array), {array.dims[1]});
  TIM_ASSIGN_OR_RETURN(const Value of_zero, Unlabelled(builder, zero));
  TIM_ASSIGN_OR_RETURN(Value factor, builder->Cast(of_zero, kSum));
  if (factor.ElementCount() == 1) {
    TIM_ASSIGN_OR_RETURN(factor, builder->Reshape(factor, {}));
  }
  TIM_ASSIGN_OR_RETURN(const Value share,
                       Binary<vx::ops::Multiply>(builder, kSum, factor, sums));
  TIM_ASSIGN_OR_RETURN(const Value difference,
                       Binary<vx::ops::Sub>(builder, kSum, product, share));
  if (difference.dims == product.dims) return difference;
  return InvalidArgument("a zero point ", Describe(zero), " for ",
                         Describe(codes));
}

// The product of codes less `zero`, which broadcasts to them or is absent, and
// what Centered() made.
Result<Value> CodesTimes(GraphBuilder* builder, const Value& codes,
                         const Value& zero, const Value& matrix) {
  if (matrix.rank() == 2 && IsByte(codes.type) && codes.rank() >= 1) {
    const std::vector<Value> pieces = BytePieces(*builder, matrix);
    if (!pieces.empty()) {
      return BytesTimesConstant(builder, codes, zero, matrix, pieces);
    }
  }
  TIM_ASSIGN_OR_RETURN(const Value left, Centered(builder, codes, zero));
  return Multiplied(builder, left, matrix, {}, Wanted::Of(DataType::INT32));
}

}  // namespace

Result<Value> IntegerProduct(GraphBuilder* builder, const Value& a,
                             const Value& zero_a, const Value& b,
                             const Value& zero_b) {
  Value of_rows = zero_a;
  // One of several elements is one for each row of the left matrix.
  if (!of_rows.IsAbsent() && of_rows.rank() == 1 && of_rows.dims[0] != 1) {
    TIM_ASSIGN_OR_RETURN(of_rows,
                         builder->Reshape(of_rows, {of_rows.dims[0], 1}));
  }
  TIM_ASSIGN_OR_RETURN(const Value right, Centered(builder, b, zero_b));
  return CodesTimes(builder, a, of_rows, right);
}

Result<Value> RealSums(GraphBuilder* builder, const Value& sums,
                       const Value& scale_a, const Value& scale_b,
                       const Value& bias) {
  constexpr DataType kReal = DataType::FLOAT32;
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
  TIM_ASSIGN_OR_RETURN(
      const Value sums,
      CodesTimes(builder, codes.codes, codes.zero_point, matrix.codes));
  return RealSums(builder, sums, codes.scale, matrix.scale, bias);
}

}  // namespace tim::models::onnx
