// A built-in kernel's text in a form that stands beside others in a program.
#ifndef TIM_DEVICE_OPENCL_CHAIN_CHAIN_TEXT_H_
#define TIM_DEVICE_OPENCL_CHAIN_CHAIN_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tim::device {

/// Of one embedded .cl file after its headers.  A header whose guard starts
/// with TIM_ONCE_ is the same whatever the options, those of a chain at least:
/// a program has it once, by its guard.  All other text is repeated for each
/// set of options, under names of its own.
struct ChainText {
  /// The file with its kernels as functions that are told their work-item,
  /// tim_x, tim_y and tim_z.
  std::string functions;
  /// Where TIMCL_CHECK_NAMES is set, each kernel has an empty twin before it,
  /// which keeps its parameters for the driver to tell: NamesKernel(kernel).
  std::vector<std::string> function_names;  ///< To be renamed for each copy.
  std::vector<std::string> macro_names;     ///< To be undefined after each.
  bool contracts = true;  ///< No FP_CONTRACT OFF stands in it.
};

/// Name of the twin of a kernel.
std::string NamesKernel(std::string_view function);

/// Made once per file and headers, then kept.  kUnimplemented says what cannot
/// be part of a chain: barriers, local memory, names that only the preprocessor
/// knows. Any thread.
Result<const ChainText*> FindChainText(
    const std::string& source, const std::vector<std::string>& headers = {});

}  // namespace tim::device

#endif  // TIM_DEVICE_OPENCL_CHAIN_CHAIN_TEXT_H_
