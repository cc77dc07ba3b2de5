// The public face of the log's sink.
#include <utility>

#include "base/log.h"
#include "tim/vx/log.h"

namespace tim::vx {

void SetLogCallback(LogCallback callback) {
  if (callback == nullptr) return SetLogSink(nullptr);
  SetLogSink([call = std::move(callback)](Severity severity, const char* text) {
    call(static_cast<LogLevel>(severity), text);
  });
}

}  // namespace tim::vx
