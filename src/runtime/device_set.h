// Devices of a context by name, and how its graphs are divided among them.
#ifndef TIM_RUNTIME_DEVICE_SET_H_
#define TIM_RUNTIME_DEVICE_SET_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.h"
#include "base/status.h"
#include "compiler/compiler.h"
#include "compiler/links.h"
#include "compiler/policy.h"
#include "device/device.h"

namespace tim::runtime {

/// Additions of a context to the options of each Compile.
struct Division {
  /// Names of the devices, "host" and then those of the list; empty where the
  /// context was made of devices without names.
  std::vector<std::string> specs = {};
  compiler::Policy policy = {};
  compiler::LinkTable links = {};
  /// Devices as they were measured; empty: as they say.
  std::vector<ir::DeviceInfo> figures = {};

  /// The index of the device of this name.  kInvalidArgument names all.
  Result<int> IndexOf(std::string_view spec) const;
  /// Adds names, figures, policy and links to options for these devices.
  void AddTo(compiler::CompileOptions* options) const;
};

/// Devices that graphs are divided among.
struct DeviceSet {
  device::Devices devices;  ///< [0] is the host.
  std::vector<std::string> specs;
};

/// The devices of a list of names, as Context::CreateOn() takes it.  Those of
/// one OpenCL platform share a context; all calls of the process share what
/// they open, for equal lists.  kInvalidArgument and kNotFound say which name
/// is no device, and why.  Any thread.
Result<DeviceSet> OpenDevices(const std::string& list,
                              const DeviceOptions& options = {});

/// The device is lost: the next call opens the lists that it is in anew.
void ForgetGroupsOf(const device::Device& device);

/// The division of graphs among the devices of a set.  Where the policy, or
/// that there are several devices, asks for it, links and devices are measured,
/// in a second per device at most, unless `store` has what was measured before.
/// What cannot be measured is assumed, with a warning.
Division DivisionOf(const DeviceSet& set, const compiler::Policy& policy,
                    const std::shared_ptr<device::BinaryStore>& store);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_DEVICE_SET_H_
