// Devices of this machine, for all front ends.
#ifndef TIM_DEVICES_DEVICES_H_
#define TIM_DEVICES_DEVICES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tim/vx/export.h"

namespace tim {
namespace devices {

/// Facts about a device.  Figures are estimates, or measured where the
/// device was calibrated.
struct DeviceFacts {
  std::string spec;  ///< "opencl:0": its name in lists of devices.
  std::string kind;  ///< "opencl", "host", or the kind of a plug-in.
  std::string name;  ///< The driver's name, for people.
  std::string vendor;
  std::string driver;
  std::string reason;  ///< The reason why it is not usable, else empty.
  /// Rank for "auto", which is the usable device of the highest score: GPUs
  /// 100, accelerators 80, CPUs 50, the host 10, plug-ins as they say.
  int score = 0;
  bool usable = false;
  int64_t memory_bytes = 0;
  double gflops = 0;             ///< 1e9 float operations per second.
  double gbytes_per_second = 0;  ///< 1e9 bytes of memory per second.
  double launch_us = 0;          ///< Microseconds until a kernel begins.
};

/// Every device, usable or not: OpenCL's in the loader's order, the host, and
/// those of plug-ins in the order of loading.  The numbers of
/// CompileOption::setDeviceId() and platform::IDevice::Enumerate() are indices
/// here.  Any thread.
TIM_VX_API std::vector<DeviceFacts> List();

/// Measures what copies cost between the devices of these names, in at most 50
/// ms per pair, and keeps it in the cache folder, where contexts find it.
/// \return false, with LastError(), where a name is no device, where no device
/// beside the host is named, or a copy fails.  Where the cache folder cannot be
/// used, this process alone knows what was measured.  Any thread.
TIM_VX_API bool MeasureLinks(const std::vector<std::string>& specs);

/// The links that this process has measured or read from the cache folder:
/// [{"from", "to", "latency_us", "gbytes_per_second", "route"}], where route is
/// "direct", or "host" for copies through the host's memory.  Any thread.
TIM_VX_API std::string LinksAsJson();

/// The last failure of a call on this thread; empty before the first one.
TIM_VX_API std::string LastError();

}  // namespace devices
}  // namespace tim

#endif  // TIM_DEVICES_DEVICES_H_
