// Failures of the front: texts in handles, and the last one of each thread.
#ifndef TIM_VALUES_FAILURE_H_
#define TIM_VALUES_FAILURE_H_

#include <string>
#include <string_view>

#include "base/status.h"

namespace tim::values::internal {

/// The message becomes this thread's LastError(); returns it.  A failure never
/// has an empty text.
std::string Fail(const Status& status);
std::string Fail(std::string_view text);

}  // namespace tim::values::internal

#endif  // TIM_VALUES_FAILURE_H_
