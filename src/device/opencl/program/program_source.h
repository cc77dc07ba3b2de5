// What a program is built from, and its identity.
#ifndef TIM_DEVICE_OPENCL_PROGRAM_PROGRAM_SOURCE_H_
#define TIM_DEVICE_OPENCL_PROGRAM_PROGRAM_SOURCE_H_

#include <string>
#include <string_view>

#include "base/status.h"
#include "ir/step.h"

namespace tim::device {

/// OpenCL C 1.2 is what every device has: of programs that ask for no other.
inline constexpr std::string_view kDefaultStandard = "-cl-std=CL1.2";

struct ProgramSource {
  std::string name;  ///< For messages: "ops/normalization/softmax.cl".
  /// Stands before `text`: kernels::kPreamble and the launch's headers, and
  /// before a user's kernel the pragma that halves need and what lowers images;
  /// before a text of the launch a #line directive, so that the compiler's log
  /// shows the lines of its author.
  std::string head;
  std::string_view text;  ///< Embedded, or of the launch.
  std::string options;    ///< Complete, as the compiler gets them.
  /// Hash of text, options and device, not of `name`.
  std::string key;
  /// Whether text and options are all that the program is made of, so that a
  /// binary of that key may be kept.
  bool complete = true;
  bool user = false;  ///< Not ours: its signatures are to be checked.
};

/// `identity` names the device and its driver.  The launch must outlive it.
Result<ProgramSource> SourceOf(const ir::KernelLaunch& launch,
                               std::string_view identity);
ProgramSource SourceOf(const ir::UserLaunch& launch, std::string_view identity);

/// Of a chain; `text` must outlive it.
ProgramSource SourceOfChain(std::string_view text, std::string_view identity);

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_PROGRAM_PROGRAM_SOURCE_H_
