// What a Compile must know of the devices that its plan will run on.
#ifndef TIM_RUNTIME_COMPILE_OPTIONS_H_
#define TIM_RUNTIME_COMPILE_OPTIONS_H_

#include <memory>
#include <span>

#include "compiler/compiler.h"
#include "device/device.h"

namespace tim::runtime {

/// Options for plans that run on `devices`; the rest are the defaults.
compiler::CompileOptions CompileOptionsFor(
    std::span<const std::shared_ptr<device::Device>> devices);

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_COMPILE_OPTIONS_H_
