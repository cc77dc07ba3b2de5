// Computes a program as its definition says: the reference of all kernels.
#ifndef TIM_EXPR_EVALUATE_H_
#define TIM_EXPR_EVALUATE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "expr/binding.h"
#include "ir/op_schema.h"

namespace tim::expr {

/// A float, an integer, or a boolean as 0 or 1.
union Scalar {
  float real;
  int64_t integer;
};

/// Value that is known of a node without index variables and elements: a
/// number, a dimension, an attribute.
Result<Scalar> ConstantOf(const Binding& binding, const Expr& node,
                          ValueKind kind);

/// Operands are dense and have the types and extents of the binding.
Status Evaluate(const Binding& binding, std::span<const ir::ConstTensor> inputs,
                std::span<const ir::MutableTensor> outputs);

}  // namespace tim::expr

#endif  // TIM_EXPR_EVALUATE_H_
