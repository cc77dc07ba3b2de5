#include "vx/graph/run_buffers.h"

#include <algorithm>
#include <cstring>

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

bool RunBuffers::LiesOnInput(const HandleStorage& output) const {
  const auto first = reinterpret_cast<uintptr_t>(output.memory);
  const uintptr_t last = first + static_cast<uintptr_t>(output.bytes);
  return std::any_of(inputs_.begin(), inputs_.end(), [&](const auto& input) {
    const HandleStorage& other = *input->handle();
    const auto begin = reinterpret_cast<uintptr_t>(other.memory);
    return begin < last && first < begin + static_cast<uintptr_t>(other.bytes);
  });
}

Status RunBuffers::Prepare() {
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
    if (IsAligned(storage.memory, kHostAlignment) && !LiesOnInput(storage)) {
      continue;
    }
    TIM_ASSIGN_OR_RETURN(output_memory_[i],
                         CopyFor(&output_copies_[i], storage.bytes));
  }
  return OkStatus();
}

void RunBuffers::Finish() {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const HandleStorage& storage = *outputs_[i]->handle();
    if (output_memory_[i] == storage.memory) continue;
    std::memcpy(storage.memory, output_memory_[i],
                static_cast<size_t>(storage.bytes));
  }
}

}  // namespace tim::vx
