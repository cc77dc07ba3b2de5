// Products of matrices as operations of the graph.
#ifndef TIM_MODELS_ONNX_OPS_PRODUCTS_PRODUCT_H_
#define TIM_MODELS_ONNX_OPS_PRODUCTS_PRODUCT_H_

#include "models/onnx/node.h"

namespace tim::models::onnx {

struct ProductOf {
  bool transpose_a = false;
  bool transpose_b = false;
};

/// The product of the last two axes, the others broadcast, as numpy's matmul:
/// of rank 1 `a` is a row, `b` a column, whose axis the result has not.  The
/// result is of `wanted.type` and quantization.  A constant matrix `b` of a
/// float type, or a dequantized one, becomes the weights of a FullyConnected,
/// with `bias` [columns] or without.
Result<Value> Multiplied(GraphBuilder* builder, const Value& a, const Value& b,
                         const ProductOf& form, const Wanted& wanted,
                         const Value& bias = {});

/// Fails where the extents do not fit each other.
Result<Dims> ProductDims(const Value& a, const Value& b, const ProductOf& form);

/// alpha * a * b + beta * c, where alpha and beta are 1 or the values are of a
/// float type; `c` may be absent.
struct Gemm {
  float alpha = 1.0f;
  float beta = 1.0f;
  ProductOf form;
};
Result<Value> GeneralProduct(GraphBuilder* builder, const Value& a,
                             const Value& b, const Value& c, const Gemm& gemm);
/// The attributes alpha, beta, transA and transB.
Result<Gemm> GemmOf(const Node& node);

/// The exact product of codes less their zero points, INT32; a zero point may
/// be absent.
Result<Value> IntegerProduct(GraphBuilder* builder, const Value& a,
                             const Value& zero_a, const Value& b,
                             const Value& zero_b);

/// sums * scale_a * scale_b + bias, float32, of scales of all or of each
/// column; the bias may be absent.
Result<Value> RealSums(GraphBuilder* builder, const Value& sums,
                       const Value& scale_a, const Value& scale_b,
                       const Value& bias);

/// 8-bit codes [depth, columns] less their zero points, as Centered() makes
/// them, and their scale, of all or of each column.
struct CodedMatrix {
  Value codes;
  Value scale;
};
/// The product of `a`, quantized as DynamicQuantizeLinear does, and `matrix`,
/// plus `bias`, which may be absent.
Result<Value> DynamicProduct(GraphBuilder* builder, const Value& a,
                             const CodedMatrix& matrix, const Value& bias);

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_OPS_PRODUCTS_PRODUCT_H_
