// The states of an NBG: VARIABLE tensors that no client sees.
#include "vx/operation/nbg_content.h"

#include "vx/tensor/type_convert.h"

namespace tim::vx {
namespace {

NbgContent::Tensors UsedOf(const NbgContent::Tensors& bound,
                           const std::vector<binary::Port>& ports) {
  NbgContent::Tensors used = bound;
  for (size_t i = 0; i < used.size(); ++i) {
    if (i < ports.size() && ports[i].unused) used[i] = nullptr;
  }
  return used;
}

}  // namespace

NbgContent::NbgContent(const NbgContent& original)
    : blob_(original.blob_), content_(original.content_) {
  if (original.states_.empty()) return;
  content_.clear();
  for (const State& state : original.states_) {
    auto& bytes = content_.emplace_back(static_cast<size_t>(state.bytes));
    // A device that is lost has lost the states, too: they begin anew.
    if (!state.tensor->state()->Read(bytes.data()).ok()) bytes.clear();
  }
}

Status NbgContent::MakeStates(const std::shared_ptr<GraphCore>& core,
                              const std::string& owner,
                              const std::vector<binary::BodyState>& states) {
  if (!states_.empty()) return OkStatus();
  for (size_t i = 0; i < states.size(); ++i) {
    const binary::BodyState& state = states[i];
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(state.desc));
    const void* content = nullptr;
    if (state.content != nullptr) content = state.content->bytes.data();
    if (i < content_.size() &&
        content_[i].size() == static_cast<size_t>(bytes)) {
      content = content_[i].data();
    }
    const auto& dims = state.desc.shape.dims();
    TensorSpec spec(ToVx(state.desc.type), ShapeType(dims.begin(), dims.end()),
                    VARIABLE, ToVx(state.desc.quantization));
    spec.SetName(StrCat(owner, "/", state.name));
    auto tensor = TensorImpl::Create(core, spec, content);
    TIM_RETURN_IF_ERROR(tensor->problem());
    tensor->SetScalar(state.is_scalar);
    states_.push_back({std::move(tensor), bytes, state.written});
  }
  content_.clear();
  return OkStatus();
}

NbgContent::Tensors NbgContent::Inputs(const Tensors& bound) const {
  Tensors tensors = UsedOf(bound, blob_.inputs);
  for (const State& state : states_) tensors.push_back(state.tensor);
  return tensors;
}

NbgContent::Tensors NbgContent::Outputs(const Tensors& bound) const {
  Tensors tensors = UsedOf(bound, blob_.outputs);
  for (const State& state : states_) {
    if (state.written) tensors.push_back(state.tensor);
  }
  return tensors;
}

}  // namespace tim::vx
