#include "device/host/eval_step.h"

#include "ir/evaluate.h"

namespace tim::device {

Result<std::unique_ptr<EvalStep>> EvalStep::Create(const ir::HostCall& call) {
  if (call.node == nullptr) return TIM_INTERNAL("a host call without a node");
  const ir::Node& node = *call.node;
  if (node.composite == nullptr &&
      (node.schema == nullptr || !node.schema->eval)) {
    return Unimplemented("'", node.name, "' has no host reference");
  }
  return std::unique_ptr<EvalStep>(new EvalStep(call));
}

EvalStep::EvalStep(const ir::HostCall& call) : call_(call) {
  for (const auto& desc : call_.inputs) {
    inputs_.push_back({desc.get(), nullptr});
    if (desc != nullptr) ++operand_count_;
  }
  for (const auto& desc : call_.outputs) {
    outputs_.push_back({desc.get(), nullptr});
    if (desc != nullptr) ++operand_count_;
  }
}

Status EvalStep::Run(std::span<std::byte* const> operands) {
  TIM_DCHECK(operands.size() == operand_count_);
  size_t next = 0;
  for (ir::ConstTensor& input : inputs_) {
    if (input.desc != nullptr) input.data = operands[next++];
  }
  for (ir::MutableTensor& output : outputs_) {
    if (output.desc != nullptr) output.data = operands[next++];
  }
  return ir::Evaluate(*call_.node, inputs_, outputs_)
      .WithContext(call_.node->name);
}

}  // namespace tim::device
