// Destination of the lines that the library logs.
#ifndef TIM_VX_LOG_H_
#define TIM_VX_LOG_H_

#include <functional>

#include "tim/vx/export.h"

namespace tim {
namespace vx {

enum class LogLevel { kError = 1, kWarning = 2, kInfo = 3, kDebug = 4 };

/// `text` is one message without prefix, valid during the call; it may hold
/// line breaks, as build logs do.
using LogCallback = std::function<void(LogLevel level, const char* text)>;

/// From now on `callback` gets the messages of the process that TIMCL_LOG lets
/// pass (by default warnings and errors), in place of stderr; null: stderr
/// again.  Any thread.
///
/// It is called on the thread that has something to say, by several at a time,
/// and by threads of the library; one that has begun may end after this
/// function has returned.  It may call the library: what that logs on the same
/// thread goes to stderr.  If it throws, the message goes to stderr, behind
/// what was thrown.
TIM_VX_API void SetLogCallback(LogCallback callback);

}  // namespace vx
}  // namespace tim

#endif  // TIM_VX_LOG_H_
