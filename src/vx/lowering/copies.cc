// Finds for each output of a graph without operations the input that it is.
#include "vx/lowering/copies.h"

#include <utility>

namespace tim::vx {
namespace {

using Tensors = std::vector<std::shared_ptr<TensorImpl>>;

Status CheckAlike(const TensorCopy& copy) {
  TIM_ASSIGN_OR_RETURN(const ir::TensorDesc from, copy.from->DeclaredDesc());
  TIM_ASSIGN_OR_RETURN(const ir::TensorDesc to, copy.to->DeclaredDesc());
  if (ir::SameElements(from, to) &&
      (!to.shape.ranked() || from.shape == to.shape)) {
    return OkStatus();
  }
  return InvalidArgument(
      "there are no operations, so that OUTPUT ", copy.to->Name(), ", ",
      to.ToString(), ", would be a copy of INPUT ", copy.from->Name(), ", ",
      from.ToString(),
      "; that takes the same type, shape and quantization: create the "
      "operations that are missing, or declare the OUTPUT so");
}

}  // namespace

Result<std::vector<TensorCopy>> CopiesOf(
    const std::vector<std::shared_ptr<Tensor>>& io) {
  Tensors inputs;
  Tensors outputs;
  for (const auto& tensor : io) {
    auto made = std::dynamic_pointer_cast<TensorImpl>(tensor);
    if (made == nullptr) continue;
    (made->attribute() == INPUT ? inputs : outputs).push_back(std::move(made));
  }
  std::vector<TensorCopy> copies;
  if (outputs.empty()) return copies;
  if (inputs.size() != outputs.size()) {
    return InvalidArgument(
        "there are no operations, and ", inputs.size(), " INPUT tensors for ",
        outputs.size(),
        " OUTPUT tensors; without operations each OUTPUT is a copy of the "
        "INPUT of the same place, so that they must be as many: create the "
        "operations that are missing");
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    copies.push_back({.from = inputs[i], .to = outputs[i]});
    TIM_RETURN_IF_ERROR(CheckAlike(copies.back()));
  }
  return copies;
}

}  // namespace tim::vx
