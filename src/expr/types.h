// Kinds of values and types of tensors.
#ifndef TIM_EXPR_TYPES_H_
#define TIM_EXPR_TYPES_H_

#include <span>
#include <vector>

#include "base/status.h"
#include "expr/program.h"
#include "ir/data_type.h"

namespace tim::expr {

ValueKind KindOf(ir::DataType type);
/// The type of an intermediate tensor.
ir::DataType TypeOf(ValueKind kind);

struct Types {
  std::vector<ir::DataType> tensors;
  /// By statement and node; of nodes that have a value.
  std::vector<std::vector<ValueKind>> nodes;
};

/// Types of everything for inputs of these types, which CheckInputTypes()
/// takes.  kInvalidArgument as TextError() writes it.
Result<Types> TypesOf(const Program& program,
                      std::span<const ir::DataType> inputs);

/// Whether the parameters allow them: the message names the parameter.
Status CheckInputTypes(const Program& program,
                       std::span<const ir::DataType> inputs);

/// Values fit for all kinds of inputs that the parameters allow.
Status CheckAllKinds(const Program& program);

}  // namespace tim::expr

#endif  // TIM_EXPR_TYPES_H_
