// Which arguments the kernels of a custom operator get.
#ifndef TIM_VX_USER_CUSTOM_ARGUMENTS_H_
#define TIM_VX_USER_CUSTOM_ARGUMENTS_H_

#include <cstddef>
#include <vector>

#include "base/status.h"
#include "vx/operation/custom_means.h"

namespace tim::vx {

/// How many of each kind the operator has, in the order of the parameters.
struct ArgumentCounts {
  size_t inputs = 0;
  size_t outputs = 0;
  size_t scratch = 0;
  size_t tables = 0;
  size_t locals = 0;
  size_t scalars = 0;
};

/// Gives each of `kernels`, that of func_name_ first, the arguments that
/// `means` says, or everything.  Fails where there is no such argument, where a
/// kernel gets twice what it may write, and where no kernel gets an output, an
/// optional input, or what the operator has added.
Status SetArguments(const CustomMeans& means, const ArgumentCounts& counts,
                    std::vector<CustomKernel>* kernels);

/// "input", "scratch": as messages count them.
const char* ToString(ops::KernelArg::Kind kind);

}  // namespace tim::vx

#endif  // TIM_VX_USER_CUSTOM_ARGUMENTS_H_
