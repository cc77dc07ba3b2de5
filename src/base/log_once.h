// Messages that would come again and again, and are printed once.
#ifndef TIM_BASE_LOG_ONCE_H_
#define TIM_BASE_LOG_ONCE_H_

#include <string>

#include "base/log.h"

namespace tim {

/// As LogLine; a text that this process has printed so is not printed again.
/// Any thread.
void LogLineOnce(Severity severity, const std::string& text);

/// TIM_LOG of a text that is printed once.
#define TIM_LOG_ONCE(severity, ...)                   \
  do {                                                \
    if (::tim::LogEnabled(::tim::Severity::severity)) \
      ::tim::LogLineOnce(::tim::Severity::severity,   \
                         ::tim::StrCat(__VA_ARGS__)); \
  } while (false)

}  // namespace tim

#endif  // TIM_BASE_LOG_ONCE_H_
