// INPUT and OUTPUT tensors: the memory itself.
#include <utility>

#include "vx/core/failure.h"
#include "vx/tensor/tensor_impl.h"

namespace tim::vx {
namespace {

constexpr char kHandlesOnly[] =
    "only INPUT and OUTPUT tensors have memory of "
    "the host";

}  // namespace

bool TensorImpl::SwapHandle(void* new_ptr, bool is_new_ptr_malloc_by_ovxlib,
                            void** old_ptr) {
  if (!problem_.ok()) return Report(problem_);
  HandleStorage* storage = handle();
  if (storage == nullptr) return Report(NotPossible("swap", kHandlesOnly));
  if (new_ptr == nullptr) {
    return Report(NotPossible("swap", "the new memory is null"));
  }
  if (shape_open_ && bytes_ == 0) {
    return Report(
        NotPossible("swap", "the shape is not known before Compile()"));
  }
  HostMemory& memory = core_->memory;
  if (is_new_ptr_malloc_by_ovxlib) memory.Adopt(new_ptr);
  memory.AddUser(new_ptr);
  void* old = std::exchange(storage->memory, new_ptr);
  storage->content = HandleStorage::Content::kGiven;
  if (auto* graph = dynamic_cast<OwnGraph*>(core_->graph)) graph->Release(old);
  if (old_ptr != nullptr) {
    *old_ptr = old;
  } else {
    memory.RemoveUser(old);
  }
  return true;
}

Status TensorImpl::CheckSwap(TensorImpl* other) {
  if (handle() == nullptr) return NotPossible("swap", kHandlesOnly);
  if (other == nullptr || other->core_ != core_ || !other->handle()) {
    return NotPossible("swap",
                       "the other tensor must be an INPUT or OUTPUT of the "
                       "same graph");
  }
  if (other->bytes_ == bytes_) return OkStatus();
  return NotPossible("swap", StrCat("the other tensor has ", other->bytes_,
                                    " bytes, this one has ", bytes_)
                                 .c_str());
}

bool TensorImpl::SwapHandle(std::shared_ptr<Tensor> tensor) {
  if (!problem_.ok()) return Report(problem_);
  auto* other = dynamic_cast<TensorImpl*>(tensor.get());
  const Status status = CheckSwap(other);
  if (!status.ok()) return Report(status);
  std::swap(*handle(), *other->handle());
  return true;
}

bool TensorImpl::SwapHandleWithCache(std::shared_ptr<Tensor> tensor) {
  return SwapHandle(std::move(tensor));
}

// Every run reads and writes host memory itself, so that there is nothing to
// flush or to invalidate but what other devices share.
bool TensorImpl::FlushCacheForHandle() {
  if (!problem_.ok()) return Report(problem_);
  if (attribute_ != INPUT) {
    return Report(NotPossible("flush", "only INPUT tensors are flushed"));
  }
  DmaMapping* dma = mapping();
  const Status status =
      dma != nullptr ? dma->End(DmaMapping::Access::kWrite) : OkStatus();
  return status.ok() || Report(status);
}

bool TensorImpl::InvalidateCacheForHandle() {
  if (!problem_.ok()) return Report(problem_);
  if (attribute_ != OUTPUT) {
    return Report(
        NotPossible("invalidate", "only OUTPUT tensors are invalidated"));
  }
  Status status = CheckContent("invalidate");
  DmaMapping* dma = mapping();
  if (status.ok() && dma != nullptr) {
    status = dma->Begin(DmaMapping::Access::kRead);
  }
  return status.ok() || Report(status);
}

// A buffer that may only be read is mapped all the same.
void* TensorImpl::map(bool invalidate_cpu_cache) {
  if (!problem_.ok()) {
    Report(problem_);
    return nullptr;
  }
  if (handle() == nullptr) {
    Report(NotPossible("map", kHandlesOnly));
    return nullptr;
  }
  if (handle()->memory == nullptr) {
    Report(NotPossible("map", "the shape is not known before Compile()"));
    return nullptr;
  }
  if (invalidate_cpu_cache) {
    const Status status = CheckContent("map(true)");
    if (!status.ok()) {
      Report(status);
      return nullptr;
    }
  } else {
    handle()->content = HandleStorage::Content::kGiven;
  }
  if (DmaMapping* dma = mapping()) {
    const Status status = dma->Begin(DmaMapping::Access::kRead);
    if (!status.ok()) {
      Report(status);
      return nullptr;
    }
  }
  return handle()->memory;
}

void TensorImpl::unmap() {
  if (DmaMapping* dma = mapping()) {
    const Status status = dma->End(DmaMapping::Access::kReadWrite);
    if (!status.ok()) Report(status);
  }
}

}  // namespace tim::vx
