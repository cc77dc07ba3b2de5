// Values from and to memory of OpenCL, and devices in contexts of OpenCL.
//
// Needs no header of OpenCL; CL/cl.h may be included before or behind.
#ifndef TIM_VALUES_OPENCL_H_
#define TIM_VALUES_OPENCL_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "tim/export.h"
#include "tim/values/device.h"
#include "tim/values/types.h"
#include "tim/values/value.h"

/// The same types as in CL/cl.h.
typedef struct _cl_device_id* cl_device_id;
typedef struct _cl_context* cl_context;
typedef struct _cl_mem* cl_mem;
typedef struct _cl_event* cl_event;

namespace tim {
namespace values {

/// The device that works in a client's context, which the process retains from
/// then on: the same one for the same handles.  It is named like "opencl@1" and
/// is not in Device::List().  Failed for null, and for a device that is not of
/// the context.
TIM_API Device OpenClDevice(cl_device_id device, cl_context context);

/// Handles of a device, which are not retained; null where it is no OpenCL
/// device.
TIM_API cl_device_id OpenClDeviceId(const Device& device);
TIM_API cl_context OpenClContext(const Device& device);

/// A value on `device` of the bytes of a buffer, or a part of one, of its
/// context, dense, from byte `offset` on.
///
/// The buffer is retained.  Nothing may write to it until `release` is called,
/// once and on any thread: when no work of the device uses the buffer any more,
/// at a later call that the device gets (Device::Trim() is one).  It is not
/// called where the value failed.  Memory that does not begin where the device
/// wants it, info CL_DEVICE_MEM_BASE_ADDR_ALIGN, is copied on the device, once.
///
/// \param after events that are reached when the content is there: work on the
///     device starts after them.  Without them it is there now.
/// Errors: a device of another kind, a null or foreign buffer, images, more
/// bytes than the buffer has, a spec whose extents are not known.
TIM_API Value FromOpenCl(const Device& device, const Spec& spec, cl_mem memory,
                         size_t offset = 0,
                         const std::vector<cl_event>& after = {},
                         std::function<void()> release = nullptr);

/// Bytes of a value in a buffer of its device's context.  `memory` is not
/// retained: it has the bytes as long as `keeper` lives, which goes when the
/// client's commands that read them have ended.
struct OpenClMemory {
  cl_mem memory = nullptr;
  size_t offset = 0;
  size_t bytes = 0;
  std::shared_ptr<const void> keeper = nullptr;

  explicit operator bool() const { return memory != nullptr; }
};

/// The value's bytes, dense, to be read only.  Forces the value and waits for
/// it.  There is no copy, unless a kernel left it in a layout of its own.
/// Empty, with LastError(), where the value failed or is not on an OpenCL
/// device; Device::Move() brings it to one.
TIM_API OpenClMemory ToOpenCl(const Value& value);

}  // namespace values
}  // namespace tim

#endif  // TIM_VALUES_OPENCL_H_
