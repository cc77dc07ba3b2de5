// Operators that a text describes, as the compiler sees them.
#ifndef TIM_EXPR_OPERATOR_H_
#define TIM_EXPR_OPERATOR_H_

#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "expr/binding.h"
#include "expr/program.h"
#include "ir/kernel_def.h"
#include "ir/op_registry.h"
#include "ir/op_schema.h"

namespace tim::expr {

struct OperatorName {
  std::string domain;
  std::string name;
  int version = 1;
};

/// Schema with shapes, host reference and estimates; operands are the inputs
/// and the results of the text, attributes its own.
ir::OpSchema SchemaOf(const OperatorName& name,
                      std::shared_ptr<const Program> program);

/// The OpenCL kernel of the same operator: a launch for each KernelGroup.
ir::KernelDef KernelOf(const OperatorName& name,
                       std::shared_ptr<const Program> program);

/// Extents of a tensor as a text has them, the other way round than those of
/// the compiler; nothing where the rank is not known.
std::optional<Dims> DimsOf(const ir::Shape& shape);
ir::Shape ShapeOf(const std::optional<Dims>& dims);

}  // namespace tim::expr

#endif  // TIM_EXPR_OPERATOR_H_
