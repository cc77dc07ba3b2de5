// A user's operator as the compiler sees it: one schema and one OpenCL kernel,
// whether its class is alive or a file tells what it was.
#ifndef TIM_IR_USER_OPERATOR_H_
#define TIM_IR_USER_OPERATOR_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/constant.h"
#include "ir/kernel_def.h"
#include "ir/op_registry.h"
#include "ir/op_schema.h"

namespace tim::ir {

/// What runs it, for devices of any size.
struct UserSteps {
  std::vector<LoweredStep> steps;  ///< Users' launches, and copies.
  std::vector<ScratchSpec> scratch;
  /// Tables by LoweredOperand::kPacked; equal ones are one constant.
  std::vector<std::shared_ptr<const ConstantData>> tables;
  std::vector<InPlacePair> in_place;
};

/// What only the source of the operator knows; the functions as OpSchema and
/// KernelDef have them.
struct UserOperatorFacts {
  std::string name;  ///< "HSwish#3": unique in the domain "user".
  Arity inputs;
  Arity outputs;
  std::vector<AttributeSpec> attributes;
  std::function<Status(InferContext&)> infer_shapes;
  std::function<Status(const EvalContext&)> eval = nullptr;
  PermuteRule permute_rule = nullptr;
  std::function<Result<UserSteps>(const KernelNode&)> steps;
};

/// Adds schema and kernel to `registry`, and returns the schema.  Lowering
/// fails where the device cannot allocate a scratch tensor or a table.
const OpSchema* AddUserOperator(UserOperatorFacts facts, OpRegistry* registry);

}  // namespace tim::ir

#endif  // TIM_IR_USER_OPERATOR_H_
