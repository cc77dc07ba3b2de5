// Buffers in ordinary memory, and parts of them.
#include "device/host/host_buffer.h"

namespace tim::device {
namespace {

std::unique_ptr<Buffer> PartOf(const Buffer& whole, int64_t offset,
                               int64_t bytes) {
  return std::make_unique<ExternalBuffer>(
      static_cast<std::byte*>(whole.host_address()) + offset, bytes);
}

}  // namespace

Result<std::unique_ptr<Buffer>> HostBuffer::Create(int64_t bytes) {
  if (bytes < 0) return InvalidArgument("a buffer of ", bytes, " bytes");
  AlignedMemory memory = AllocateAligned(bytes, kHostAlignment);
  if (memory == nullptr) {
    return OutOfMemory("the host cannot allocate ", bytes, " bytes");
  }
  return std::unique_ptr<Buffer>(new HostBuffer(std::move(memory), bytes));
}

Result<std::unique_ptr<Buffer>> HostBuffer::View(int64_t offset,
                                                 int64_t bytes) {
  return PartOf(*this, offset, bytes);
}

Result<std::unique_ptr<Buffer>> ExternalBuffer::View(int64_t offset,
                                                     int64_t bytes) {
  return PartOf(*this, offset, bytes);
}

}  // namespace tim::device
