// What the runtime needs of a device: memory, streams, prepared steps.
//
// Three implementations: host, opencl, and the tests' fake device.  Every
// function returns errors as Status; device loss, memory exhaustion and build
// failures have codes of their own.  Device: any thread.  Stream and
// PreparedStep: one thread at a time.
#ifndef TIM_DEVICE_DEVICE_H_
#define TIM_DEVICE_DEVICE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/device_info.h"
#include "ir/step.h"
#include "ir/tensor_desc.h"

namespace tim::device {

/// Memory of one device; freed by its destructor.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual int64_t bytes() const = 0;
  /// Address in this process, null where the host cannot reach it.
  virtual void* host_address() const { return nullptr; }
};

struct BufferRange {
  Buffer* buffer = nullptr;
  int64_t offset = 0;  ///< In bytes.
  int64_t bytes = 0;
};

/// A fence in a stream.
class Event {
 public:
  virtual ~Event() = default;
  /// Blocks until the fence has come; the first error of the work since the
  /// stream's event before this one.
  virtual Status Wait() = 0;
};

/// A step made ready once, enqueued many times.
class PreparedStep {
 public:
  virtual ~PreparedStep() = default;
};

/// Work of one device, done in order.  Only Event::Wait blocks, and perhaps the
/// destructor, until the work is done.
class Stream {
 public:
  virtual ~Stream() = default;
  /// `operands` in the order of the step's action.  The ranges, not the span,
  /// must stay valid until the work is done.
  virtual Status Enqueue(PreparedStep& step,
                         std::span<const BufferRange> operands) = 0;
  /// Between two buffers of this device, or one of it and one with a host
  /// address; `source.bytes` bytes.  Host memory must stay unchanged until a
  /// later event is reached.
  virtual Status Copy(BufferRange source, BufferRange destination) = 0;
  /// An event that is reached when everything enqueued so far is done; work is
  /// submitted to the device.  `done`: an event recorded earlier that nobody
  /// needs any more, whose memory is then used again; or null.
  virtual Result<std::unique_ptr<Event>> Record(
      std::unique_ptr<Event> done) = 0;
  Result<std::unique_ptr<Event>> Record() { return Record(nullptr); }
  /// Later work starts after `event`, which is of a device with the same
  /// domain.  (For others the runtime waits on the host.)
  virtual Status WaitFor(Event& event) = 0;
  /// Of memory that the device imported: what the host has written is visible
  /// to later work; what earlier work has written is visible to the host once a
  /// later event is reached.
  virtual Status SynchronizeToDevice(Buffer&) { return OkStatus(); }
  virtual Status SynchronizeToHost(Buffer&) { return OkStatus(); }
};

/// Keeps built programs, in memory and on disk; implemented by the runtime's
/// program cache.  Any thread.
class BinaryStore {
 public:
  virtual ~BinaryStore() = default;
  virtual std::optional<std::string> Load(std::string_view key) = 0;
  virtual void Store(std::string_view key, std::string_view bytes) = 0;
  /// Whether Store keeps anything.  Drivers that build kernels at their first
  /// use, as PoCL, build all of a program's for its binary.
  virtual bool keeps() const { return true; }
  /// Counts a program that had to be built from source.
  virtual void CountBuild() = 0;
};

/// An action of a chain, and what it works on.
struct ChainLink {
  const ir::Action* action = nullptr;
  /// Per operand: a number that operands in the same buffer share, counted from
  /// 0 over the whole chain.
  std::vector<int> buffers;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const ir::DeviceInfo& info() const = 0;
  /// Devices of equal domain share events and memory.
  virtual const void* domain() const = 0;

  virtual Result<std::unique_ptr<Buffer>> Allocate(int64_t bytes,
                                                   ir::MemoryKind kind) = 0;
  /// Memory of the caller, which must outlive the buffer.  kUnimplemented
  /// where the device cannot.
  virtual Result<std::unique_ptr<Buffer>> Import(void* memory,
                                                 int64_t bytes) = 0;
  virtual Result<std::unique_ptr<Stream>> CreateStream() = 0;

  /// The only slow call: builds what the steps need, in parallel.  One result
  /// per step, in order; Copy steps give null (Stream::Copy does them).
  virtual Result<std::vector<std::unique_ptr<PreparedStep>>> Prepare(
      std::span<const ir::Action* const> steps, BinaryStore& store) = 0;

  /// Whether `action` can be a part of a chain: actions that are enqueued as
  /// one step and done one after the other.  Where it pays, that is.
  virtual bool CanChain(const ir::Action&) const { return false; }
  /// Whether a run of one step is faster as a chain.
  virtual bool ChainsSingles() const { return false; }
  /// Slow.  The step's operands are those of the links, in their order.  After
  /// a failure that is no lost device the actions are prepared one by one.
  virtual Result<std::unique_ptr<PreparedStep>> PrepareChain(
      std::span<const ChainLink>, BinaryStore&) {
    return TIM_INTERNAL(info().name, " chains no steps");
  }

  /// The API's own handle ("cl_context", "cl_device_id"), null if unknown.
  virtual void* NativeHandle(std::string_view) const { return nullptr; }
};

}  // namespace tim::device

#endif  // TIM_DEVICE_DEVICE_H_
