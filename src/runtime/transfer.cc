#include "runtime/transfer.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "device/host/host_buffer.h"

namespace tim::runtime {
namespace {

using device::BufferRange;
using device::ExternalBuffer;

// An arena is zeroed through a block of this size.
constexpr int64_t kZeroBlock = 1 << 20;

Status CopyAndWait(device::Stream& stream, BufferRange source,
                   BufferRange destination) {
  const Status status = stream.Copy(source, destination);
  const Status finished = Finish(stream);
  return status.ok() ? finished : status;
}

}  // namespace

Status Finish(device::Stream& stream) {
  TIM_ASSIGN_OR_RETURN(const std::unique_ptr<device::Event> event,
                       stream.Record());
  return event->Wait();
}

Status Upload(device::Stream& stream, const void* data, int64_t bytes,
              device::Buffer& buffer) {
  // Copy only reads its source.
  ExternalBuffer host(const_cast<void*>(data), bytes);
  return CopyAndWait(stream, {&host, 0, bytes}, {&buffer, 0, bytes});
}

Status Download(device::Stream& stream, device::Buffer& buffer, void* data,
                int64_t bytes) {
  ExternalBuffer host(data, bytes);
  return CopyAndWait(stream, {&buffer, 0, bytes}, {&host, 0, bytes});
}

Status Download(device::Stream& stream, const BufferRange& range, void* data) {
  const void* const memory = range.buffer->host_address();
  if (memory != nullptr) {
    std::memcpy(data, static_cast<const std::byte*>(memory) + range.offset,
                static_cast<size_t>(range.bytes));
    return OkStatus();
  }
  ExternalBuffer host(data, range.bytes);
  return CopyAndWait(stream, range, {&host, 0, range.bytes});
}

Status FillZero(device::Stream& stream, const BufferRange& range) {
  const int64_t total = range.bytes;
  TIM_ASSIGN_OR_RETURN(const bool filled, stream.Fill(range, 0));
  if (filled) return Finish(stream);
  std::vector<std::byte> zeros(std::min(total, kZeroBlock));
  ExternalBuffer host(zeros.data(), static_cast<int64_t>(zeros.size()));
  Status status;
  for (int64_t done = 0; done < total && status.ok(); done += kZeroBlock) {
    const int64_t bytes = std::min(kZeroBlock, total - done);
    status = stream.Copy({&host, 0, bytes},
                         {range.buffer, range.offset + done, bytes});
  }
  // Also after a failure: the block must outlive the copies.
  const Status finished = Finish(stream);
  return status.ok() ? finished : status;
}

Status FillZero(device::Stream& stream, device::Buffer& buffer) {
  return FillZero(stream, {&buffer, 0, buffer.bytes()});
}

}  // namespace tim::runtime
