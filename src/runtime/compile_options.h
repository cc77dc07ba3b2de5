// What a Compile must know of the devices that its plan will run on.
#ifndef TIM_RUNTIME_COMPILE_OPTIONS_H_
#define TIM_RUNTIME_COMPILE_OPTIONS_H_

#include <memory>
#include <vector>

#include "compiler/compiler.h"
#include "device/device.h"

namespace tim::runtime {

/// Options with `devices` and all that follows from them; the rest are the
/// defaults.  They keep the devices.
compiler::CompileOptions CompileOptionsFor(
    std::vector<std::shared_ptr<device::Device>> devices);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_COMPILE_OPTIONS_H_
