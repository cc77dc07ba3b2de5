// What all devices do alike.
#include "device/device.h"

#include <utility>

namespace tim::device {

Result<std::unique_ptr<Buffer>> Buffer::View(int64_t, int64_t) {
  return Unimplemented("a view of memory that has none");
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
