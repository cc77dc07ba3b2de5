// Messages of a thread, for somebody who keeps them beside what they are about.
#ifndef TIM_BASE_LOG_CAPTURE_H_
#define TIM_BASE_LOG_CAPTURE_H_

#include <string>
#include <vector>

#include "base/log.h"

namespace tim {

/// Keeps the warnings and errors that its thread logs during its life, as many
/// as kMostLines; they are printed, too.  Within another one both keep them.
class LogCapture {
 public:
  static constexpr size_t kMostLines = 200;

  LogCapture();
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;
  ~LogCapture();

  const std::vector<std::string>& lines() const { return lines_; }

  /// Lines of the innermost capture of this thread; none where there is none.
  static std::vector<std::string> CurrentLines();
  /// Called by LogLine().
  static void Keep(Severity severity, const std::string& text);

 private:
  LogCapture* const outer_;
  std::vector<std::string> lines_;
};

}  // namespace tim

#endif  // TIM_BASE_LOG_CAPTURE_H_
