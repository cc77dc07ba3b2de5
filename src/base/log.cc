#include "base/log.h"

#include <cstdio>

#include "base/options.h"

namespace tim {

bool LogEnabled(Severity severity) {
  return static_cast<int>(severity) <= GetOptions().log_level;
}

void LogLine(Severity severity, const std::string& text) {
  static constexpr const char* kNames[] = {"off", "error", "warning", "info",
                                           "debug"};
  const std::string line =
      StrCat("tim-cl [", kNames[static_cast<int>(severity)], "] ", text, "\n");
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace tim
