// Options of Graph::Compile().
#ifndef TIM_VX_COMPILE_OPTION_H_
#define TIM_VX_COMPILE_OPTION_H_

#include <cstdint>
#include <map>
#include <memory>

#include "tim/vx/export.h"

namespace tim {
namespace vx {

/// A plain value: a copy does not change with its original.  A graph takes its
/// options when it is created, or by Graph::SetCompileOption().
class TIM_VX_API CompileOption {
 public:
  constexpr CompileOption() = default;

  bool isRelaxMode() const { return relax_mode_; }
  /// Lets float32 graphs compute in half or bfloat16; no kernel does so yet.
  /// Returns the new value.
  bool setRelaxMode(bool enable = false) { return relax_mode_ = enable; }

  /// The graph runs on platform::IDevice::Enumerate()[device_id]; Compile()
  /// fails where there is none.  TIMCL_DEVICE, where it is set, wins
  /// (Context::Create()).
  void setDeviceId(uint32_t device_id) { device_id_ = device_id; }
  uint32_t getDeviceId() const { return device_id_; }

  /// What Context::CreateGraph() copies.  Change it before threads create
  /// graphs, not while.
  static CompileOption DefaultOptions;

 private:
  bool relax_mode_ = false;
  uint32_t device_id_ = 0;
};

}  // namespace vx
}  // namespace tim

#ifdef ENABLE_PLATFORM
#include "tim/vx/platform/platform.h"
#endif

#endif  // TIM_VX_COMPILE_OPTION_H_
