// A kernel's text in a form that stands beside others in a program.
#ifndef TIM_KERNELS_CHAIN_TEXT_H_
#define TIM_KERNELS_CHAIN_TEXT_H_

#include <string>

#include "base/status.h"
#include "ir/step.h"

namespace tim::kernels {

/// Line of a text that comes at run time before what is of no header.  Who
/// writes it keeps what a chain asks for: arguments of the kinds of the
/// parameters, no pragma but FP_CONTRACT, no attribute, and nothing of a
/// work-item or a work-group but get_global_id() in the kernel itself.  Texts
/// without it are in no chain.
inline constexpr char kOwnTextLine[] = "#line 1 \"expression\"\n";

/// The text of a launch, after its headers: see KernelFacts.
struct ChainText {
  /// The text with its kernels as functions that are told their work-item,
  /// tim_x, tim_y and tim_z.
  std::string functions;
  /// Names of functions and types, to be renamed for each copy; spaces are
  /// between them.
  std::string names;
  std::string macros;     ///< Names to be undefined after each copy.
  bool contracts = true;  ///< No FP_CONTRACT OFF stands in it.
};

/// Ok where the texts of the launch can be part of a chain; kUnimplemented says
/// why not.  Any thread.
Status CheckChainText(const ir::KernelLaunch& launch);

/// Fails as CheckChainText() does.
Result<ChainText> ChainTextOf(const ir::KernelLaunch& launch);

}  // namespace tim::kernels

#endif  // TIM_KERNELS_CHAIN_TEXT_H_
