// Types and shapes of one operation's results, by a graph of it alone.
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "compiler/compiler.h"
#include "tim/vx/infer.h"
#include "tim/vx/operation.h"
#include "vx/core/failure.h"
#include "vx/graph/effective_operations.h"
#include "vx/lowering/lowering.h"
#include "vx/operation/composition.h"
#include "vx/operation/op_impl.h"
#include "vx/tensor/type_convert.h"

namespace tim::vx {
namespace {

// The youngest operations of the graph, down to the one of the number `uid`.
Operations Youngest(const Operations& all, uint32_t uid) {
  auto at = all.rbegin();
  while (at != all.rend() && *at != nullptr && (*at)->impl()->uid >= uid) ++at;
  return Operations(at.base(), all.end());
}

// The operation and, of a composed one, its parts, which are younger than it:
// what is older than it is not looked at.
Result<Operations> WithParts(const std::shared_ptr<Operation>& operation) {
  OpImpl& impl = *operation->impl();
  if (impl.As<Composition>() == nullptr) return Operations{operation};
  TIM_RETURN_IF_ERROR(WireAtLast(impl));
  if (impl.core->graph == nullptr) {
    return FailedPrecondition("the graph is gone, and its parts with it");
  }
  Operations operations = Youngest(impl.core->graph->OpVector(), impl.uid);
  std::sort(operations.begin(), operations.end(),
            [](const auto& a, const auto& b) {
              return a->impl()->uid < b->impl()->uid;
            });
  std::set<uint32_t> inside = {impl.uid};
  std::erase_if(operations, [&](const auto& part) {
    const OpImpl& inner = *part->impl();
    if (part != operation && inside.count(inner.owner) == 0) return true;
    inside.insert(inner.uid);
    return false;
  });
  return operations;
}

// A tensor that the operation reads has what is known of it by now.
Status DeclareInput(const LoweredTensor& input, size_t index,
                    ir::Graph* graph) {
  ir::Value& value = graph->value(input.value);
  TensorImpl& tensor = *input.tensor;
  TIM_ASSIGN_OR_RETURN(const ir::TensorDesc known, ToIr(tensor.GetSpec()));
  if (!known.shape.ranked() || !known.shape.IsStatic() ||
      known.type == ir::DataType::kUnknown) {
    return FailedPrecondition(
        "input ", index, ", tensor ", tensor.Name(), " (", known.ToString(),
        "): its type and shape must be known; InferOutputs() of the operation "
        "that writes it tells them");
  }
  value.desc.type = known.type;
  value.desc.shape = known.shape;
  value.shape_declared = true;
  value.preferred_shape = ir::Shape();
  if (value.role == ir::Role::kTransient) value.role = ir::Role::kInput;
  return OkStatus();
}

Status Infer(const std::shared_ptr<Operation>& operation) {
  OpImpl& impl = *operation->impl();
  if (impl.As<NbgContent>() != nullptr) {
    return Unimplemented(
        "a binary graph has no rule for shapes: it needs its tensors declared "
        "as the file has them");
  }
  TIM_ASSIGN_OR_RETURN(const Operations operations, WithParts(operation));
  TIM_ASSIGN_OR_RETURN(LoweredGraph lowered, Lower(*impl.core, operations, {}));
  for (const LoweredTensor& entry : lowered.tensors) {
    const ir::Value& value = lowered.graph.value(entry.value);
    if (value.producer != ir::kNone || value.role == ir::Role::kConstant ||
        value.role == ir::Role::kState) {
      continue;
    }
    const auto place =
        std::find(impl.inputs.begin(), impl.inputs.end(), entry.tensor);
    TIM_RETURN_IF_ERROR(
        DeclareInput(entry, static_cast<size_t>(place - impl.inputs.begin()),
                     &lowered.graph));
  }
  TIM_RETURN_IF_ERROR(compiler::InferGraph(&lowered.graph, *lowered.registry));
  for (const LoweredTensor& entry : lowered.tensors) {
    const ir::Value& value = lowered.graph.value(entry.value);
    if (value.role != ir::Role::kTransient ||
        entry.tensor->attribute() != TRANSIENT) {
      continue;
    }
    TensorSpec& spec = entry.tensor->GetSpec();
    if (spec.datatype_ == DataType::UNKNOWN) {
      spec.quantization_ = ToVx(value.desc.quantization);
    }
    TIM_RETURN_IF_ERROR(entry.tensor->StoreInferred(value.desc));
    if (value.is_scalar) entry.tensor->SetScalar(1);
  }
  return OkStatus();
}

}  // namespace

bool InferOutputs(const std::shared_ptr<Operation>& operation) {
  if (operation == nullptr || operation->impl() == nullptr ||
      operation->impl()->core == nullptr) {
    return Fail(
        InvalidArgument("InferOutputs() needs an operation of a graph"));
  }
  OpImpl& impl = *operation->impl();
  const Status status = GuardedCall([&] { return Infer(operation); });
  if (status.ok()) return true;
  const bool named =
      status.message().find(impl.InstanceName()) != std::string::npos;
  return Fail(*impl.core, named ? status
                                : status.WithContext(StrCat(
                                      "operation ", impl.InstanceName())));
}

}  // namespace tim::vx
