#include "vx/lite/port_memory.h"

namespace tim::lite {

int64_t PortMemory::bytes(size_t index) const {
  const auto bytes = ir::ByteSize(ports_[index].desc);
  return bytes.ok() ? *bytes : 0;  // checked when the graph was loaded
}

Result<std::shared_ptr<Handle>> PortMemory::MakeHandle(uint32_t index,
                                                       uint8_t* memory,
                                                       size_t size) const {
  if (index >= ports_.size()) {
    return InvalidArgument("there is no ", what_, " ", index,
                           ": the binary graph has ", ports_.size());
  }
  if (memory == nullptr) {
    return InvalidArgument("the memory of ", what_, " ", index, " is null");
  }
  if (size != static_cast<size_t>(bytes(index))) {
    return InvalidArgument(what_, " ", index, ", ",
                           ports_[index].desc.ToString(), ", takes ",
                           bytes(index), " bytes, not ", size);
  }
  return std::shared_ptr<Handle>(
      std::make_shared<MemoryHandle>(this, index, memory));
}

Result<const MemoryHandle*> PortMemory::Own(
    const std::shared_ptr<Handle>& handle) const {
  if (handle == nullptr) return InvalidArgument("the handle is null");
  const auto* own = dynamic_cast<const MemoryHandle*>(handle.get());
  if (own != nullptr && own->owner == this) return own;
  return InvalidArgument("the handle is no ", what_, " of this execution");
}

Status PortMemory::Bind(const std::shared_ptr<Handle>& handle) {
  TIM_ASSIGN_OR_RETURN(const MemoryHandle* own, Own(handle));
  if (bound_[own->index] != nullptr) {
    return FailedPrecondition(what_, " ", own->index,
                              " is bound already and stays so; unbind its "
                              "handle first");
  }
  bound_[own->index] = handle;
  return OkStatus();
}

Result<const void*> PortMemory::UnBind(const std::shared_ptr<Handle>& handle) {
  TIM_ASSIGN_OR_RETURN(const MemoryHandle* own, Own(handle));
  if (bound_[own->index] != handle) {
    return FailedPrecondition("the handle of ", what_, " ", own->index,
                              " is not bound");
  }
  bound_[own->index].reset();
  return own->memory;
}

Result<std::vector<runtime::PortMemory>> PortMemory::Bound() const {
  std::vector<runtime::PortMemory> ports;
  for (size_t i = 0; i < ports_.size(); ++i) {
    if (ports_[i].unused) continue;
    const auto* own = static_cast<const MemoryHandle*>(bound_[i].get());
    if (own == nullptr) {
      return FailedPrecondition(what_, " ", i, " is not bound");
    }
    ports.emplace_back(own->memory, bytes(i));
  }
  return ports;
}

}  // namespace tim::lite
