// Handles of tensors, and memory that the library gives them.
#include "graph_api/tensor.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tim::graph {
namespace {

constexpr size_t kAlignment = 64;

}  // namespace

ClientTensor::ClientTensor(const LogicalTensor& description, const void* value,
                           size_t bytes)
    : description_(description) {
  std::memcpy(value_.bytes.data(), value, std::min(bytes, value_.bytes.size()));
}

void ClientTensor::SetMemory(void* handle, HandleKind kind, int64_t offset) {
  handle_ = handle;
  kind_ = kind;
  offset_ = offset;
  memory_ = nullptr;
}

void* ClientTensor::host_memory() const {
  return is_scalar() ? value_.bytes.data() : handle_;
}

Result<std::shared_ptr<const AllocatedMemory>> AllocateFor(
    const LogicalTensor& description, const tim_graph_engine& engine,
    std::shared_ptr<const Allocator> allocator) {
  if (allocator == nullptr) allocator = engine.allocator();
  size_t bytes = SIZE_MAX;
  static_cast<void>(
      tim_graph_logical_tensor_get_mem_size(&description, &bytes));
  if (bytes == SIZE_MAX) {
    return InvalidArgument("tensor ", description.id,
                           " has no size: memory is allocated for known dims "
                           "and a layout that is strided or opaque");
  }
  TIM_ASSIGN_OR_RETURN(
      AllocatedMemory memory,
      AllocatedMemory::Allocate(std::move(allocator), engine.device(),
                                std::max<size_t>(bytes, 1), kAlignment));
  return std::shared_ptr<const AllocatedMemory>(
      std::make_shared<AllocatedMemory>(std::move(memory)));
}

}  // namespace tim::graph
