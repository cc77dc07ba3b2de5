// A HostCall made ready: OpSchema::eval, or a body, with its descriptions in
// place.
#ifndef TIM_DEVICE_HOST_EVAL_STEP_H_
#define TIM_DEVICE_HOST_EVAL_STEP_H_

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "ir/graph.h"
#include "ir/op_registry.h"
#include "ir/op_schema.h"
#include "ir/step.h"

namespace tim::device {

class EvalStep final : public PreparedStep {
 public:
  /// Finds the operator of `call` in `operators`, or takes its body, whose
  /// operators outlive the step as `operators` does, and checks that they take
  /// its operands.
  static Result<std::unique_ptr<EvalStep>> Create(
      const ir::HostCall& call, const ir::OpRegistry& operators);

  /// Operands that are present, inputs before outputs.
  size_t operand_count() const { return operand_count_; }

  /// `operands[i]` is the address of operand i.  One thread at a time.
  Status Run(std::span<std::byte* const> operands);

 private:
  EvalStep(const ir::HostCall& call, ir::Node node);

  const ir::HostCall call_;  // keeps the descriptions and the body
  const ir::Node node_;      // of a call without a body
  std::vector<ir::ConstTensor> inputs_;
  std::vector<ir::MutableTensor> outputs_;
  size_t operand_count_ = 0;
};

}  // namespace tim::device

#endif  // TIM_DEVICE_HOST_EVAL_STEP_H_
