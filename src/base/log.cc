// Where messages go: to the client's sink, else to stderr.
#include "base/log.h"

#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>

#include "base/fork/fork.h"
#include "base/guarded.h"
#include "base/log_capture.h"
#include "base/options.h"

namespace tim {
namespace {

using SharedSink = std::shared_ptr<const LogSink>;

// Guarded by ForkMutex(); never destroyed, as others may log to the end.
SharedSink& CurrentSink() {
  static constinit SharedSink* sink = nullptr;
  if (sink == nullptr) sink = new SharedSink();
  return *sink;
}

void Print(Severity severity, const std::string& text) {
  static constexpr const char* kNames[] = {"off", "error", "warning", "info",
                                           "debug"};
  const std::string line =
      StrCat("tim-cl [", kNames[static_cast<int>(severity)], "] ", text, "\n");
  std::fwrite(line.data(), 1, line.size(), stderr);
}

// False where it is the sink that logs.
bool HandTo(const LogSink& sink, Severity severity, const std::string& text) {
  thread_local bool in_sink = false;
  if (in_sink) return false;
  in_sink = true;
  const Status status = GuardedCall([&] {
    sink(severity, text.c_str());
    return OkStatus();
  });
  in_sink = false;
  if (status.ok()) return true;
  Print(Severity::kError,
        StrCat("the log callback failed: ", status.message()));
  return false;
}

}  // namespace

bool LogEnabled(Severity severity) {
  return static_cast<int>(severity) <= GetOptions().log_level;
}

void LogLine(Severity severity, const std::string& text) {
  LogCapture::Keep(severity, text);
  SharedSink sink;
  {
    const std::lock_guard lock(ForkMutex());
    sink = CurrentSink();
  }
  if (sink == nullptr || !HandTo(*sink, severity, text)) Print(severity, text);
}

void SetLogSink(LogSink sink) {
  SharedSink next = sink == nullptr
                        ? nullptr
                        : std::make_shared<const LogSink>(std::move(sink));
  const std::lock_guard lock(ForkMutex());
  CurrentSink().swap(next);
}

}  // namespace tim
