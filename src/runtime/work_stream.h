// The work of a device that callers hand over piece by piece, and the memory
// that it is done in.
#ifndef TIM_RUNTIME_WORK_STREAM_H_
#define TIM_RUNTIME_WORK_STREAM_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "device/pool_allocator.h"
#include "runtime/run_event.h"

namespace tim::runtime {

class WorkStream;

/// Work that has to end before memory has its content.
struct Completion {
  std::shared_ptr<WorkStream> stream = nullptr;
  uint64_t ticket = 0;  ///< Ticket of `stream`.
  std::shared_ptr<RunEvent> run = nullptr;

  /// Blocks until it has; why it failed.
  Status Wait() const;
  bool Ready() const;
};

/// Memory of a device, which goes back to its pool when nobody holds it any
/// more.  Any thread.
class SharedMemory {
 public:
  SharedMemory(std::shared_ptr<WorkStream> stream, device::PoolRange range);
  /// A buffer on memory that `keeper` keeps.
  SharedMemory(std::shared_ptr<WorkStream> stream,
               std::unique_ptr<device::Buffer> buffer,
               std::shared_ptr<const void> keeper);
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  const device::BufferRange& range() const { return range_; }
  const std::shared_ptr<WorkStream>& stream() const { return stream_; }
  /// Null where the host cannot reach it.
  void* host_address() const;

  /// Set before others know the memory.
  void set_completion(Completion completion) {
    completion_ = std::move(completion);
  }
  const Completion& completion() const { return completion_; }

 private:
  const std::shared_ptr<WorkStream> stream_;
  device::PoolRange pooled_;
  std::unique_ptr<device::Buffer> imported_;
  std::shared_ptr<const void> keeper_;
  device::BufferRange range_;
  Completion completion_;
};

/// Work in the order in which it comes, of any thread.
class WorkStream : public std::enable_shared_from_this<WorkStream> {
 public:
  static Result<std::shared_ptr<WorkStream>> Create(
      std::shared_ptr<device::Device> device);
  explicit WorkStream(std::shared_ptr<device::Device> device)
      : device_(std::move(device)) {}

  device::Device& device() const { return *device_; }
  const std::shared_ptr<device::Device>& shared_device() const {
    return device_;
  }
  bool is_host() const { return device_->info().kind == "host"; }

  /// Memory of any content from the device's pool, for work of this stream.
  Result<std::shared_ptr<SharedMemory>> Allocate(int64_t bytes);
  /// Memory for work outside of this stream, which must have ended when the
  /// memory is given back.
  Result<std::shared_ptr<SharedMemory>> AllocateForOthers(int64_t bytes);
  /// `bytes` bytes of the host, which stay as they are and which `keeper`
  /// keeps: where they are if the device can, else a copy.
  Result<std::shared_ptr<SharedMemory>> FromHost(
      const void* data, int64_t bytes, std::shared_ptr<const void> keeper);
  /// The content in memory of `host`; waits for it.
  Result<std::shared_ptr<SharedMemory>> ToHost(const SharedMemory& memory,
                                               WorkStream& host);

  /// Calls `work`, which enqueues, with no other work in between.  The ticket
  /// of that work; after a failure none of it is waited for.
  using Work = std::function<Status(device::Stream& stream)>;
  Result<uint64_t> Enqueue(const Work& work);

  /// Blocks until the work of the ticket has ended; why it failed.
  Status Wait(uint64_t ticket);
  bool Ready(uint64_t ticket);
  /// Keeps it until the work so far has ended.
  void Keep(std::shared_ptr<const void> kept);
  /// Takes a range back that the work so far may use.
  void Release(device::PoolRange range);
  /// Waits for all work, and lets go what was kept for it.
  Status Drain();
  /// Whether work has found that the device is lost.  Never blocks.
  bool is_lost() const { return is_lost_; }

 private:
  struct Fence {
    uint64_t ticket = 0;
    std::shared_ptr<device::Event> event;
  };
  struct Kept {
    uint64_t ticket = 0;
    std::shared_ptr<const void> object;
  };
  struct Failure {
    uint64_t first = 0;
    uint64_t last = 0;
    Status status;
  };
  using Graves = std::vector<std::shared_ptr<const void>>;

  // Functions from here on need mutex_ held.
  Status RecordFence();
  // Ends the fences up to that of `ticket`, which have been reached.
  void Pass(uint64_t ticket);
  void PassReady();
  void SetLost(const Status& status);
  void AddFailure(uint64_t first, uint64_t last, const Status& status);
  Status FailureOf(uint64_t ticket) const;
  // Objects that are to be destroyed after mutex_ was released.
  Graves TakeGraves();

  const std::shared_ptr<device::Device> device_;
  std::mutex mutex_;
  std::unique_ptr<device::Stream> stream_;
  uint64_t last_ = 0;    // ticket of the last work
  uint64_t fenced_ = 0;  // of the last fence
  uint64_t done_ = 0;    // of the last fence that has been passed
  std::deque<Fence> fences_;
  std::deque<Kept> kept_;
  std::deque<Failure> failures_;
  Status lost_;
  std::atomic<bool> is_lost_ = false;
};

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_WORK_STREAM_H_
