#include "base/log_once.h"

#include <mutex>
#include <set>

namespace tim {

void LogLineOnce(Severity severity, const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> printed;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (!printed.insert(text).second) return;
  }
  LogLine(severity, text);
}

}  // namespace tim
