// Memory and streams of the fake device.
#ifndef TIM_TESTS_SUPPORT_DEVICES_FAKE_STREAM_H_
#define TIM_TESTS_SUPPORT_DEVICES_FAKE_STREAM_H_

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "device/device.h"
#include "tests/support/devices/fake_device.h"

namespace tim::testing {

/// No host address: only the fake device's streams reach the bytes.
class FakeBuffer final : public device::Buffer {
 public:
  FakeBuffer(std::shared_ptr<FakeState> state, int64_t bytes);
  /// A part of another one.
  explicit FakeBuffer(std::span<std::byte> memory) : memory_(memory) {}
  ~FakeBuffer() override {
    if (state_ != nullptr) state_->Release(bytes());
  }
  int64_t bytes() const override {
    return static_cast<int64_t>(memory_.size());
  }
  std::byte* memory() { return memory_.data(); }
  Result<std::unique_ptr<device::Buffer>> View(int64_t offset,
                                               int64_t bytes) override;

 private:
  const std::shared_ptr<FakeState> state_;  // null of parts
  std::vector<std::byte> owned_;
  std::span<std::byte> memory_;
};

class FakeEvent final : public device::Event {
 public:
  /// Reached on the stream's thread, waited for on others.
  struct Moment {
    void Reach(Status result);
    Status Wait();
    bool IsReached();

    std::mutex mutex;
    std::condition_variable reached;
    bool done = false;
    Status status;
  };

  explicit FakeEvent(std::shared_ptr<Moment> moment)
      : moment_(std::move(moment)) {}
  Status Wait() override { return moment_->Wait(); }
  bool Ready() override { return moment_->IsReached(); }
  const std::shared_ptr<Moment>& moment() const { return moment_; }

 private:
  const std::shared_ptr<Moment> moment_;
};

/// One thread that works through a queue, with a random delay before each item.
class FakeStream final : public device::Stream {
 public:
  FakeStream(std::shared_ptr<FakeState> state, uint64_t seed);
  /// Finishes what was enqueued.
  ~FakeStream() override;

  Status Enqueue(device::PreparedStep& step,
                 std::span<const device::BufferRange> operands) override;
  Status Copy(device::BufferRange source,
              device::BufferRange destination) override;
  Result<std::unique_ptr<device::Event>> Record(
      std::unique_ptr<device::Event>) override;
  Status WaitFor(device::Event& event) override;

 private:
  void Push(std::function<void()> work);
  void Work();
  void Delay();
  void Keep(const Status& status);
  /// Runs `work` unless the device is lost; keeps the error for an event.
  void PushStep(std::function<Status()> work);

  const std::shared_ptr<FakeState> state_;
  std::mt19937_64 random_;  // of the thread
  Status error_;            // of the thread: first since the last event
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_DEVICES_FAKE_STREAM_H_
