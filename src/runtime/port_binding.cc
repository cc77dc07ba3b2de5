// Decides which memory of a caller a run can use as it is.
#include "runtime/port_binding.h"

#include <algorithm>
#include <cstring>

#include "device/host/host_buffer.h"

namespace tim::runtime {

using device::kHostAlignment;

constexpr std::pair<uint64_t, uint64_t> kNoBuffer = {};

Result<void*> PortBinding::CopyFor(Copy* copy, int64_t bytes) {
  if (copy->memory == nullptr || copy->bytes < bytes) {
    copy->memory = AllocateAligned(bytes, kHostAlignment);
    copy->bytes = bytes;
  }
  if (copy->memory == nullptr) {
    return OutOfMemory("no host memory for a copy of ", bytes, " bytes");
  }
  return copy->memory.get();
}

bool PortBinding::LiesOnInput(const HostPort& output) const {
  const auto first = reinterpret_cast<uintptr_t>(output.memory);
  const uintptr_t last = first + static_cast<uintptr_t>(output.bytes);
  return std::any_of(
      inputs_.begin(), inputs_.end(), [&](const HostPort& input) {
        if (input.memory == nullptr) return false;
        if (output.buffer != kNoBuffer && output.buffer == input.buffer) {
          return true;
        }
        const auto begin = reinterpret_cast<uintptr_t>(input.memory);
        return begin < last &&
               first < begin + static_cast<uintptr_t>(input.bytes);
      });
}

Status PortBinding::Bind(std::span<const HostPort> inputs,
                         std::span<const HostPort> outputs) {
  inputs_.assign(inputs.begin(), inputs.end());
  outputs_.assign(outputs.begin(), outputs.end());
  input_memory_.assign(inputs_.size(), nullptr);
  input_copies_.resize(inputs_.size());
  output_memory_.assign(outputs_.size(), nullptr);
  output_copies_.resize(outputs_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const HostPort& port = inputs_[i];
    input_memory_[i] = port.memory;
    if (IsAligned(port.memory, kHostAlignment)) continue;
    TIM_ASSIGN_OR_RETURN(void* copy, CopyFor(&input_copies_[i], port.bytes));
    std::memcpy(copy, port.memory, static_cast<size_t>(port.bytes));
    input_memory_[i] = copy;
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const HostPort& port = outputs_[i];
    output_memory_[i] = port.memory;
    if (port.memory == nullptr ||
        (IsAligned(port.memory, kHostAlignment) && !LiesOnInput(port))) {
      continue;
    }
    TIM_ASSIGN_OR_RETURN(output_memory_[i],
                         CopyFor(&output_copies_[i], port.bytes));
  }
  return OkStatus();
}

void PortBinding::CopyOutputs() const {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const HostPort& port = outputs_[i];
    if (output_memory_[i] == port.memory) continue;
    std::memcpy(port.memory, output_memory_[i],
                static_cast<size_t>(port.bytes));
  }
}

}  // namespace tim::runtime
