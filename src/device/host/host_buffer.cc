#include "device/host/host_buffer.h"

namespace tim::device {

Result<std::unique_ptr<Buffer>> HostBuffer::Create(int64_t bytes) {
  if (bytes < 0) return InvalidArgument("a buffer of ", bytes, " bytes");
  AlignedMemory memory = AllocateAligned(bytes, kHostAlignment);
  if (memory == nullptr) {
    return OutOfMemory("the host cannot allocate ", bytes, " bytes");
  }
  return std::unique_ptr<Buffer>(new HostBuffer(std::move(memory), bytes));
}

}  // namespace tim::device
