// Ranges of buffers that hold one byte all over.
#ifndef TIM_DEVICE_OPENCL_DRIVER_FILL_H_
#define TIM_DEVICE_OPENCL_DRIVER_FILL_H_

#include <cstdint>

#include "base/status.h"
#include "device/device.h"
#include "device/opencl/driver/opencl_queue.h"

namespace tim::device {

/// Enqueues the command that fills the range, if it is not empty.
Status FillBytes(OpenClQueue& queue, const BufferRange& range, uint8_t byte);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_DRIVER_FILL_H_
