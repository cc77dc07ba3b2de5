// Fills ranges by the largest pattern that they are multiples of.
#include "device/opencl/driver/fill.h"

#include "device/opencl/driver/cl_status.h"
#include "device/opencl/driver/opencl_buffer.h"

namespace tim::device {

Status FillBytes(OpenClQueue& queue, const BufferRange& range, uint8_t byte) {
  if (range.bytes == 0) return OkStatus();
  TIM_ASSIGN_OR_RETURN(const OpenClRange place, AsOpenCl(range));
  const auto fill = [&](auto pattern) {
    return queue.Fill(place.handle(), pattern, place.offset, range.bytes);
  };
  const bool words = (place.offset | range.bytes) % 4 == 0;
  TIM_RETURN_IF_CL_ERROR(
      words ? fill(cl_uint{byte} * 0x01010101u) : fill(cl_uchar{byte}),
      "filling ", range.bytes, " bytes");
  return OkStatus();
}

}  // namespace tim::device
