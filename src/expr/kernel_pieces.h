// Words and phrases of generated OpenCL text.
#ifndef TIM_EXPR_KERNEL_PIECES_H_
#define TIM_EXPR_KERNEL_PIECES_H_

#include <string>

#include "expr/affine.h"
#include "expr/evaluate.h"
#include "expr/syntax.h"
#include "ir/data_type.h"

namespace tim::expr {

/// Type of an element in memory; null where kernels do not take it.
const char* StorageOf(ir::DataType type);

/// Type of a value.
const char* TypeText(ValueKind kind);

/// Functions and macros that stand before every kernel.
extern const char kHelpers[];

std::string ScalarText(Scalar value, ValueKind kind);

/// The result of an aggregation of nothing.
std::string IdentityText(Aggregate aggregate, ValueKind kind);

/// "3 * i0 + i1 - 2"
std::string AffineText(const Affine& index);

}  // namespace tim::expr

#endif  // TIM_EXPR_KERNEL_PIECES_H_
