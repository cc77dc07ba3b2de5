// Remembers what was printed once.
#include "base/log_once.h"

#include <mutex>
#include <set>

#include "base/fork/fork.h"

namespace tim {

void LogLineOnce(Severity severity, const std::string& text) {
  static constinit std::set<std::string>* printed = nullptr;
  {
    const std::lock_guard lock(ForkMutex());
    if (printed == nullptr) printed = new std::set<std::string>();
    if (!printed->insert(text).second) return;
  }
  LogLine(severity, text);
}

}  // namespace tim
