// Operators that a text describes, with their products done by the library's.
#ifndef TIM_EXPR_DECOMPOSE_H_
#define TIM_EXPR_DECOMPOSE_H_

#include <memory>

#include "expr/operator.h"
#include "expr/program.h"
#include "ir/op_registry.h"

namespace tim::expr {

/// Adds the operator of a text: SchemaOf() and KernelOf().  Where statements
/// may be matrix products or convolutions it is a composite of tim.Matmul,
/// tim.Conv2d and, for the rest, operators "<name>#0" and so on that are added,
/// too.  Its name has no '#'.
void AddOperator(const OperatorName& name,
                 const std::shared_ptr<const Program>& program,
                 ir::OpRegistry* registry);

}  // namespace tim::expr

#endif  // TIM_EXPR_DECOMPOSE_H_
