// The names that TIM-VX's platform for its small runtime has.
#ifndef TIM_VX_PLATFORM_LITE_LITE_NATIVE_H_
#define TIM_VX_PLATFORM_LITE_LITE_NATIVE_H_

#include "tim/vx/export.h"
#include "tim/vx/platform/native.h"

namespace tim {
namespace vx {
namespace platform {

class TIM_VX_API LiteNativeDevice : public NativeDevice {
 public:
  using NativeDevice::NativeDevice;

  /// Nothing has to be initialised: true.
  static bool vip_initialized;
};

using LiteNativeExecutor = NativeExecutor;
using LiteNativeExecutable = NativeExecutable;
using LiteNativeTensorHandle = NativeTensorHandle;

}  // namespace platform
}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_PLATFORM_LITE_LITE_NATIVE_H_
