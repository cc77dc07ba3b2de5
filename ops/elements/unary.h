// Families of unary operators: y[i] = f(x[i]), output shape = input shape.
//
// A family is a table of UnaryOp in ops/<family>/<stem>.cc, whose formulas are
// macros of a header in src/kernels.  From a row come schema, eval and two
// kernels.
#ifndef TIM_OPS_ELEMENTS_UNARY_H_
#define TIM_OPS_ELEMENTS_UNARY_H_

#include <optional>
#include <string>
#include <vector>

#include "ir/kernel_def.h"
#include "ir/op_registry.h"
#include "ir/op_schema.h"
#include "ir/pointwise.h"

namespace tim::ops {

struct UnaryOp {
  const char* name = nullptr;  ///< Of the schema: "LeakyRelu".
  ir::Pointwise pointwise;     ///< Of arity 1, with a macro.
  double flops = 1;            ///< Of one element, roughly.
  std::vector<ir::AttributeSpec> attributes = {};
  int surplus_inputs = 0;  ///< As of ir::OpSchema.
  /// Of the operands' types; null: numbers of any type.
  Status (*check)(const ir::NodeView& view) = nullptr;
};

/// An attribute that is a number, with a default or required.
ir::AttributeSpec FloatAttribute(const char* name,
                                 std::optional<double> value = std::nullopt);

/// Schema and kernels.
void AddUnary(const UnaryOp& op, ir::OpRegistry& registry);

/// float types and integers of any quantization, in any combination.
ir::OpSchema UnarySchema(const UnaryOp& op);

/// The formula on real values (exactly on plain integers): "relu", every type
/// but 8-bit inputs.  `op`: name of a schema with a formula of arity 1.
ir::KernelDef UnaryKernel(const std::string& op);

/// A table of 256 results of eval: "relu_table", for 8-bit inputs.  Works for
/// the schema of any operator of one input whose eval is element by element.
ir::KernelDef UnaryTableKernel(const std::string& op);

}  // namespace tim::ops

#endif  // TIM_OPS_ELEMENTS_UNARY_H_
