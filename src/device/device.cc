// What all devices do alike.
#include "device/device.h"

#include <atomic>
#include <utility>

namespace tim::device {

Result<std::unique_ptr<Buffer>> Buffer::View(int64_t, int64_t) {
  return Unimplemented("a view of memory that has none");
}

uint64_t Stream::NextId() {
  static constinit std::atomic<uint64_t> next = 1;
  return next.fetch_add(1, std::memory_order_relaxed);
}

Result<std::vector<std::unique_ptr<PreparedStep>>> Device::Prepare(
    std::span<const ir::Action* const> steps, const ir::OpRegistry& operators,
    BinaryStore& store) {
  std::vector<std::unique_ptr<PreparedStep>> prepared;
  for (auto& step : PrepareEach(steps, operators, store)) {
    TIM_ASSIGN_OR_RETURN(prepared.emplace_back(), std::move(step));
  }
  return prepared;
}

}  // namespace tim::device
