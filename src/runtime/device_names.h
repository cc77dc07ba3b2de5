// Names of devices: "opencl:0/2.1".
#ifndef TIM_RUNTIME_DEVICE_NAMES_H_
#define TIM_RUNTIME_DEVICE_NAMES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tim::runtime {

struct DeviceName {
  std::string kind;           ///< "host", "opencl", "auto", "all", ...
  std::optional<int> number;  ///< Behind ":".
  int parts = 0;              ///< Behind "/"; 0: the whole device.
  bool by_memory = false;     ///< "/numa": a part per memory domain.
  std::optional<int> part;    ///< Behind "."; none: all parts.
};

/// "opencl:0,host": names with "," between.  kInvalidArgument tells the forms
/// that there are.
Result<std::vector<DeviceName>> ParseDeviceNames(std::string_view list);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_DEVICE_NAMES_H_
