// Arguments of launches by the parameters of the library's kernels.
#ifndef TIM_KERNELS_LAUNCH_ARGUMENTS_H_
#define TIM_KERNELS_LAUNCH_ARGUMENTS_H_

#include "base/status.h"
#include "ir/step.h"

namespace tim::kernels {

/// Ok where the arguments of a launch of an embedded kernel are those that the
/// kernel has with the launch's options, in their order: names, kinds and, of
/// tensors, the bytes of an element; and where the text reads the options. Else
/// kInternal names kernel, file and the first difference.  Fields of structs
/// are given in any order, each once; they are brought into that of the type,
/// and the struct is told its type.  No device is asked: the build has read the
/// texts.  A microsecond, where the same kernel was looked at with the same
/// options.  Any thread.
Status BindArguments(ir::KernelLaunch* launch);

}  // namespace tim::kernels

#endif  // TIM_KERNELS_LAUNCH_ARGUMENTS_H_
