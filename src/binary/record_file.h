// The record of a graph: what it ran on, and its last run.
#ifndef TIM_BINARY_RECORD_FILE_H_
#define TIM_BINARY_RECORD_FILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "binary/blob.h"
#include "binary/encoding.h"

namespace tim::binary {

/// One thing that the graph ran on or with.
struct Fact {
  std::string name;
  std::string value;
  bool operator==(const Fact&) const = default;
};

enum class RunEnd : uint8_t {
  kNoRun,    ///< No run is recorded.
  kUnknown,  ///< It has begun, and the process told nothing since.
  kDone,
  kFailed,
};

struct Record {
  std::vector<Fact> facts;
  uint64_t run = 0;  ///< Number of the run, from 1; 0: none is recorded.
  RunEnd end = RunEnd::kNoRun;
  std::string message;  ///< Reason, of a run that has failed.
  /// Bytes by port of the binary graph; empty where nothing is recorded.
  std::vector<std::span<const std::byte>> inputs;
  std::vector<std::span<const std::byte>> outputs;
  /// Warnings and errors that Compile and the run have logged, in order.
  std::vector<std::string> messages;
};

/// The bytes of inputs and outputs must stay until the encoding is written.
Encoding EncodeRecord(const Record& record);

/// The record in `blob`, which keeps its bytes: data has the size of its port.
/// Whatever the bytes are, what is no record is refused.
Result<Record> ReadRecord(const Blob& blob);

}  // namespace tim::binary

#endif  // TIM_BINARY_RECORD_FILE_H_
