// Bytes between host memory and a buffer, waited for: not for hot paths.
#ifndef TIM_RUNTIME_TRANSFER_H_
#define TIM_RUNTIME_TRANSFER_H_

#include <cstdint>

#include "base/status.h"
#include "device/device.h"

namespace tim::runtime {

Status Upload(device::Stream& stream, const void* data, int64_t bytes,
              device::Buffer& buffer);
Status Download(device::Stream& stream, device::Buffer& buffer, void* data,
                int64_t bytes);
/// range.bytes bytes of a buffer that may be the host's.
Status Download(device::Stream& stream, const device::BufferRange& range,
                void* data);
Status FillZero(device::Stream& stream, const device::BufferRange& range);
Status FillZero(device::Stream& stream, device::Buffer& buffer);

/// Waits for everything enqueued.
Status Finish(device::Stream& stream);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_TRANSFER_H_
