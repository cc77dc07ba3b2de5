// Devices that values are on.
#ifndef TIM_VALUES_DEVICE_H_
#define TIM_VALUES_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tim/export.h"
#include "tim/values/types.h"

namespace tim {
namespace values {

class Value;

namespace internal {
class DeviceState;
}  // namespace internal

/// A device by name: "host", "opencl:1".  Any thread.
class TIM_API Device {
 public:
  /// The default device: that of SetDefault(), else of TIMCL_DEVICE, else the
  /// first OpenCL device, else the host.
  Device();
  /// Failed where there is no such device.
  explicit Device(const std::string& spec);
  /// A move copies: no handle is left without what it stood for.
  Device(const Device& other) = default;
  Device& operator=(const Device& other) = default;
  /// All devices, the host last.
  static std::vector<Device> List();
  /// The default of the process from now on; false, and no change, where
  /// `device` failed.
  static bool SetDefault(const Device& device);

  bool ok() const;
  /// "opencl:0"
  std::string spec() const;
  /// The driver's name of the device, for people.
  std::string name() const;

  /// A value on this device, of a copy of dense bytes of the host.
  Value FromHost(const Spec& spec, const void* data) const;
  /// The value on the host, dense.
  Value ToHost(const Value& value) const;
  /// The value on this device: the same where it is there already.
  Value Move(const Value& value) const;

  /// Bytes of the device's pool: in values, taken from the device, and the
  /// most that were in values at a time.
  struct Memory {
    int64_t in_use;
    int64_t reserved;
    int64_t peak;
  };
  Memory memory() const;
  /// Gives pool memory that is not in use back to the device; the bytes.
  int64_t Trim() const;

 private:
  friend struct internal::Access;
  explicit Device(std::shared_ptr<internal::DeviceState> state);

  std::shared_ptr<internal::DeviceState> state_;
};

}  // namespace values
}  // namespace tim

#endif  // TIM_VALUES_DEVICE_H_
