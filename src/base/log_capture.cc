// The captures of each thread, the innermost first.
#include "base/log_capture.h"

namespace tim {
namespace {

LogCapture*& Innermost() {
  thread_local constinit LogCapture* innermost = nullptr;
  return innermost;
}

}  // namespace

LogCapture::LogCapture() : outer_(Innermost()) { Innermost() = this; }

LogCapture::~LogCapture() { Innermost() = outer_; }

std::vector<std::string> LogCapture::CurrentLines() {
  const LogCapture* const innermost = Innermost();
  return innermost == nullptr ? std::vector<std::string>() : innermost->lines_;
}

void LogCapture::Keep(Severity severity, const std::string& text) {
  if (severity > Severity::kWarning) return;
  for (LogCapture* at = Innermost(); at != nullptr; at = at->outer_) {
    if (at->lines_.size() < kMostLines) at->lines_.push_back(text);
  }
}

}  // namespace tim
