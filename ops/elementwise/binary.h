// Families of binary operators: y[i] = f(a[i], b[i]) * scale with broadcasting,
// aligned at dimension 0.
//
// A family is a table of BinaryOp in ops/<family>/<stem>.cc, whose formulas are
// macros of a header in src/kernels.  From a row come schema, eval and kernel.
#ifndef TIM_OPS_ELEMENTWISE_BINARY_H_
#define TIM_OPS_ELEMENTWISE_BINARY_H_

#include <string>
#include <vector>

#include "ir/kernel_def.h"
#include "ir/op_registry.h"
#include "ir/op_schema.h"
#include "ir/pointwise.h"
#include "ops/elements/channel_affine.h"

namespace tim::ops {

/// The float attribute by which results are multiplied, 1 where there is none.
inline constexpr char kBinaryScale[] = "scale";

struct BinaryOp {
  const char* name = nullptr;  ///< Of the schema: "Add".
  ir::Pointwise pointwise;     ///< Of arity 2, with all formulas.
  double flops = 1;            ///< Of one element, roughly.
  std::vector<ir::AttributeSpec> attributes = {};
  /// What it is where one operand is constant; null: not affine.
  AffineOf affine_of = nullptr;
};

/// Schema and kernel.
void AddBinary(const BinaryOp& op, ir::OpRegistry& registry);

/// float types and integers of any quantization, in any combination.
ir::OpSchema BinarySchema(const BinaryOp& op);

/// "add", every type of kernels/elements.clh, also with an operator of one
/// input fused (ops/launch/activation.h).  `op`: name of a schema with a
/// formula of arity 2.
ir::KernelDef BinaryKernel(const std::string& op);

}  // namespace tim::ops

#endif  // TIM_OPS_ELEMENTWISE_BINARY_H_
