// Host calls made ready.
#include "device/host/eval_step.h"

#include <utility>

#include "ir/evaluate.h"
#include "ir/verify/host_node.h"

namespace tim::device {
namespace {

// A call with a body has no node.
Result<ir::Node> NodeOf(const ir::HostCall& call,
                        const ir::OpRegistry& operators) {
  if (call.body == nullptr) return ir::MakeHostNode(call, operators);
  TIM_RETURN_IF_ERROR(ir::CheckHostBody(call));
  return ir::Node();
}

}  // namespace

Result<std::unique_ptr<EvalStep>> EvalStep::Create(
    const ir::HostCall& call, const ir::OpRegistry& operators) {
  auto node = NodeOf(call, operators);
  if (!node.ok()) return node.status().WithContext(call.name);
  return std::unique_ptr<EvalStep>(new EvalStep(call, *std::move(node)));
}

EvalStep::EvalStep(const ir::HostCall& call, ir::Node node)
    : call_(call), node_(std::move(node)) {
  for (const auto& input : call_.inputs) {
    inputs_.push_back({input ? &input->desc : nullptr, nullptr});
    if (input) ++operand_count_;
  }
  for (const auto& output : call_.outputs) {
    outputs_.push_back({output ? &output->desc : nullptr, nullptr});
    if (output) ++operand_count_;
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
  const Status status = call_.body != nullptr
                            ? ir::Evaluate(*call_.body, inputs_, outputs_)
                            : ir::Evaluate(node_, inputs_, outputs_);
  return status.WithContext(call_.name);
}

}  // namespace tim::device
