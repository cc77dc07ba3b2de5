// Trace of what the library does, and when: events, which TIMCL_TRACE asks
// for, in the format that chrome://tracing and Perfetto read.
//
// Events are kept per thread and written when there are many, when the last
// ones are a second old, and at the end of the process.  A process forked off
// records nothing.
#ifndef TIM_BASE_TRACE_H_
#define TIM_BASE_TRACE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace tim {

namespace trace_internal {
extern std::atomic<bool> enabled;
}

/// Whether events are recorded.  Any thread; costs a load.
inline bool TraceEnabled() {
  return trace_internal::enabled.load(std::memory_order_relaxed);
}

/// Records from now on, into a file as TraceFile::Create() makes it; nothing
/// where this process records already.  kFailedPrecondition in a process that
/// was forked off one that has recorded.
Status StartTrace(const std::string& path);

/// Writes what was recorded, and ends the trace; spans that are open then are
/// not in it.  The end of the process calls it.
void StopTrace();

/// Nanoseconds of the clock that events are measured with.
int64_t TraceNow();
/// The same where something of this thread begins: its row is no other thread's
/// from then on.
int64_t TraceBegin() noexcept;

/// The span of this thread from its constructor to its destructor.  Where
/// nothing is recorded it costs a branch.
class TraceSpan {
 public:
  /// \param category a name without quotes, "compile", which outlives it.
  /// \param name of the span, with " " and `object` behind it where that is
  /// not empty.
  TraceSpan(const char* category, std::string_view name,
            std::string_view object = {}) {
    if (TraceEnabled()) [[unlikely]] {
      Begin(category, name, object);
    }
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;
  ~TraceSpan() {
    if (open_ != nullptr) [[unlikely]] {
      End();
    }
  }

  /// An argument that viewers show beside the span; `key` without quotes.
  void Add(const char* key, std::string_view text) {
    if (open_ != nullptr) AddText(key, text);
  }
  void Add(const char* key, int64_t number) {
    if (open_ != nullptr) AddNumber(key, number);
  }

 private:
  struct Open;

  void Begin(const char* category, std::string_view name,
             std::string_view object) noexcept;
  void End() noexcept;
  void AddText(const char* key, std::string_view text) noexcept;
  void AddNumber(const char* key, int64_t number) noexcept;

  Open* open_ = nullptr;  // owned
};

/// A moment of this thread, named as a TraceSpan.
void TraceInstant(const char* category, std::string_view name,
                  std::string_view object = {});

/// The text of spans that come again and again, made once.
class TracePattern {
 public:
  struct Part {
    const char* category = "";
    std::string name;
    std::string arguments = {};  ///< "\"kernel\":\"relu\"": members in JSON.
    /// Part of the recorded interval, 0 to 1.
    double begin = 0;
    double end = 1;
  };
  /// Parts that lie in others stand behind them.
  explicit TracePattern(std::span<const Part> parts);

  /// Appends the events of an interval, each with ",\n" before it.
  /// \param head of each, up to when it begins.
  void AppendTo(std::string* out, std::string_view head, int64_t begin,
                int64_t end) const;

 private:
  struct Text {
    std::string rest;  // behind the times
    double begin = 0;
    double end = 1;
  };
  std::vector<Text> parts_;
};

/// A row of its own in the trace, as a queue has it, while it lives.
class TraceTrack {
 public:
  explicit TraceTrack(std::string name);
  TraceTrack(const TraceTrack&) = delete;
  TraceTrack& operator=(const TraceTrack&) = delete;
  ~TraceTrack();

  int number() const { return number_; }

 private:
  const std::string name_;
  int number_ = 0;
};

/// Records an interval on the row of this thread, which TraceBegin() began, or
/// on that of a track; one that ends before it begins is empty.  Cheap: the
/// text is made when it is written.
inline constexpr int kOwnTrack = 0;
void RecordTrace(const std::shared_ptr<const TracePattern>& pattern,
                 int64_t begin, int64_t end, int track = kOwnTrack);

}  // namespace tim

#endif  // TIM_BASE_TRACE_H_
