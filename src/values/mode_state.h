// Mode and device of the calls of a thread.
#ifndef TIM_VALUES_MODE_STATE_H_
#define TIM_VALUES_MODE_STATE_H_

#include <memory>

#include "tim/values/mode.h"
#include "values/device_state.h"

namespace tim::values::internal {

struct ModeState {
  Mode mode = Mode::kEager;
  std::shared_ptr<DeviceState> device = nullptr;  ///< Null: no scope says.
};

/// Device of the innermost scope of this thread that names one, or null.
std::shared_ptr<DeviceState> CurrentDevice();

}  // namespace tim::values::internal

#endif  // TIM_VALUES_MODE_STATE_H_
