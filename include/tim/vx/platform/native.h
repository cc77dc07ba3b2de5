// The devices of this process.
#ifndef TIM_VX_PLATFORM_NATIVE_H_
#define TIM_VX_PLATFORM_NATIVE_H_

#include <memory>
#include <vector>

#include "tim/vx/export.h"
#include "tim/vx/platform/platform.h"

namespace tim {
namespace vx {
namespace platform {

class TIM_VX_API NativeDevice : public IDevice {
 public:
  /// Not implemented yet: empty, with tim::vx::LastError().
  static std::vector<std::shared_ptr<IDevice>> Enumerate();
};

class NativeExecutor : public IExecutor {};

class NativeExecutable : public IExecutable {};

class NativeTensorHandle : public ITensorHandle {};

}  // namespace platform
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_PLATFORM_NATIVE_H_
