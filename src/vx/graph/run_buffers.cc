#include "vx/graph/run_buffers.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tim::vx {

Result<void*> RunBuffers::CopyFor(Copy* copy, int64_t bytes) {
  if (copy->memory == nullptr || copy->bytes < bytes) {
    copy->memory = AllocateAligned(bytes, kHostAlignment);
    copy->bytes = bytes;
  }
  if (copy->memory == nullptr) {
    return OutOfMemory("no host memory for a copy of ", bytes, " bytes");
  }
  return copy->memory.get();
}

// Tensors on one DMA buffer have addresses of their own.
bool RunBuffers::LiesOnInput(const TensorImpl& output,
                             const HandleStorage& storage) const {
  const auto first = reinterpret_cast<uintptr_t>(storage.memory);
  const uintptr_t last = first + static_cast<uintptr_t>(storage.bytes);
  const DmaMapping* dma = output.mapping();
  return std::any_of(inputs_.begin(), inputs_.end(), [&](const auto& input) {
    const HandleStorage& other = *input->handle();
    const DmaMapping* others = input->mapping();
    if (dma != nullptr && others != nullptr && dma->IsOfSameBuffer(*others)) {
      return true;
    }
    const auto begin = reinterpret_cast<uintptr_t>(other.memory);
    return begin < last && first < begin + static_cast<uintptr_t>(other.bytes);
  });
}

Status RunBuffers::Synchronize(Status (DmaMapping::*step)(DmaMapping::Access)) {
  Status first;
  const auto take = [&](const auto& tensors, DmaMapping::Access access) {
    for (const auto& tensor : tensors) {
      DmaMapping* dma = tensor->mapping();
      if (dma == nullptr) continue;
      const Status status = (dma->*step)(access);
      if (status.ok() || !first.ok()) continue;
      first = status.WithContext(StrCat("tensor ", tensor->Name()));
    }
  };
  take(inputs_, DmaMapping::Access::kRead);
  take(outputs_, DmaMapping::Access::kWrite);
  return first;
}

Status RunBuffers::Prepare() {
  TIM_RETURN_IF_ERROR(Synchronize(&DmaMapping::Begin));
  input_memory_.resize(inputs_.size());
  input_copies_.resize(inputs_.size());
  output_memory_.resize(outputs_.size());
  output_copies_.resize(outputs_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const HandleStorage& storage = *inputs_[i]->handle();
    input_memory_[i] = storage.memory;
    if (IsAligned(storage.memory, kHostAlignment)) continue;
    TIM_ASSIGN_OR_RETURN(void* copy, CopyFor(&input_copies_[i], storage.bytes));
    std::memcpy(copy, storage.memory, static_cast<size_t>(storage.bytes));
    input_memory_[i] = copy;
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const HandleStorage& storage = *outputs_[i]->handle();
    output_memory_[i] = storage.memory;
    if (IsAligned(storage.memory, kHostAlignment) &&
        !LiesOnInput(*outputs_[i], storage)) {
      continue;
    }
    TIM_ASSIGN_OR_RETURN(output_memory_[i],
                         CopyFor(&output_copies_[i], storage.bytes));
  }
  return OkStatus();
}

Status RunBuffers::Finish(Status run) {
  for (size_t i = 0; run.ok() && i < outputs_.size(); ++i) {
    const HandleStorage& storage = *outputs_[i]->handle();
    if (output_memory_[i] == storage.memory) continue;
    std::memcpy(storage.memory, output_memory_[i],
                static_cast<size_t>(storage.bytes));
  }
  Status ended = Synchronize(&DmaMapping::End);
  if (!run.ok()) return run;
  for (const auto& output : outputs_) {
    output->SetRun(TensorImpl::RunResult::kWritten);
  }
  return ended;
}

}  // namespace tim::vx
