// Operators and their results, as the public header has them.
#include "tim/values/node.h"

#include <utility>

#include "base/guarded.h"
#include "compiler/candidates.h"
#include "ir/evaluate.h"
#include "values/access.h"
#include "values/estimates.h"
#include "values/failure.h"
#include "values/forward.h"
#include "values/node_state.h"
#include "values/token_state.h"

namespace tim::values {

using internal::Access;

bool Outputs::ok() const { return state_ != nullptr && state_->status.ok(); }

std::string Outputs::error() const {
  return state_ == nullptr ? "no outputs" : state_->status.message();
}

size_t Outputs::size() const { return ok() ? state_->values.size() : 0; }

Value Outputs::operator[](size_t index) const {
  if (!ok()) return internal::FailedValue(InvalidArgument(error()));
  if (index < size()) return state_->values[index];
  return internal::FailedValue(
      InvalidArgument("there is no output ", index, " of ", size()));
}

Token Outputs::signal() const {
  return state_ != nullptr ? state_->signal : Token();
}

Outputs::operator Value() const {
  if (!ok() || size() == 1) return (*this)[0];
  return internal::FailedValue(InvalidArgument(
      "an operator with ", size(), " outputs is no value; index them"));
}

Node::Node(const std::string& op, Attributes attributes)
    : state_(internal::MakeNode(op, attributes)) {
  if (!state_->status.ok()) internal::Fail(state_->status);
}

bool Node::ok() const { return state_->status.ok(); }
std::string Node::error() const { return state_->status.message(); }
std::string Node::op() const { return state_->op; }

Outputs Node::Forward(const std::vector<Value>& inputs,
                      const std::vector<Token>& after) const {
  try {
    return internal::Forward(state_, inputs, after);
  } catch (...) {
    return internal::FailedOutputs(StatusOfException());
  }
}

Outputs Call(const std::string& op, const std::vector<Value>& inputs,
             Attributes attributes) {
  return Node(op, std::move(attributes)).Forward(inputs);
}

namespace internal {
namespace {

template <typename T>
T ValueOr(Result<T> result, T otherwise) {
  if (result.ok()) return *std::move(result);
  Fail(result.status());
  return otherwise;
}

Result<std::vector<Plain>> EvalNow(const NodeState& node,
                                   const std::vector<Plain>& inputs) {
  TIM_RETURN_IF_ERROR(node.status);
  std::vector<runtime::NodeOperand> operands;
  std::vector<ir::ConstTensor> tensors;
  for (const Plain& input : inputs) {
    runtime::NodeOperand& operand = operands.emplace_back();
    operand.present = static_cast<bool>(input);
    if (!operand.present) continue;
    TIM_ASSIGN_OR_RETURN(const TensorSpec spec, ToTensorSpec(input.spec));
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, BytesOf(spec.desc));
    if (input.bytes != static_cast<size_t>(bytes)) {
      return InvalidArgument("input ", operands.size() - 1, " has ",
                             input.bytes, " bytes, and its spec ",
                             spec.desc.ToString(), " wants ", bytes);
    }
    operand.desc = spec.desc;
    operand.is_scalar = spec.is_scalar;
    operand.constant = ir::MakeConstant(input.data.get(), input.bytes);
  }
  TIM_ASSIGN_OR_RETURN(const ir::Graph graph, InferredGraphOf(node, operands));
  std::vector<Plain> outputs;
  std::vector<ir::MutableTensor> results;
  for (const ir::ValueId id : graph.outputs()) {
    const ir::Value& value = graph.value(id);
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, BytesOf(value.desc));
    auto memory = std::make_shared<std::vector<std::byte>>(bytes);
    results.push_back({&value.desc, memory->data()});
    outputs.push_back(
        {.spec = ToSpec(value.desc, value.is_scalar),
         .data = std::shared_ptr<const void>(memory, memory->data()),
         .bytes = static_cast<size_t>(bytes)});
  }
  for (const ir::NodeId id : graph.NodeIds()) {
    if (ir::CanEvaluate(graph.node(id))) continue;
    return Unimplemented("operator ", node.op, " has no host reference");
  }
  TIM_RETURN_IF_ERROR(ir::Evaluate(graph, {}, results));
  return outputs;
}

Result<std::vector<Spec>> InferNow(const NodeState& node,
                                   const std::vector<Spec>& inputs) {
  TIM_ASSIGN_OR_RETURN(const auto operands, OperandsOf(node, inputs));
  TIM_ASSIGN_OR_RETURN(const auto outputs, InferOutputs(node, operands));
  std::vector<Spec> specs;
  for (const TensorSpec& output : outputs) {
    specs.push_back(ToSpec(output.desc, output.is_scalar));
  }
  return specs;
}

}  // namespace
}  // namespace internal

std::vector<Plain> Node::Eval(const std::vector<Plain>& inputs) const {
  return internal::ValueOr(
      GuardedCall([&] { return internal::EvalNow(*state_, inputs); }), {});
}

std::vector<Spec> Node::InferOutputs(const std::vector<Spec>& inputs) const {
  return internal::ValueOr(
      GuardedCall([&] { return internal::InferNow(*state_, inputs); }), {});
}

MemoryEstimate Node::EstimateMemory(const std::vector<Spec>& inputs) const {
  return internal::ValueOr(
      GuardedCall([&] { return internal::MemoryOf(*state_, inputs); }),
      {-1, -1, -1, false});
}

ComputeEstimate Node::EstimateCompute(const std::vector<Spec>& inputs) const {
  return internal::ValueOr(
      GuardedCall([&] { return internal::ComputeOf(*state_, inputs); }),
      {-1, -1, -1, false});
}

double Node::PredictMicroseconds(const std::vector<Spec>& inputs,
                                 const Device& device) const {
  return internal::ValueOr(GuardedCall([&] {
                             return internal::PredictNode(
                                 *state_, inputs, Access::StateOf(device));
                           }),
                           -1.0);
}

}  // namespace tim::values
