// What a program is built from, and its identity.
#ifndef TIM_DEVICE_OPENCL_PROGRAM_SOURCE_H_
#define TIM_DEVICE_OPENCL_PROGRAM_SOURCE_H_

#include <string>
#include <string_view>

#include "base/status.h"
#include "ir/step.h"

namespace tim::device {

struct ProgramSource {
  std::string name;       ///< For messages: "ops/softmax.cl", "kernel 'f'".
  std::string_view text;  ///< Embedded, or of the launch.
  std::string options;    ///< Complete, as the compiler gets them.
  std::string key;        ///< Hash of text, options and device.
  bool embedded = false;  ///< Ours, not the user's.
};

/// `identity` names the device and its driver.  The launch must outlive it.
Result<ProgramSource> SourceOf(const ir::KernelLaunch& launch,
                               std::string_view identity);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_PROGRAM_SOURCE_H_
