// Messages to stderr or to the client, filtered by TIMCL_LOG.
#ifndef TIM_BASE_LOG_H_
#define TIM_BASE_LOG_H_

#include <functional>
#include <string>

#include "base/str_cat.h"

namespace tim {

enum class Severity {
  kOff = 0,
  kError = 1,
  kWarning = 2,
  kInfo = 3,
  kDebug = 4
};

/// True where a message of `severity` would be printed.  Any thread.
bool LogEnabled(Severity severity);

/// Prints "tim-cl [warning] text", or hands it to the sink.  Any thread; lines
/// do not mix.
void LogLine(Severity severity, const std::string& text);

/// Takes messages in place of stderr, on the thread that logs.
using LogSink = std::function<void(Severity severity, const char* text)>;

/// From now on messages go to `sink`; null: to stderr.  Any thread; calls that
/// have begun may end later.  What the sink itself logs, and what it throws at,
/// goes to stderr.
void SetLogSink(LogSink sink);

/// TIM_LOG(kWarning, "tensor ", id, " is never read"): the arguments are
/// evaluated only where the message is printed.
#define TIM_LOG(severity, ...)                                               \
  do {                                                                       \
    if (::tim::LogEnabled(::tim::Severity::severity))                        \
      ::tim::LogLine(::tim::Severity::severity, ::tim::StrCat(__VA_ARGS__)); \
  } while (false)

}  // namespace tim

#endif  // TIM_BASE_LOG_H_
