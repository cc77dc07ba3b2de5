// Values from and to DLPack, in which frameworks hand tensors to each other.
//
// Needs no dlpack.h; it may be included before or behind.
#ifndef TIM_VALUES_DLPACK_H_
#define TIM_VALUES_DLPACK_H_

#include <cstdint>
#include <type_traits>

#include "tim/export.h"
#include "tim/values/value.h"

namespace tim {
namespace values {

/// The structures of DLPack 0.8 and 1.0 as they lie in memory.
namespace dlpack {

/// Device::device_type: memory of the host, and of OpenCL, where Tensor::data
/// is a cl_mem.
enum DeviceType : int32_t { kCpu = 1, kOpenCl = 4 };

/// DataType::code
enum TypeCode : uint8_t {
  kInt = 0,
  kUint = 1,
  kFloat = 2,
  kOpaque = 3,
  kBfloat = 4,
  kComplex = 5,
  kBool = 6
};

/// DLDevice
struct Device {
  int32_t device_type;
  int32_t device_id;
};

/// DLDataType
struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

/// DLTensor.  Extents and strides, in elements, of the slowest axis first;
/// `strides` may be null: dense.
struct Tensor {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};

/// DLManagedTensor, the one without a version.
struct ManagedTensor {
  Tensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(ManagedTensor* self);
};

/// The same tensor by the type that dlpack.h has for it.
template <typename To, typename From>
To* Cast(From* tensor) {
  static_assert(std::is_standard_layout<To>::value &&
                    std::is_standard_layout<From>::value &&
                    sizeof(To) == sizeof(From) && alignof(To) == alignof(From),
                "a DLManagedTensor, which is not DLManagedTensorVersioned");
  return reinterpret_cast<To*>(tensor);
}

}  // namespace dlpack

/// A value of a tensor's elements; {N, C, H, W} becomes {W, H, C, N}.
///
/// It takes the tensor over: the deleter is called, once and on any thread,
/// when nothing needs the memory any more, and until then the content must not
/// change.  Where the value failed the tensor stays the caller's.
///
/// Memory of the host is used where it is if it is dense and begins at a
/// multiple of the element's size; else the elements are copied, once, and the
/// deleter is called before the function returns.  Dense memory of OpenCL, a
/// cl_mem of the context of the device "opencl:<device_id>", is taken as
/// FromOpenCl() (tim/values/opencl.h) takes it; what fills it has ended before
/// the call.
///
/// Errors: elements of other types than int8 to int64, uint8 to uint64, bool,
/// float16, bfloat16, float32 and float64, and lanes other than 1; memory of
/// other devices; more than 8 axes, an extent of 0; strided memory of OpenCL.
TIM_API Value FromDlpack(dlpack::ManagedTensor* tensor);

/// The same of a DLManagedTensor of dlpack.h.
template <typename Managed>
Value FromDlpack(Managed* tensor) {
  return FromDlpack(dlpack::Cast<dlpack::ManagedTensor>(tensor));
}

/// A tensor of the value's elements, where they are: in memory of the host, or
/// as a cl_mem of an OpenCL device; Device::ToHost() brings the value to the
/// host.  Forces the value and waits for it.  There is no copy, unless a kernel
/// left it in a layout of its own.
///
/// The caller calls the deleter, once and on any thread; the tensor keeps the
/// memory, not the value.  Values do not change: who takes the tensor must not
/// write to it.
///
/// Null, with LastError(), where the value failed, is symbolic, quantized or of
/// a 4-bit type, which DLPack cannot say, or on a device that DLPack has none
/// for.
TIM_API dlpack::ManagedTensor* ToDlpack(const Value& value);

/// The same as a DLManagedTensor of dlpack.h: ToDlpack<DLManagedTensor>(value).
template <typename Managed>
Managed* ToDlpack(const Value& value) {
  return dlpack::Cast<Managed>(ToDlpack(value));
}

}  // namespace values
}  // namespace tim

#endif  // TIM_VALUES_DLPACK_H_
