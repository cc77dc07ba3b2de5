// Where the inputs or outputs of an Execution are.
#ifndef TIM_VX_LITE_PORT_MEMORY_H_
#define TIM_VX_LITE_PORT_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/aligned_memory.h"
#include "base/status.h"
#include "binary/blob.h"
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
      : what_(std::move(what)),
        ports_(ports),
        bound_(ports.size()),
        copies_(ports.size()) {}

  Result<std::shared_ptr<Handle>> MakeHandle(uint32_t index, uint8_t* memory,
                                             size_t size) const;
  /// A place that is bound stays so.
  Status Bind(const std::shared_ptr<Handle>& handle);
  /// Returns the handle's memory.
  Result<const void*> UnBind(const std::shared_ptr<Handle>& handle);

  size_t size() const { return ports_.size(); }
  int64_t bytes(size_t index) const;
  /// Null where the place is unused and not bound.
  uint8_t* bound(size_t index) const;
  /// Fails where a place that is used is not bound.
  Status CheckBound() const;
  /// Aligned memory of the place's size, its own.
  Result<std::byte*> Copy(size_t index);

 private:
  Result<const MemoryHandle*> Own(const std::shared_ptr<Handle>& handle) const;

  const std::string what_;
  const std::vector<binary::Port>& ports_;
  std::vector<std::shared_ptr<Handle>> bound_;
  std::vector<AlignedMemory> copies_;
};

}  // namespace tim::lite

#endif  // TIM_VX_LITE_PORT_MEMORY_H_
