// Failures of the calls of tim::devices.
#ifndef TIM_DEVICES_FAILURE_H_
#define TIM_DEVICES_FAILURE_H_

#include <string>

#include "base/status.h"

namespace tim::devices {

/// The text of LastError() on this thread.
std::string& ThreadError();

/// Keeps and logs a failure; false, for callers to return.
bool Fail(const Status& status);

}  // namespace tim::devices

#endif  // TIM_DEVICES_FAILURE_H_
