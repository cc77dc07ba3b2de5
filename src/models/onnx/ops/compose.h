// Short forms of operations that nodes are composed of.
#ifndef TIM_MODELS_ONNX_OPS_COMPOSE_H_
#define TIM_MODELS_ONNX_OPS_COMPOSE_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/status.h"
#include "models/build/graph_builder.h"
#include "models/build/value.h"

namespace tim::models::onnx {

/// Op(args...) of one operand; the result has its type, extents and no
/// quantization.
template <typename Op, typename... Args>
Result<Value> Unary(GraphBuilder* builder, const Value& x,
                    const Args&... args) {
  return builder->Add<Op>({x}, Wanted::Of(x.type, x.dims), args...);
}

/// Op(args...) of two operands that broadcast; the result is of `type`.
template <typename Op, typename... Args>
Result<Value> Binary(GraphBuilder* builder, vx::DataType type, const Value& a,
                     const Value& b, const Args&... args) {
  TIM_ASSIGN_OR_RETURN(Dims dims, BroadcastDims(a.dims, b.dims));
  return builder->Add<Op>({a, b}, Wanted::Of(type, std::move(dims)), args...);
}

/// A FLOAT32 constant of no axes.
Value ScalarOf(const GraphBuilder& builder, float value);
/// `count` elements of `value` in one axis; refused above 2^26.
Result<Value> FilledVector(const GraphBuilder& builder, float value,
                           int64_t count);

/// 0, 1, ... as INT32 in one axis; refused above 2^26.
Result<Value> CountingVector(const GraphBuilder& builder, int64_t count);

/// a * x + b; no operation for 1 * x + 0.
Result<Value> Scaled(GraphBuilder* builder, const Value& x, float a,
                     float b = 0.0f);
/// `fill` before and after, in the model's order; type and quantization stay.
Result<Value> Padded(GraphBuilder* builder, const Value& x, const Dims& before,
                     const Dims& after, float fill);
/// The elements from `starts` on, `extents` of them, `steps` apart (empty: 1).
Result<Value> Sliced(GraphBuilder* builder, const Value& x, const Dims& starts,
                     const Dims& extents, const Dims& steps = {});

/// Quantization is one that gives codes a meaning.
inline bool IsQuantized(const vx::Quantization& quantization) {
  return quantization.Type() != vx::QuantType::NONE;
}
/// The product of dims[begin, end); fails above 2^31 - 1.
Result<int64_t> Product(const Dims& dims, size_t begin, size_t end);

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_OPS_COMPOSE_H_
