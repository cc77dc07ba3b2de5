#include "tim/vx/operation.h"

#include <stdexcept>

#include "base/guarded.h"
#include "vx/core/failure.h"
#include "vx/operation/composition.h"
#include "vx/operation/op_impl.h"
#include "vx/tensor/tensor_impl.h"

namespace tim::vx {
namespace {

void CheckIndex(const OpImpl& operation, const char* what, uint32_t index,
                size_t count) {
  if (index < count) return;
  throw std::out_of_range(StrCat(what, "Spec(", index, ") of ",
                                 operation.InstanceName(), ", which has ",
                                 count));
}

// Ok, or why `tensor` cannot be bound.
Status CheckBinding(const OpImpl& operation, Tensor* tensor) {
  if (tensor == nullptr) {
    return InvalidArgument(
        "the tensor is null; an absent optional operand is "
        "Graph::CreateTensorPlaceHolder()");
  }
  if (tensor->IsPlaceHolder()) return OkStatus();
  const auto* made = dynamic_cast<TensorImpl*>(tensor);
  if (made == nullptr ||
      (operation.core != nullptr && made->core() != operation.core.get())) {
    return InvalidArgument("the tensor belongs to another graph");
  }
  return OkStatus();
}

}  // namespace

Operation::Operation() : impl_(std::make_unique<OpImpl>()) {}

Operation::Operation(const Operation& original) : Operation() {
  impl_->name = original.impl_->name;
  impl_->kind = CopyOf(original.impl_->kind);
  impl_->attributes = original.impl_->attributes;
  impl_->graphs = original.impl_->graphs;
}

Operation::~Operation() = default;

Operation& Operation::BindInput(const std::shared_ptr<Tensor>& tensor) {
  const auto index = static_cast<int32_t>(impl_->inputs.size());
  const Status status = GuardedCall([&]() -> Status {
    impl_->inputs.push_back(tensor);
    ++impl_->revision;
    TIM_RETURN_IF_ERROR(CheckBinding(*impl_, tensor.get()));
    if (impl_->core != nullptr && impl_->core->graph != nullptr) {
      impl_->core->graph->UpdateTensorConsumersMap(tensor, this);
    }
    return CallUser([&] { OnBindInputPostProc(tensor, index); });
  });
  if (!status.ok()) impl_->Refuse(status.WithContext(StrCat("input ", index)));
  WireIfComplete(*impl_);
  return *this;
}

Operation& Operation::BindOutput(const std::shared_ptr<Tensor>& tensor) {
  const size_t index = impl_->outputs.size();
  const Status status = GuardedCall([&]() -> Status {
    impl_->outputs.push_back(tensor);
    ++impl_->revision;
    TIM_RETURN_IF_ERROR(CheckBinding(*impl_, tensor.get()));
    if (impl_->core != nullptr && impl_->core->graph != nullptr) {
      impl_->core->graph->UpdateTensorProducerMap(tensor, this);
    }
    return OkStatus();
  });
  if (!status.ok()) impl_->Refuse(status.WithContext(StrCat("output ", index)));
  WireIfComplete(*impl_);
  return *this;
}

Operation& Operation::BindInputs(
    const std::vector<std::shared_ptr<Tensor>>& tensors) {
  for (const auto& tensor : tensors) BindInput(tensor);
  return *this;
}

Operation& Operation::BindOutputs(
    const std::vector<std::shared_ptr<Tensor>>& tensors) {
  for (const auto& tensor : tensors) BindOutput(tensor);
  return *this;
}

Operation& Operation::SetRoundingPolicy(OverflowPolicy overflow_policy,
                                        RoundingPolicy rounding_policy,
                                        RoundType down_scale_size_rounding,
                                        uint32_t accumulator_bits) {
  ir::AttributeMap& attributes = impl_->attributes;
  attributes.Set(ir::kOverflowPolicy, static_cast<int64_t>(overflow_policy));
  attributes.Set(ir::kRoundingPolicy, static_cast<int64_t>(rounding_policy));
  attributes.Set(ir::kRoundType,
                 static_cast<int64_t>(down_scale_size_rounding));
  attributes.Set(ir::kAccumulatorBits, int64_t{accumulator_bits});
  ++impl_->revision;
  return *this;
}

std::unique_ptr<OpImpl>& Operation::impl() { return impl_; }
const std::unique_ptr<OpImpl>& Operation::impl() const { return impl_; }
const uint32_t& Operation::uid() const { return impl_->uid; }

uint32_t Operation::InputCount() const {
  return static_cast<uint32_t>(impl_->inputs.size());
}
uint32_t Operation::OutputCount() const {
  return static_cast<uint32_t>(impl_->outputs.size());
}

TensorSpec Operation::InputSpec(uint32_t index) const {
  if (const OperandSpecs* specs = impl_->specs; specs != nullptr) {
    CheckIndex(*impl_, "Input", index, specs->inputs.size());
    return specs->inputs[index];
  }
  CheckIndex(*impl_, "Input", index, impl_->inputs.size());
  return DeclaredSpec(impl_->inputs[index]);
}

TensorSpec Operation::OutputSpec(uint32_t index) const {
  CheckIndex(*impl_, "Output", index, impl_->outputs.size());
  if (impl_->specs != nullptr) return impl_->specs->outputs[index];
  return DeclaredSpec(impl_->outputs[index]);
}

const char* Operation::Name() const { return impl_->name.c_str(); }

Operation& Operation::SetInstanceName(const std::string& name) {
  impl_->given_name = name;
  return *this;
}

const std::string& Operation::InstanceName() const { return impl_->given_name; }

bool Operation::IsAllInputsConst() const {
  for (const auto& tensor : impl_->inputs) {
    if (tensor == nullptr || !tensor->IsConstTensor()) return false;
  }
  return !impl_->inputs.empty();
}

const std::vector<std::shared_ptr<Tensor>> Operation::ConstantInputsTensor()
    const {
  if (!IsAllInputsConst()) return {};
  return impl_->inputs;
}

void Operation::OnBindInputPostProc(const std::shared_ptr<Tensor>&, int32_t) {}

}  // namespace tim::vx
