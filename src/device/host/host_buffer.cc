#include "device/host/host_buffer.h"

#include <algorithm>
#include <limits>

#include "base/checked_math.h"

namespace tim::device {

Result<std::unique_ptr<Buffer>> HostBuffer::Create(int64_t bytes) {
  if (bytes < 0 ||
      bytes > std::numeric_limits<int64_t>::max() - kHostAlignment) {
    return InvalidArgument("a buffer of ", bytes, " bytes");
  }
  const int64_t size = AlignUp(std::max<int64_t>(bytes, 1), kHostAlignment);
  void* memory = std::aligned_alloc(kHostAlignment, size);
  if (memory == nullptr) {
    return OutOfMemory("the host cannot allocate ", bytes, " bytes");
  }
  return std::unique_ptr<Buffer>(new HostBuffer(memory, bytes));
}

}  // namespace tim::device
