// The file of a trace.
#ifndef TIM_BASE_TRACE_FILE_H_
#define TIM_BASE_TRACE_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace tim {

/// A file with a JSON array, which is whole after every call.  One thread at a
/// time.
class TraceFile {
 public:
  /// Most bytes of a file: viewers take no larger ones.
  static constexpr int64_t kMaxBytes = int64_t{1} << 30;

  /// A regular file, made or emptied; no other process may be writing it.
  /// \param path where "%p" stands for the number of this process.
  /// \param first the first element of the array.
  static Result<std::unique_ptr<TraceFile>> Create(
      const std::string& path, std::string_view first,
      int64_t max_bytes = kMaxBytes);
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  ~TraceFile();

  /// Appends elements, each with ",\n" before it; behind them there is anything
  /// then.  After a failure, as of a full disk or a full file, the array has
  /// those of the calls before.
  Status Append(std::string* elements);

  const std::string& path() const { return path_; }

 private:
  TraceFile(int file, std::string path, int64_t max_bytes)
      : file_(file), path_(std::move(path)), max_bytes_(max_bytes) {}
  Status WriteAt(int64_t offset, std::string_view text) const;

  const int file_;
  const std::string path_;
  const int64_t max_bytes_;
  int64_t size_ = 0;  // without what closes the array
};

}  // namespace tim

#endif  // TIM_BASE_TRACE_FILE_H_
