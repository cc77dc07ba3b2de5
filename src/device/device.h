// What the runtime needs of a device: memory, streams, prepared steps.
//
// Three implementations: host, opencl, and the tests' fake device.  Every
// function returns errors as Status; device loss, memory exhaustion and build
// failures have codes of their own.  Any thread may call a Device, several at a
// time; a Stream and the steps that are enqueued there, one at a time.
//
// What a device makes is the caller's, who may destroy it on any thread: before
// the device (Executable keeps devices), and streams before the steps and
// buffers that they were given (ExecutionContext has that order).  The caller
// has checked that ranges lie within their buffers (ir::Verify).
#ifndef TIM_DEVICE_DEVICE_H_
#define TIM_DEVICE_DEVICE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/device_info.h"
#include "ir/op_registry.h"
#include "ir/step.h"
#include "ir/tensor_desc.h"

namespace tim::device {

class DevicePools;

/// Memory of one device; freed by its destructor, when no work refers to it any
/// more.  It does not change its size or place; any thread may read these.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual int64_t bytes() const = 0;
  /// Address in this process, null where the host cannot reach it.
  virtual void* host_address() const { return nullptr; }
  /// `bytes` bytes of it from `offset`, a multiple of the device's alignment,
  /// as a buffer like others, which this one outlives.  Any thread.  Whatever
  /// Device::Allocate() gives has views, imported memory need not have any.
  virtual Result<std::unique_ptr<Buffer>> View(int64_t offset, int64_t bytes);
};

/// A piece of a buffer, which is not owned.
struct BufferRange {
  Buffer* buffer = nullptr;
  int64_t offset = 0;  ///< In bytes.
  int64_t bytes = 0;
};

/// A fence in a stream.  It may be destroyed before it is reached.
class Event {
 public:
  virtual ~Event() = default;
  /// Blocks until the fence is reached; the first error that the device tells
  /// of the work since the stream's event before this one.  Any thread; may be
  /// called again and then gives the same at once.
  virtual Status Wait() = 0;
  /// What Wait() gives of a fence that was reached.  OK where streams that wait
  /// for a fence fail with it, so that their own events tell.
  virtual Status Failure() { return OkStatus(); }
  /// True where Wait() would return at once.  Never blocks; any thread.
  virtual bool Ready() = 0;
  /// Nanoseconds of the device's clock from when the first command since the
  /// stream's event before this one began to when the last one ended.  Of an
  /// event of a timed stream, once Wait() has succeeded; nothing where its
  /// driver does not tell.
  virtual std::optional<int64_t> DeviceTime() { return std::nullopt; }
};

/// A step made ready once, enqueued many times, in one stream at a time: it may
/// hold memory that its launches share.
class PreparedStep {
 public:
  virtual ~PreparedStep() = default;
};

/// Work of one device, done in order.  Only Event::Wait blocks, and perhaps the
/// destructor, until the work is done (the host's work is done when Enqueue
/// returns).  A failure of one call leaves the stream usable, unless the device
/// is lost.
class Stream {
 public:
  virtual ~Stream() = default;
  /// Never 0, and never given twice in a process, unlike addresses.
  uint64_t id() const { return id_; }
  /// A step that the same device has prepared; kInternal for one of another
  /// kind of device.  `operands` in the order of the step's action.  Step and
  /// buffers, not the span, must stay until the work is done.
  virtual Status Enqueue(PreparedStep& step,
                         std::span<const BufferRange> operands) = 0;
  /// Has the device build now what it would build when it first does a step
  /// that Enqueue() takes, and not do it; where it cannot, nothing.  What steps
  /// write of `operands` holds anything then.
  virtual Status Build(PreparedStep&, std::span<const BufferRange>) {
    return OkStatus();
  }
  /// Between two buffers of this device, or one of it and one of a device of
  /// its domain or with a host address; both ranges have as many bytes, and
  /// overlap only where they are the same.  Host memory must stay unchanged
  /// until a later event is reached.
  virtual Status Copy(BufferRange source, BufferRange destination) = 0;
  /// An event that is reached when everything enqueued so far is done; work is
  /// submitted to the device.  `done`: an event recorded earlier that nobody
  /// needs any more, whose memory may then be used again; or null.
  virtual Result<std::unique_ptr<Event>> Record(
      std::unique_ptr<Event> done) = 0;
  Result<std::unique_ptr<Event>> Record() { return Record(nullptr); }
  /// Later work starts after `event`, which is of a device with the same
  /// domain and may be destroyed after the call.  (For others the runtime waits
  /// on the host.)
  virtual Status WaitFor(Event& event) = 0;
  /// Only of a buffer that this device imported: what the host has written
  /// before the call is visible to later work; what earlier work has written is
  /// visible to the host once a later event is reached.  A run calls the one
  /// before its steps, the other after them.
  virtual Status SynchronizeToDevice(Buffer&) { return OkStatus(); }
  virtual Status SynchronizeToHost(Buffer&) { return OkStatus(); }
  /// Writes `byte` all over a range of a buffer of this device.  False where
  /// the device has no way of its own, and nothing was done: what it is to
  /// hold is copied there.
  virtual Result<bool> Fill(BufferRange, uint8_t /*byte*/) { return false; }
  /// Reads from a buffer of this device without a command, where the device
  /// works in memory that the host sees; what writes there has been waited for.
  /// False where it does not, or not yet, and nothing was done.
  virtual Result<bool> Peek(BufferRange, void* /*to*/) { return false; }

 private:
  static uint64_t NextId();

  const uint64_t id_ = NextId();
};

/// Gives a program's binary as its driver has it now; nothing where it gives
/// none.  Any thread, while the program's device lives.
using ProgramBinary = std::function<std::optional<std::string>()>;

/// Keeps built programs, in memory and on disk; implemented by the runtime's
/// program cache.  Any thread, several at a time.  It fails silently: a program
/// that it does not have is built.
class BinaryStore {
 public:
  virtual ~BinaryStore() = default;
  /// What was stored under the key, unharmed, or nothing.  The caller checks
  /// that its driver takes it.
  virtual std::optional<std::string> Load(std::string_view key) = 0;
  /// Copies `bytes`, in place of what was stored before.
  virtual void Store(std::string_view key, std::string_view bytes) = 0;
  /// Whether Store keeps anything.  Drivers that build kernels at their first
  /// use, as PoCL, build all of a program's for its binary.
  virtual bool keeps() const { return true; }
  /// Counts a program that had to be built from source.
  virtual void CountBuild() = 0;
  /// Told of every program that a prepared step uses and that may be stored,
  /// of those too that the device had built before.
  virtual void Use(std::string_view, ProgramBinary) {}
};

/// One per action, in order: null for a Copy, which Stream::Copy does, or why
/// that action cannot be made ready.
using PreparedSteps = std::vector<Result<std::unique_ptr<PreparedStep>>>;

/// An action of a chain, and what it works on.
struct ChainLink {
  const ir::Action* action = nullptr;
  /// Per operand: a number that operands in the same buffer share, counted from
  /// 0 over the whole chain.
  std::vector<int> buffers;
  /// What it was predicted to take the device, without what a launch costs;
  /// none: that is not known.
  std::optional<double> predicted_us = std::nullopt;
};

class Device {
 public:
  virtual ~Device() = default;
  /// The same at every call.
  virtual const ir::DeviceInfo& info() const = 0;
  /// Devices of equal domain share events and memory.  Only to be compared.
  virtual const void* domain() const = 0;
  /// Whether streams of this device copy from buffers of `other`, another
  /// device, to its own, as Stream::Copy does.  (For others the runtime copies
  /// through the host.)
  virtual bool CanCopyFrom(const Device& other) const {
    return domain() == other.domain();
  }

  /// Memory of `bytes` >= 0 bytes, of any content.  kDevice works everywhere;
  /// kUnimplemented for a kind that the device has not, kOutOfMemory for more
  /// than it has.
  virtual Result<std::unique_ptr<Buffer>> Allocate(int64_t bytes,
                                                   ir::MemoryKind kind) = 0;
  /// Pools of what Allocate() gives, which everybody who uses the device
  /// shares. A device has them as its last member: their memory goes before the
  /// rest.
  virtual DevicePools& pools() = 0;
  /// Memory of the caller, which must outlive the buffer and may be imported
  /// more than once; it is not written to before work does.  kUnimplemented
  /// where the device cannot, which are those without info().unified_memory.
  virtual Result<std::unique_ptr<Buffer>> Import(void* memory,
                                                 int64_t bytes) = 0;
  /// Streams of a device are independent of each other.
  virtual Result<std::unique_ptr<Stream>> CreateStream() = 0;
  /// One whose events have an Event::DeviceTime(), for measurements: its work
  /// may take longer to begin.  kUnimplemented where the device has no clock.
  virtual Result<std::unique_ptr<Stream>> CreateTimedStream() {
    return Unimplemented(info().name, " does not time its work");
  }

  /// Builds what the steps need, in parallel; with PrepareChain the only slow
  /// call.  The device keeps programs, so that preparing the same actions again
  /// is cheap; it copies what it needs of them, and uses `store` during the
  /// call only, which it tells of the programs of the steps that it gives.
  /// `operators` has those that host calls name, and outlives the steps.  Steps
  /// may come from a file: ir::Verify has seen them, but not what they compute.
  virtual PreparedSteps PrepareEach(std::span<const ir::Action* const> steps,
                                    const ir::OpRegistry& operators,
                                    BinaryStore& store) = 0;
  /// All of PrepareEach(), or the first failure.
  Result<std::vector<std::unique_ptr<PreparedStep>>> Prepare(
      std::span<const ir::Action* const> steps, const ir::OpRegistry& operators,
      BinaryStore& store);

  /// Where info().chains, as Prepare: the actions become a chain, which is
  /// enqueued as one step and does one after the other.  Actions may come from
  /// a file and be none that can chain.  The step's operands are those of the
  /// links, in their order.  After a failure that is no lost device the caller
  /// prepares the actions one by one.
  virtual Result<std::unique_ptr<PreparedStep>> PrepareChain(
      std::span<const ChainLink>, BinaryStore&) {
    return TIM_INTERNAL(info().name, " chains no steps");
  }

  /// The API's own handle ("cl_context", "cl_device_id"), null if unknown.  It
  /// is the device's and lives as long.
  virtual void* NativeHandle(std::string_view) const { return nullptr; }

  /// kDeviceLost where nothing that the device does can succeed any more, as in
  /// a process without the driver's threads: asked before long work.  Cheap.
  virtual Status CheckUsable() const { return OkStatus(); }
};

using Devices = std::vector<std::shared_ptr<Device>>;

}  // namespace tim::device

#endif  // TIM_DEVICE_DEVICE_H_
