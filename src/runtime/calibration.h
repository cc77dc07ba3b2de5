// Calibration: rates that a device reaches, measured.
#ifndef TIM_RUNTIME_CALIBRATION_H_
#define TIM_RUNTIME_CALIBRATION_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "device/device.h"
#include "ir/device_info.h"

namespace tim::runtime {

struct Calibration {
  double gflops = 0;  ///< float32 multiply-adds, two operations each.
  double gbytes_per_second = 0;  ///< Read from memory beyond the caches.
  /// Microseconds from handing over a kernel that does nothing to the end of
  /// the wait for it.
  double launch_us = 0;
  bool operator==(const Calibration&) const = default;
};

/// Measured at the first call for such a device, in about a second at most
/// beside building three small programs, and kept in `store` and in the
/// process.  For people: no choice of kernels reads it.  Any thread; others
/// wait meanwhile.  kUnimplemented for devices that do not run OpenCL C.
Result<Calibration> Calibrate(
    const std::shared_ptr<device::Device>& device,
    const std::shared_ptr<device::BinaryStore>& store);

/// The same, measured now in place of what is kept.
Result<Calibration> CalibrateAnew(
    const std::shared_ptr<device::Device>& device,
    const std::shared_ptr<device::BinaryStore>& store);
/// A calibration that is kept; nothing is measured.
std::optional<Calibration> KnownCalibration(const ir::DeviceInfo& device,
                                            device::BinaryStore& store);

/// Key in a store: name, driver, units and kernels of the device.
std::string CalibrationKey(const ir::DeviceInfo& device);
/// Text in a store; nothing where it is no calibration.
std::string EncodeCalibration(const Calibration& calibration);
std::optional<Calibration> DecodeCalibration(std::string_view text);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_CALIBRATION_H_
