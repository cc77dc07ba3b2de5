// Families of binary operators: y[i] = f(a[i], b[i]) * scale with broadcasting,
// aligned at dimension 0.
//
// A family is a table of BinaryOp in ops/<family>/<stem>.cc, whose formulas are
// macros of a header in src/kernels.  From a row come schema, eval and kernel.
#ifndef TIM_OPS_ELEMENTWISE_BINARY_H_
#define TIM_OPS_ELEMENTWISE_BINARY_H_

#include <vector>

#include "ir/kernel_def.h"
#include "ir/op_registry.h"
#include "ir/op_schema.h"
#include "ir/pointwise.h"
#include "ops/doubts/codes.h"
#include "ops/elements/channel_affine.h"

namespace tim::ops {

/// The float attribute by which results are multiplied, 1 where there is none.
inline constexpr char kBinaryScale[] = "scale";

struct BinaryOperands {
  const ir::AttributeMap& attributes;
  const ir::TensorDesc& a;
  const ir::TensorDesc& b;
};

struct BinaryOp {
  const char* name = nullptr;    ///< Of the schema: "Add".
  ir::Pointwise pointwise = {};  ///< Of arity 2, with all formulas.
  double flops = 1;              ///< Of one element, roughly.
  std::vector<ir::AttributeSpec> attributes = {};
  /// What it is where one operand is constant; null: not affine.
  AffineOf affine_of = nullptr;
  /// Of the operands' types; null: numbers of any type.
  Status (*check)(const ir::NodeView& view) = nullptr;
  /// OpSchema::doubts; null: of truth values.
  Doubts (*doubts)(const ir::NodeView& view) = AllCodes;
  /// Of the output where it is not declared; unknown: as input 0.
  ir::DataType result_type = ir::DataType::kUnknown;
  /// f(k * a, k * b) = k^degree * f(a, b) for k > 0: of operands with the same
  /// scale the codes without zero points are taken, so that what is a multiple
  /// is one in float32, too.  Negative: it is no such function.
  int degree = -1;
  /// Where attributes or types of operands decide on the formula, which no
  /// other operator then fuses; null: `pointwise`.
  ir::Pointwise (*formula)(const BinaryOperands& operands) = nullptr;
  /// The shape that input 1 is taken to have; null: its own.
  ir::Shape (*second_shape)(const ir::AttributeMap& attributes,
                            const ir::Shape& a, const ir::Shape& b) = nullptr;
  /// Null: all axes are alike.
  ir::PermuteRule permute_rule = nullptr;
};

/// What eval and kernel compute: formula(a, b) * scale.
struct BinaryProblem {
  ir::Pointwise formula;
  ir::TensorDesc a;  ///< Input 0, perhaps with another scale.
  ir::TensorDesc b;
  ir::Shape b_shape;  ///< Of input 1.
  float scale = 1;
  bool exact = false;  ///< Integers, by the formula on integers.
};
BinaryProblem ProblemOf(const BinaryOp& op, const BinaryOperands& operands,
                        const ir::TensorDesc& y);

/// Both inputs and the output are numbers.
Status CheckNumbers(const ir::NodeView& view);

/// Schema and kernel.
void AddBinary(const BinaryOp& op, ir::OpRegistry& registry);

ir::OpSchema BinarySchema(const BinaryOp& op);

/// "add", every type of kernels/elements.clh, also with an operator of one
/// input fused (ops/launch/activation.h).
ir::KernelDef BinaryKernel(const BinaryOp& op);

}  // namespace tim::ops

#endif  // TIM_OPS_ELEMENTWISE_BINARY_H_
