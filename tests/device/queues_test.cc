// Queues with threads of their own, each with a stream of a device: what
// executors do, without the layers above, so that a run under ThreadSanitizer
// is short.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/worker.h"
#include "device/host/host_buffer.h"
#include "device/host/host_device.h"
#include "tests/support/devices/fake_device.h"
#include "tests/support/plans/plan_builder.h"
#include "tests/support/status_macros.h"

namespace tim::testing {
namespace {

using device::BufferRange;
using device::Device;
using device::ExternalBuffer;

// How many are in it at once.
class Room {
 public:
  // Stays until `expected` are there, or seconds have passed.
  void Enter(int expected) {
    std::unique_lock lock(mutex_);
    most_ = std::max(most_, ++inside_);
    changed_.notify_all();
    changed_.wait_for(lock, std::chrono::seconds(20),
                      [&] { return most_ >= expected; });
    --inside_;
  }
  int most() {
    const std::lock_guard lock(mutex_);
    return most_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int inside_ = 0;
  int most_ = 0;
};

// A queue that runs one step of a device again and again: its four floats grow
// by 1 each time.
class StepQueue {
 public:
  StepQueue(std::shared_ptr<Device> device, std::function<void()> during)
      : device_(std::move(device)) {
    const ir::Action action =
        EvalCall(operators_, "increment", 4,
                 [during = std::move(during)](std::span<const float> in,
                                              std::span<float> out) {
                   during();
                   for (size_t i = 0; i < in.size(); ++i) out[i] = in[i] + 1;
                   return OkStatus();
                 });
    stream_ = *device_->CreateStream();
    buffer_ = *device_->Allocate(16, ir::MemoryKind::kDevice);
    const ir::Action* pointer = &action;
    EmptyStore store;
    step_ = std::move((*device_->Prepare({&pointer, 1}, operators_, store))[0]);
    ExternalBuffer zeros(values_.data(), 16);
    EXPECT_OK(stream_->Copy({&zeros, 0, 16}, {buffer_.get(), 0, 16}));
    EXPECT_OK(Wait());
  }

  // `then` after the run, on the queue's thread.
  void Trigger(std::function<void(const Status&)> then) {
    EXPECT_OK(worker_.Post([this, then = std::move(then)] { then(Run()); }));
  }
  Status WaitIdle() { return worker_.Wait(); }
  float value() const { return values_[0]; }

 private:
  Status Run() {
    const BufferRange operands[] = {{buffer_.get(), 0, 16},
                                    {buffer_.get(), 0, 16}};
    TIM_RETURN_IF_ERROR(stream_->Enqueue(*step_, operands));
    ExternalBuffer host(values_.data(), 16);
    TIM_RETURN_IF_ERROR(stream_->Copy({buffer_.get(), 0, 16}, {&host, 0, 16}));
    return Wait();
  }
  Status Wait() {
    TIM_ASSIGN_OR_RETURN(const auto event, stream_->Record());
    return event->Wait();
  }

  const std::shared_ptr<Device> device_;
  ir::OpRegistry operators_;
  std::vector<float> values_ = std::vector<float>(4, 0.0f);
  std::unique_ptr<device::Buffer> buffer_;
  std::unique_ptr<device::PreparedStep> step_;
  std::unique_ptr<device::Stream> stream_;
  Worker worker_;  // the first to go: it may still run
};

enum class Kind { kHost, kFake };

std::shared_ptr<Device> MakeDevice(Kind kind, uint64_t seed) {
  if (kind == Kind::kHost) return device::CreateHostDevice();
  return std::make_shared<FakeDevice>(
      FakeOptions{.seed = seed, .max_delay_us = 200});
}

class Queues : public ::testing::TestWithParam<Kind> {};

TEST_P(Queues, OfTwoDevicesRunAtTheSameTime) {
  Room room;
  StepQueue a(MakeDevice(GetParam(), 1), [&] { room.Enter(2); });
  StepQueue b(MakeDevice(GetParam(), 2), [&] { room.Enter(2); });
  a.Trigger([](const Status& status) { EXPECT_OK(status); });
  b.Trigger([](const Status& status) { EXPECT_OK(status); });
  EXPECT_OK(a.WaitIdle());
  EXPECT_OK(b.WaitIdle());
  EXPECT_EQ(room.most(), 2);
}

TEST_P(Queues, OfOneDeviceRunAtTheSameTime) {
  Room room;
  const auto device = MakeDevice(GetParam(), 3);
  StepQueue a(device, [&] { room.Enter(2); });
  StepQueue b(device, [&] { room.Enter(2); });
  a.Trigger([](const Status& status) { EXPECT_OK(status); });
  b.Trigger([](const Status& status) { EXPECT_OK(status); });
  EXPECT_OK(a.WaitIdle());
  EXPECT_OK(b.WaitIdle());
  EXPECT_EQ(room.most(), 2);
}

TEST_P(Queues, CallBackOncePerRunInOrder) {
  constexpr int kRuns = 50;
  const auto device = MakeDevice(GetParam(), 4);
  std::vector<std::unique_ptr<StepQueue>> queues;
  std::vector<std::vector<int>> called(3);
  for (int q = 0; q < 3; ++q) {
    queues.push_back(std::make_unique<StepQueue>(device, [] {}));
  }
  for (int run = 0; run < kRuns; ++run) {
    for (int q = 0; q < 3; ++q) {
      queues[q]->Trigger([&called, q, run](const Status& status) {
        EXPECT_OK(status);
        called[q].push_back(run);
      });
    }
  }
  for (int q = 0; q < 3; ++q) {
    EXPECT_OK(queues[q]->WaitIdle());
    ASSERT_EQ(called[q].size(), static_cast<size_t>(kRuns));
    for (int run = 0; run < kRuns; ++run) EXPECT_EQ(called[q][run], run);
    EXPECT_EQ(queues[q]->value(), kRuns);
  }
}

TEST_P(Queues, EndBehindTheirWorkAndBeforeTheirDevice) {
  std::atomic<int> calls = 0;
  {
    auto device = MakeDevice(GetParam(), 5);
    StepQueue a(device, [] {});
    StepQueue b(device, [] {});
    device = nullptr;
    for (int run = 0; run < 20; ++run) {
      a.Trigger([&](const Status&) { ++calls; });
      b.Trigger([&](const Status&) { ++calls; });
    }
  }
  EXPECT_EQ(calls, 40);
}

INSTANTIATE_TEST_SUITE_P(Devices, Queues,
                         ::testing::Values(Kind::kHost, Kind::kFake),
                         [](const auto& info) {
                           return info.param == Kind::kHost ? "Host" : "Fake";
                         });

TEST(Queue, TellsOfALostDevice) {
  const auto device = std::make_shared<FakeDevice>();
  StepQueue queue(device, [] {});
  device->LoseAtStep(1);
  Status first, second;
  queue.Trigger([&](const Status& status) { first = status; });
  queue.Trigger([&](const Status& status) { second = status; });
  EXPECT_OK(queue.WaitIdle());
  EXPECT_EQ(first.code(), StatusCode::kDeviceLost);
  EXPECT_EQ(second.code(), StatusCode::kDeviceLost);
}

}  // namespace
}  // namespace tim::testing
