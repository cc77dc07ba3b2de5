// Families of binary operators: y[i] = f(a[i], b[i]) * scale with broadcasting,
// aligned at dimension 0.
//
// A family is a table of BinaryOp in ops/<family>.cc; the formulas are in
// ops/elementwise/elementwise.cl.  From these come schema, eval and kernel.
#ifndef TIM_OPS_ELEMENTWISE_BINARY_H_
#define TIM_OPS_ELEMENTWISE_BINARY_H_

#include <cstdint>
#include <vector>

#include "ir/kernel_def.h"
#include "ir/op_schema.h"

namespace tim::ops {

/// The float attribute by which results are multiplied, 1 where there is none.
inline constexpr char kBinaryScale[] = "scale";

struct BinaryOp {
  const char* name = nullptr;      ///< Of the schema: "Add".
  const char* function = nullptr;  ///< Macro in elementwise.cl: "ADD".
  double flops = 1;                ///< Of one element, roughly.
  float (*real)(float a, float b) = nullptr;
  /// On plain integers; beyond 64 bits it wraps or saturates.
  int64_t (*integer)(int64_t a, int64_t b, bool wrap) = nullptr;
  std::vector<ir::AttributeSpec> attributes = {};
};

/// float types and integers of any quantization, in any combination.
ir::OpSchema BinarySchema(const BinaryOp& op);

/// Also with Relu or Relu6 fused: "add", every type of kernels/elements.clh.
ir::KernelDef BinaryKernel(const BinaryOp& op);

}  // namespace tim::ops

#endif  // TIM_OPS_ELEMENTWISE_BINARY_H_
