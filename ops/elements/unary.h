// Families of unary operators: y[i] = f(x[i]), output shape = input shape.
//
// A family is a table of UnaryOp in ops/<family>.cc and a file ops/<family>.cl
// that defines their formulas and includes ops/elements/unary.clh.  From these
// come schema, eval and two kernels per operator.
#ifndef TIM_OPS_ELEMENTS_UNARY_H_
#define TIM_OPS_ELEMENTS_UNARY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ir/kernel_def.h"
#include "ir/op_schema.h"

namespace tim::ops {

/// The first two float attributes of an operator, in order.
struct UnaryParameters {
  float a = 0;
  float b = 0;
};

struct UnaryOp {
  const char* name = nullptr;      ///< Of the schema: "LeakyRelu".
  const char* function = nullptr;  ///< Macro in the .cl: "LEAKY_RELU".
  double flops = 1;                ///< Of one element, roughly.
  float (*real)(float x, UnaryParameters parameters) = nullptr;
  /// Exact formula on integers without quantization; null: through `real`.
  int64_t (*integer)(int64_t x) = nullptr;
  std::vector<ir::AttributeSpec> attributes = {};
};

/// float types and integers of any quantization, in any combination.
ir::OpSchema UnarySchema(const UnaryOp& op);

/// The formula on real values (exactly on plain integers): "relu", every type
/// but 8-bit inputs.  `source`: the family's .cl.
ir::KernelDef UnaryKernel(const UnaryOp& op, const std::string& source);

/// A table of 256 results of eval: "relu_table", for 8-bit inputs.  Works for
/// the schema of any operator of one input whose eval is element by element.
ir::KernelDef UnaryTableKernel(const std::string& op);

}  // namespace tim::ops

#endif  // TIM_OPS_ELEMENTS_UNARY_H_
