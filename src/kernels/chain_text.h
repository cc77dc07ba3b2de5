// A built-in kernel's text in a form that stands beside others in a program.
#ifndef TIM_KERNELS_CHAIN_TEXT_H_
#define TIM_KERNELS_CHAIN_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tim::kernels {

/// Whether a program keeps the names of its kernels' parameters, for the driver
/// to tell: each kernel then has an empty twin before it, NamesKernel(kernel).
enum class ChainNames : uint8_t { kDropped, kKept };

/// Of one embedded .cl file after its headers.  A header whose guard starts
/// with TIM_ONCE_ is the same whatever the options, those of a chain at least:
/// a program has it once, by its guard.  All other text is repeated for each
/// set of options, under names of its own.
struct ChainText {
  /// The file with its kernels as functions that are told their work-item,
  /// tim_x, tim_y and tim_z.
  std::string functions;
  /// Of functions and types, to be renamed for each copy.
  std::vector<std::string> names;
  std::vector<std::string> macro_names;  ///< To be undefined after each.
  bool contracts = true;                 ///< No FP_CONTRACT OFF stands in it.
};

/// Name of the twin of a kernel.
std::string NamesKernel(std::string_view function);

/// Made once per file, headers and names, then kept.  kUnimplemented says what
/// cannot be part of a chain: barriers, local memory, names that only the
/// preprocessor knows. Any thread.
Result<const ChainText*> FindChainText(
    const std::string& source, const std::vector<std::string>& headers = {},
    ChainNames names = ChainNames::kDropped);

}  // namespace tim::kernels

#endif  // TIM_KERNELS_CHAIN_TEXT_H_
