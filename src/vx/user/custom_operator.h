// A custom operation during one Compile(): a schema and a kernel of its own.
#ifndef TIM_VX_USER_CUSTOM_OPERATOR_H_
#define TIM_VX_USER_CUSTOM_OPERATOR_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/kernel_def.h"
#include "ir/op_registry.h"
#include "ir/step.h"
#include "ir/user_operator.h"
#include "tim/vx/ops/custom_base.h"
#include "vx/operation/custom_means.h"
#include "vx/operation/op_impl.h"
#include "vx/operation/operand_specs.h"

namespace tim::vx {

/// Every input is bound, but perhaps optional ones at the end.
bool HasAllInputs(const ops::CustomOpBase& operation);

/// The outputs that are VARIABLE: a kernel may write a part of them, and the
/// rest keeps its value.  None where operands are missing.
std::vector<int> KeptOutputs(const ops::CustomOpBase& operation);

/// What the user's functions answered is kept; each is called once, on the
/// thread that compiles.  `operation` must live as long as what is compiled:
/// host steps call its HostEval().
///
/// Behind the operation's own inputs the node has one per KeptOutputs(): the
/// value before the run, which a step copies into the output for the kernel.
/// Where the two share their memory there is no step.
class CustomOperator {
 public:
  /// \param name of the instance, "user.HSwish#3": unique in its graph.
  CustomOperator(ops::CustomOpBase& operation, std::string name)
      : operation_(operation),
        means_(std::get<CustomMeans>(operation.impl()->kind)),
        name_(std::move(name)),
        input_count_(operation.input_num_),
        kept_(KeptOutputs(operation)) {}

  /// Adds schema and kernel, which share `self`, and returns the schema.
  static const ir::OpSchema* Register(
      const std::shared_ptr<CustomOperator>& self, ir::OpRegistry* registry);

  const std::string& name() const { return name_; }

  /// SetupParams(), then SetupEnqueue().  `edition` as in ir::UserLaunch.
  Status SetUpParameters(uint64_t edition);
  Status SetUpLaunch();

 private:
  /// A function of the user's, which sees specs_.
  Status CallHook(Hook hook, const std::function<void()>& call);
  Status InferTypes(ir::InferContext& context);
  Status InferShapes(ir::InferContext& context);
  Status CheckOutputShapes(size_t count) const;
  Status CheckSizes(const CustomKernel& kernel) const;
  Status Evaluate(const ir::EvalContext& context);
  Result<ir::PermutedNode> Permute(const ir::NodeView& view, int operand,
                                   std::span<const int> perm) const;
  Status KeepOutputs(const ir::KernelNode& node, ir::UserSteps* lowered) const;
  /// Of a kernel that is the first or the last to have the tensor; an operand
  /// that is there is still to be numbered.
  ir::UserTensorArg TensorArgument(const ir::KernelNode& node,
                                   const ops::KernelArg& arg, bool first,
                                   bool last) const;
  ir::LoweredStep LowerKernel(const ir::KernelNode& node, int part) const;
  Result<ir::UserSteps> Lower(const ir::KernelNode& node) const;

  ops::CustomOpBase& operation_;
  CustomMeans& means_;
  const std::string name_;
  const size_t input_count_;
  const std::vector<int> kept_;
  OperandSpecs specs_;
  ir::UserLaunch launch_;              ///< What all kernels have in common.
  std::vector<CustomKernel> kernels_;  ///< With all their arguments.
  std::vector<ir::UserScalarArg> scalars_;
  std::vector<bool> zeroed_;  ///< By output; may be shorter.
};

/// All SetupParams(), then all SetupEnqueue().
Status SetUp(const std::vector<std::shared_ptr<CustomOperator>>& operators);

}  // namespace tim::vx

#endif  // TIM_VX_USER_CUSTOM_OPERATOR_H_
