// Events of threads, from where they are recorded to the file.
#include "base/trace.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <mutex>

#include "base/fork/fork.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/trace_file.h"

namespace tim {

constinit std::atomic<bool> trace_internal::enabled = false;

namespace {

constexpr size_t kMostRecords = 1 << 14;
constexpr size_t kMostText = 1 << 17;
constexpr int64_t kOldest = 1'000'000'000;  // nanoseconds
constexpr int kFirstTrack = 10'000;         // those below are threads

struct Record {
  std::shared_ptr<const TracePattern> pattern;
  int64_t begin = 0;
  int64_t end = 0;
  int track = kOwnTrack;
};

// The events of a thread, and of another one when it has ended.
struct Buffer {
  int number = 0;
  uint32_t forks = Forks();
  std::mutex mutex;
  std::string text;
  std::vector<Record> records;
  int64_t written = 0;  // when it was empty last
};

// Recorder of the process, for good.  A buffer's lock is taken before this
// one's.
struct Recorder {
  const uint32_t forks = Forks();
  const std::string process = StrCat("\"pid\":", getpid());
  std::mutex mutex;
  std::unique_ptr<TraceFile> file;  // null: none is open
  std::string failure;              // why it was closed, to be told
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<Buffer*> unused;
  std::map<int, std::string> names;  // of all rows
  std::map<std::string, std::vector<int>> unused_tracks;
  int next_track = kFirstTrack;
};

constinit std::atomic<Recorder*> g_recorder = nullptr;
// Origin of the clock: times are short text so.
constinit std::atomic<int64_t> g_start = 0;

int64_t Clock() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Null where nothing was recorded yet, or by another process.
Recorder* OwnRecorder() {
  Recorder* const recorder = g_recorder.load(std::memory_order_acquire);
  return recorder != nullptr && recorder->forks == Forks() ? recorder : nullptr;
}

std::string NameOfRow(const Recorder& recorder, int number,
                      const std::string& name) {
  const std::string head =
      StrCat(",\n{\"ph\":\"M\",", recorder.process, ",\"tid\":", number);
  return StrCat(
      head, ",\"name\":\"thread_name\",\"args\":{\"name\":", JsonString(name),
      "}}", head,
      ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":", number,
      "}}");
}

// The recorder's lock is held, as in what follows.
void Append(Recorder& recorder, std::string* events) {
  if (recorder.file == nullptr) return;
  const Status status = recorder.file->Append(events);
  if (status.ok()) return;
  trace_internal::enabled = false;
  recorder.file = nullptr;
  recorder.failure = status.message();
}

void AddRow(Recorder& recorder, int number, std::string name) {
  std::string row = NameOfRow(recorder, number, name);
  Append(recorder, &row);
  recorder.names.emplace(number, std::move(name));
}

// Without a lock: whoever logs may ask for the options, which start a trace.
void TellFailure(Recorder& recorder) {
  std::string failure;
  {
    const std::lock_guard lock(recorder.mutex);
    failure.swap(recorder.failure);
  }
  if (!failure.empty()) TIM_LOG(kWarning, failure);
}

Buffer* TakeBuffer(Recorder& recorder) {
  const std::lock_guard lock(recorder.mutex);
  if (!recorder.unused.empty()) {
    Buffer* const buffer = recorder.unused.back();
    recorder.unused.pop_back();
    return buffer;
  }
  Buffer& made = *recorder.buffers.emplace_back(std::make_unique<Buffer>());
  made.number = static_cast<int>(recorder.buffers.size());
  made.written = TraceNow();
  const bool is_main = gettid() == getpid();
  AddRow(recorder, made.number,
         is_main ? "main thread" : StrCat("thread ", made.number));
  return &made;
}

thread_local Buffer* t_buffer = nullptr;
thread_local bool t_ended = false;

// Gives the thread's buffer to the next one.
struct AtEndOfThread {
  ~AtEndOfThread() {
    t_ended = true;
    Recorder* const recorder = OwnRecorder();
    Buffer* const buffer = std::exchange(t_buffer, nullptr);
    if (buffer == nullptr || recorder == nullptr) return;
    const std::lock_guard lock(recorder->mutex);
    recorder->unused.push_back(buffer);
  }
};
thread_local AtEndOfThread t_at_end;

// Null where the thread ends, or has no recorder.
Buffer* OwnBuffer() {
  if (t_buffer != nullptr || t_ended) return t_buffer;
  Recorder* const recorder = OwnRecorder();
  if (recorder == nullptr) return nullptr;
  static_cast<void>(&t_at_end);  // its destructor is registered from here on
  return t_buffer = TakeBuffer(*recorder);
}

void AppendMicroseconds(std::string* out, int64_t nanoseconds) {
  std::array<char, 32> text;
  const int64_t part = nanoseconds % 1000;
  char* end = std::to_chars(text.data(), text.data() + text.size() - 4,
                            nanoseconds / 1000)
                  .ptr;
  *end++ = '.';
  *end++ = static_cast<char>('0' + part / 100);
  *end++ = static_cast<char>('0' + part / 10 % 10);
  *end++ = static_cast<char>('0' + part % 10);
  out->append(text.data(), end);
}

// Text of a span, up to when it begins; `row` as TrackText() gives it.
std::string HeadOf(std::string_view row) {
  return StrCat(",\n{\"ph\":\"X\",", row, ",\"ts\":");
}

// `rest` closes the event.
void AppendSpan(std::string* out, std::string_view head, int64_t begin,
                int64_t end, std::string_view rest) {
  *out += head;
  AppendMicroseconds(out, begin);
  *out += ",\"dur\":";
  AppendMicroseconds(out, std::max<int64_t>(0, end - begin));
  *out += rest;
}

std::string TrackText(const Recorder& recorder, int number) {
  return StrCat(recorder.process, ",\"tid\":", number);
}

void AppendTo(Recorder& recorder, std::string* events) {
  {
    const std::lock_guard lock(recorder.mutex);
    Append(recorder, events);
  }
  events->clear();
  TellFailure(recorder);
}

// The buffer's lock is held.
void Write(Recorder& recorder, Buffer& buffer, int64_t now) {
  std::string& events = buffer.text;
  int track = -1;
  std::string head;
  for (const Record& record : buffer.records) {
    if (events.size() > kMostText) AppendTo(recorder, &events);
    if (record.track != track) {
      track = record.track;
      head = HeadOf(
          TrackText(recorder, track == kOwnTrack ? buffer.number : track));
    }
    record.pattern->AppendTo(&events, head, record.begin, record.end);
  }
  AppendTo(recorder, &events);
  buffer.records.clear();
  buffer.written = now;
}

void WriteIfFull(Buffer& buffer, int64_t now) {
  if (buffer.records.size() < kMostRecords && buffer.text.size() < kMostText &&
      now - buffer.written < kOldest) {
    return;
  }
  Recorder* const recorder = OwnRecorder();
  if (recorder != nullptr) Write(*recorder, buffer, now);
}

std::string RestOf(const char* category, std::string_view name,
                   std::string_view arguments) {
  return StrCat(",\"cat\":\"", category, "\",\"name\":", JsonString(name),
                arguments.empty() ? "" : ",\"args\":{", arguments,
                arguments.empty() ? "}" : "}}");
}

std::string FullName(std::string_view name, std::string_view object) {
  return object.empty() ? std::string(name) : StrCat(name, " ", object);
}

// `add` appends to the text of this thread's buffer.
template <typename Add>
void AddToText(int64_t now, const Add& add) {
  Buffer* const buffer = OwnBuffer();
  Recorder* const recorder = OwnRecorder();
  if (buffer == nullptr || recorder == nullptr) return;
  const std::lock_guard lock(buffer->mutex);
  add(&buffer->text, TrackText(*recorder, buffer->number));
  WriteIfFull(*buffer, now);
}

// No memory for an event is no failure of what is traced.
template <typename Call>
void IgnoreExceptions(const Call& call) noexcept {
  try {
    call();
  } catch (...) {
    trace_internal::enabled = false;
  }
}

Recorder& MakeRecorder() {
  Recorder* recorder = g_recorder.load(std::memory_order_acquire);
  if (recorder != nullptr) return *recorder;
  auto made = std::make_unique<Recorder>();
  if (!g_recorder.compare_exchange_strong(recorder, made.get(),
                                          std::memory_order_acq_rel)) {
    return *recorder;
  }
  g_start = Clock();
  static_cast<void>(std::atexit(StopTrace));
  pthread_atfork(nullptr, nullptr, [] { trace_internal::enabled = false; });
  return *made.release();
}

}  // namespace

int64_t TraceNow() { return Clock() - g_start.load(std::memory_order_relaxed); }

int64_t TraceBegin() noexcept {
  IgnoreExceptions([] { OwnBuffer(); });
  return TraceNow();
}

Status StartTrace(const std::string& path) {
  Recorder& recorder = MakeRecorder();
  if (recorder.forks != Forks()) {
    return FailedPrecondition(
        "a process that was forked off a traced one has no trace");
  }
  const std::lock_guard lock(recorder.mutex);
  if (recorder.file != nullptr) return OkStatus();
  TIM_ASSIGN_OR_RETURN(
      recorder.file,
      TraceFile::Create(path, StrCat("{\"ph\":\"M\",", recorder.process,
                                     ",\"name\":\"process_name\",\"args\":{"
                                     "\"name\":\"tim-cl\"}}")));
  for (const auto& [number, name] : recorder.names) {
    std::string row = NameOfRow(recorder, number, name);
    Append(recorder, &row);
  }
  trace_internal::enabled = recorder.file != nullptr;
  return OkStatus();
}

void StopTrace() {
  Recorder* const recorder = OwnRecorder();
  if (recorder == nullptr) return;
  trace_internal::enabled = false;
  IgnoreExceptions([recorder] {
    std::vector<Buffer*> buffers;
    {
      const std::lock_guard lock(recorder->mutex);
      for (const auto& buffer : recorder->buffers) {
        buffers.push_back(buffer.get());
      }
    }
    for (Buffer* const buffer : buffers) {
      const std::lock_guard lock(buffer->mutex);
      Write(*recorder, *buffer, TraceNow());
    }
  });
  const std::lock_guard lock(recorder->mutex);
  recorder->file = nullptr;
}

struct TraceSpan::Open {
  const char* category = "";
  std::string name;
  std::string arguments = {};
  int64_t begin = 0;
};

void TraceSpan::Begin(const char* category, std::string_view name,
                      std::string_view object) noexcept {
  IgnoreExceptions([&] {
    open_ = new Open{.category = category, .name = FullName(name, object)};
    open_->begin = TraceBegin();
  });
}

void TraceSpan::End() noexcept {
  const int64_t end = TraceNow();
  const std::unique_ptr<Open> open(open_);
  if (!TraceEnabled()) return;  // of a process forked off meanwhile, too
  IgnoreExceptions([&] {
    const std::string rest =
        RestOf(open->category, open->name, open->arguments);
    AddToText(end, [&](std::string* text, const std::string& track) {
      AppendSpan(text, HeadOf(track), open->begin, end, rest);
    });
  });
}

void TraceSpan::AddText(const char* key, std::string_view text) noexcept {
  IgnoreExceptions([&] {
    open_->arguments += StrCat(open_->arguments.empty() ? "" : ",", "\"", key,
                               "\":", JsonString(text));
  });
}

void TraceSpan::AddNumber(const char* key, int64_t number) noexcept {
  IgnoreExceptions([&] {
    open_->arguments +=
        StrCat(open_->arguments.empty() ? "" : ",", "\"", key, "\":", number);
  });
}

void TraceInstant(const char* category, std::string_view name,
                  std::string_view object) {
  if (!TraceEnabled()) return;
  const int64_t now = TraceNow();
  IgnoreExceptions([&] {
    const std::string rest = RestOf(category, FullName(name, object), {});
    AddToText(now, [&](std::string* text, const std::string& track) {
      *text += StrCat(",\n{\"ph\":\"i\",\"s\":\"t\",", track, ",\"ts\":");
      AppendMicroseconds(text, now);
      *text += rest;
    });
  });
}

TracePattern::TracePattern(std::span<const Part> parts) {
  for (const Part& part : parts) {
    parts_.push_back({.rest = RestOf(part.category, part.name, part.arguments),
                      .begin = std::clamp(part.begin, 0.0, 1.0),
                      .end = std::clamp(part.end, 0.0, 1.0)});
  }
}

void TracePattern::AppendTo(std::string* out, std::string_view head,
                            int64_t begin, int64_t end) const {
  const auto length = static_cast<double>(std::max<int64_t>(0, end - begin));
  for (const Text& part : parts_) {
    AppendSpan(out, head, begin + static_cast<int64_t>(part.begin * length),
               begin + static_cast<int64_t>(part.end * length), part.rest);
  }
}

TraceTrack::TraceTrack(std::string name) : name_(std::move(name)) {
  Recorder* const recorder = OwnRecorder();
  if (recorder == nullptr) return;
  const std::lock_guard lock(recorder->mutex);
  std::vector<int>& unused = recorder->unused_tracks[name_];
  if (!unused.empty()) {
    number_ = unused.back();
    unused.pop_back();
    return;
  }
  number_ = recorder->next_track++;
  AddRow(*recorder, number_, name_);
}

TraceTrack::~TraceTrack() {
  Recorder* const recorder = OwnRecorder();
  if (recorder == nullptr || number_ == kOwnTrack) return;
  IgnoreExceptions([&] {
    const std::lock_guard lock(recorder->mutex);
    recorder->unused_tracks[name_].push_back(number_);
  });
}

void RecordTrace(const std::shared_ptr<const TracePattern>& pattern,
                 int64_t begin, int64_t end, int track) {
  if (!TraceEnabled()) return;
  IgnoreExceptions([&] {
    Buffer* const buffer = OwnBuffer();
    if (buffer == nullptr) return;
    const std::lock_guard lock(buffer->mutex);
    buffer->records.push_back({pattern, begin, end, track});
    WriteIfFull(*buffer, end);
  });
}

}  // namespace tim
