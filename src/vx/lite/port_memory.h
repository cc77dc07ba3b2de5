// Where the inputs or outputs of an Execution are.
#ifndef TIM_VX_LITE_PORT_MEMORY_H_
#define TIM_VX_LITE_PORT_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "binary/blob.h"
#include "runtime/port_binding.h"
#include "tim/lite/handle.h"

namespace tim::lite {

/// Memory of the caller, which is used as it is: there is no cache to flush.
class MemoryHandle final : public Handle {
 public:
  MemoryHandle(const void* owner, uint32_t index, uint8_t* memory)
      : owner(owner), index(index), memory(memory) {}
  bool Flush() override { return true; }
  bool Invalidate() override { return true; }

  const void* const owner;  ///< The PortMemory that made it.
  const uint32_t index;
  uint8_t* const memory;
};

/// All inputs or all outputs.
class PortMemory {
 public:
  /// \param what "input" or "output".  \param ports must outlive it.
  PortMemory(std::string what, const std::vector<binary::Port>& ports)
      : what_(std::move(what)), ports_(ports), bound_(ports.size()) {}

  Result<std::shared_ptr<Handle>> MakeHandle(uint32_t index, uint8_t* memory,
                                             size_t size) const;
  /// A place that is bound stays so.
  Status Bind(const std::shared_ptr<Handle>& handle);
  /// Returns the handle's memory.
  Result<const void*> UnBind(const std::shared_ptr<Handle>& handle);

  /// What runs are given, of the places that are used; fails where one is not
  /// bound.
  Result<std::vector<runtime::PortMemory>> Bound() const;

 private:
  int64_t bytes(size_t index) const;
  Result<const MemoryHandle*> Own(const std::shared_ptr<Handle>& handle) const;

  const std::string what_;
  const std::vector<binary::Port>& ports_;
  std::vector<std::shared_ptr<Handle>> bound_;
};

}  // namespace tim::lite

#endif  // TIM_VX_LITE_PORT_MEMORY_H_
