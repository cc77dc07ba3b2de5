// Products of matrices: Matmul, and FullyConnected for constant matrices.
#include "models/onnx/ops/products/product.h"

#include <utility>

#include "models/onnx/ops/codes.h"
#include "models/onnx/ops/compose.h"
#include "models/onnx/ops/operands.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/ops/fullyconnected.h"
#include "tim/vx/ops/matmul.h"

namespace tim::models::onnx {
namespace {

// Operands with two axes or more, and what becomes of the result.
struct Matrices {
  Value a;
  Value b;
  int64_t rows = 0;
  int64_t depth = 0;
  int64_t columns = 0;
  Dims batch;
  bool drop_row = false;
  bool drop_column = false;

  Dims ResultDims() const {
    Dims dims = batch;
    if (!drop_row) dims.push_back(rows);
    if (!drop_column) dims.push_back(columns);
    return dims;
  }
};

Dims BatchOf(const Dims& dims) { return {dims.begin(), dims.end() - 2}; }

// Only extents are set where there is no builder.
Result<Matrices> MatricesOf(GraphBuilder* builder, const Value& a,
                            const Value& b, const ProductOf& form) {
  if (a.rank() < 1 || b.rank() < 1) {
    return InvalidArgument("a product of ", Describe(a), " and ", Describe(b));
  }
  if ((a.rank() == 1 && form.transpose_a) ||
      (b.rank() == 1 && form.transpose_b)) {
    return InvalidArgument("a vector cannot be transposed: ", Describe(a),
                           " and ", Describe(b));
  }
  Matrices it;
  it.a = a;
  it.b = b;
  const auto matrix = [&](const Value& vector, Dims dims) -> Result<Value> {
    if (builder != nullptr) return builder->Reshape(vector, dims);
    Value shaped = vector;
    shaped.dims = std::move(dims);
    return shaped;
  };
  if (a.rank() == 1) {
    it.drop_row = true;
    TIM_ASSIGN_OR_RETURN(it.a, matrix(a, {1, a.dims[0]}));
  }
  if (b.rank() == 1) {
    it.drop_column = true;
    TIM_ASSIGN_OR_RETURN(it.b, matrix(b, {b.dims[0], 1}));
  }
  const Dims& left = it.a.dims;
  const Dims& right = it.b.dims;
  it.rows = left[left.size() - (form.transpose_a ? 1 : 2)];
  it.depth = left[left.size() - (form.transpose_a ? 2 : 1)];
  it.columns = right[right.size() - (form.transpose_b ? 2 : 1)];
  if (it.depth != right[right.size() - (form.transpose_b ? 1 : 2)]) {
    return InvalidArgument("the product of ", Describe(a), " and ", Describe(b),
                           ": ", it.depth,
                           " terms on the left, other on the right");
  }
  TIM_ASSIGN_OR_RETURN(it.batch, BroadcastDims(BatchOf(left), BatchOf(right)));
  return it;
}

// a [rows..., depth] times a matrix: all axes before the last are rows.
Result<Value> RowsTimesMatrix(GraphBuilder* builder, const Matrices& it,
                              const ProductOf& form, const Wanted& wanted,
                              const Value& bias) {
  TIM_ASSIGN_OR_RETURN(const int64_t rows,
                       Product(it.a.dims, 0, it.a.dims.size() - 1));
  TIM_ASSIGN_OR_RETURN(const Value a, builder->Reshape(it.a, {rows, it.depth}));
  const Wanted flat =
      Wanted::Of(wanted.type, {rows, it.columns}, wanted.quantization);
  const bool weights =
      it.b.constant != nullptr
          ? IsFloat(it.b.type) || IsQuantized(it.b.quantization)
          : IsDequantizedConstant(*builder, it.b);
  if (!weights && bias.IsAbsent()) {
    return builder->Add<vx::ops::Matmul>({a, it.b}, flat, false,
                                         form.transpose_b);
  }
  Value b = it.b;
  if (!form.transpose_b) {
    TIM_ASSIGN_OR_RETURN(b, builder->Transpose(b, {1, 0}));
  }
  return builder->Add<vx::ops::FullyConnected>({a, b, bias}, flat, uint32_t{0});
}

}  // namespace

Result<Dims> ProductDims(const Value& a, const Value& b,
                         const ProductOf& form) {
  TIM_ASSIGN_OR_RETURN(const Matrices it, MatricesOf(nullptr, a, b, form));
  return it.ResultDims();
}

Result<Value> Multiplied(GraphBuilder* builder, const Value& a, const Value& b,
                         const ProductOf& form, const Wanted& wanted,
                         const Value& bias) {
  TIM_ASSIGN_OR_RETURN(Matrices it, MatricesOf(builder, a, b, form));
  const Dims result = it.ResultDims();
  Value product;
  if (it.b.rank() == 2 && (!form.transpose_a || it.a.rank() == 2)) {
    if (form.transpose_a) {
      TIM_ASSIGN_OR_RETURN(it.a, builder->Transpose(it.a, {1, 0}));
    }
    TIM_ASSIGN_OR_RETURN(product,
                         RowsTimesMatrix(builder, it, form, wanted, bias));
    return builder->Reshape(product, result);
  }
  if (!bias.IsAbsent()) {
    return Unimplemented("a bias beside ", Describe(b),
                         "; beside one matrix it is taken");
  }
  Dims dims = it.batch;
  dims.insert(dims.end(), {it.rows, it.columns});
  TIM_ASSIGN_OR_RETURN(
      product,
      builder->Add<vx::ops::Matmul>(
          {it.a, it.b}, Wanted::Of(wanted.type, dims, wanted.quantization),
          form.transpose_a, form.transpose_b));
  return builder->Reshape(product, result);
}

Result<Gemm> GemmOf(const Node& node) {
  Gemm gemm;
  TIM_ASSIGN_OR_RETURN(gemm.alpha, node.Float("alpha", 1.0f));
  TIM_ASSIGN_OR_RETURN(gemm.beta, node.Float("beta", 1.0f));
  TIM_ASSIGN_OR_RETURN(const int64_t a, node.Int("transA", 0));
  TIM_ASSIGN_OR_RETURN(const int64_t b, node.Int("transB", 0));
  gemm.form = {a != 0, b != 0};
  return gemm;
}

Result<Value> GeneralProduct(GraphBuilder* builder, const Value& a,
                             const Value& b, const Value& c, const Gemm& gemm) {
  if (a.rank() != 2 || b.rank() != 2) {
    return InvalidArgument("operands ", Describe(a), " and ", Describe(b),
                           ", expected two matrices");
  }
  const bool real = IsFloat(a.type);
  if (!real && (gemm.alpha != 1.0f || gemm.beta != 1.0f)) {
    return Unimplemented("attributes 'alpha' or 'beta' other than 1 for ",
                         Describe(a));
  }
  const Wanted wanted = Wanted::Of(a.type);
  TIM_ASSIGN_OR_RETURN(const Dims dims, ProductDims(a, b, gemm.form));
  if (c.IsAbsent() || gemm.beta == 0.0f) {
    TIM_ASSIGN_OR_RETURN(const Value product,
                         Multiplied(builder, a, b, gemm.form, wanted));
    return Scaled(builder, product, gemm.alpha);
  }
  TIM_ASSIGN_OR_RETURN(const Dims sum, BroadcastDims(dims, c.dims));
  if (sum != dims) {
    return InvalidArgument("operand 2 ", Describe(c),
                           " does not broadcast to the product");
  }
  if (real && gemm.alpha == 1.0f && gemm.beta == 1.0f &&
      c.ElementCount() == dims[1] && c.rank() > 0 && c.dims.back() == dims[1]) {
    TIM_ASSIGN_OR_RETURN(const Value bias, builder->Reshape(c, {dims[1]}));
    return Multiplied(builder, a, b, gemm.form, wanted, bias);
  }
  TIM_ASSIGN_OR_RETURN(Value product,
                       Multiplied(builder, a, b, gemm.form, wanted));
  TIM_ASSIGN_OR_RETURN(product, Scaled(builder, product, gemm.alpha));
  TIM_ASSIGN_OR_RETURN(const Value addend, Scaled(builder, c, gemm.beta));
  return builder->Add<vx::ops::Add>({product, addend},
                                    Wanted::Of(a.type, dims));
}

}  // namespace tim::models::onnx
