#include "vx/tensor/tensor_storage.h"

#include <cstring>

namespace tim::vx {

Result<std::shared_ptr<const ir::ConstantData>> ConstantStorage::Data() const {
  if (data_ != nullptr) return data_;
  return ir::Unpack(*form_);
}

Result<std::shared_ptr<const ir::ConstantData>> ConstantStorage::SharedData() {
  auto data = shared_.lock();
  if (data != nullptr) return data;
  TIM_ASSIGN_OR_RETURN(data, Data());
  shared_ = data;
  return data;
}

void ConstantStorage::Settle(std::shared_ptr<const ir::PackedForm> form,
                             std::shared_ptr<const ir::ConstantData>* data) {
  // Code of the user may have written the tensor meanwhile.
  if (hash() != (*data)->hash) return;
  data_ = nullptr;
  shared_.reset();
  if (form != nullptr && data->use_count() == 1) {
    form_ = std::move(form);
    *data = nullptr;
    return;
  }
  form_ = nullptr;
  data_ = *data;
}

Status ConstantStorage::Restore() {
  TIM_ASSIGN_OR_RETURN(data_, SharedData());
  form_ = nullptr;
  return OkStatus();
}

Status StateStorage::Write(const void* data) {
  if (states_ != nullptr) return states_->Write(index_, data);
  std::memcpy(bytes_.data(), data, size_);
  return OkStatus();
}

Status StateStorage::Read(void* data) const {
  if (states_ != nullptr) return states_->Read(index_, data);
  std::memcpy(data, bytes_.data(), size_);
  return OkStatus();
}

Status StateStorage::Attach(std::shared_ptr<runtime::StateSet> states,
                            int index) {
  TIM_RETURN_IF_ERROR(Detach());
  TIM_RETURN_IF_ERROR(states->Write(index, bytes_.data()));
  states_ = std::move(states);
  index_ = index;
  bytes_ = {};
  counted_ = CountedBytes();
  return OkStatus();
}

Status StateStorage::Detach() {
  if (states_ == nullptr) return OkStatus();
  std::vector<std::byte> bytes(size_);
  TIM_RETURN_IF_ERROR(states_->Read(index_, bytes.data()));
  bytes_ = std::move(bytes);
  counted_ = CountedBytes(HostBytes());
  states_.reset();
  return OkStatus();
}

}  // namespace tim::vx
