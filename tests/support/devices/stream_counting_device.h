// A device that counts its copies, and what the host has to do for it.
#ifndef TIM_TESTS_SUPPORT_DEVICES_STREAM_COUNTING_DEVICE_H_
#define TIM_TESTS_SUPPORT_DEVICES_STREAM_COUNTING_DEVICE_H_

#include <atomic>
#include <memory>
#include <span>
#include <utility>

#include "device/device.h"
#include "tests/support/devices/forwarding_device.h"

namespace tim::testing {

/// Copies, those of them to the host's memory, and waits of the host.
struct StreamCounts {
  std::atomic<int> copies = 0;
  std::atomic<int> to_host = 0;
  std::atomic<int> waits = 0;
};

class CountingEvent final : public device::Event {
 public:
  CountingEvent(std::unique_ptr<device::Event> event, StreamCounts& counts)
      : event_(std::move(event)), counts_(counts) {}
  Status Wait() override {
    ++counts_.waits;
    return event_->Wait();
  }
  bool Ready() override { return event_->Ready(); }
  std::unique_ptr<device::Event>& inner() { return event_; }

 private:
  std::unique_ptr<device::Event> event_;
  StreamCounts& counts_;
};

class CountingStream final : public device::Stream {
 public:
  CountingStream(std::unique_ptr<device::Stream> stream, StreamCounts& counts)
      : stream_(std::move(stream)), counts_(counts) {}
  Status Enqueue(device::PreparedStep& step,
                 std::span<const device::BufferRange> operands) override {
    return stream_->Enqueue(step, operands);
  }
  Status Build(device::PreparedStep& step,
               std::span<const device::BufferRange> operands) override {
    return stream_->Build(step, operands);
  }
  Status Copy(device::BufferRange source,
              device::BufferRange destination) override {
    ++counts_.copies;
    if (destination.buffer->host_address() != nullptr) ++counts_.to_host;
    return stream_->Copy(source, destination);
  }
  Status SynchronizeToDevice(device::Buffer& imported) override {
    return stream_->SynchronizeToDevice(imported);
  }
  Status SynchronizeToHost(device::Buffer& imported) override {
    return stream_->SynchronizeToHost(imported);
  }
  Result<bool> Peek(device::BufferRange range, void* to) override {
    return stream_->Peek(range, to);
  }
  Result<std::unique_ptr<device::Event>> Record(
      std::unique_ptr<device::Event> done) override {
    auto* known = dynamic_cast<CountingEvent*>(done.get());
    TIM_ASSIGN_OR_RETURN(
        auto event, stream_->Record(known != nullptr ? std::move(known->inner())
                                                     : nullptr));
    return std::unique_ptr<device::Event>(
        std::make_unique<CountingEvent>(std::move(event), counts_));
  }
  Status WaitFor(device::Event& event) override {
    auto* known = dynamic_cast<CountingEvent*>(&event);
    return stream_->WaitFor(known != nullptr ? *known->inner() : event);
  }

 private:
  std::unique_ptr<device::Stream> stream_;
  StreamCounts& counts_;
};

/// Counts what streams of the device copy and what waits for their events.
class StreamCountingDevice final : public ForwardingDevice {
 public:
  StreamCountingDevice(std::shared_ptr<device::Device> device,
                       StreamCounts& counts)
      : ForwardingDevice(std::move(device)), counts_(counts) {}
  Result<std::unique_ptr<device::Stream>> CreateStream() override {
    TIM_ASSIGN_OR_RETURN(auto stream, ForwardingDevice::CreateStream());
    return std::unique_ptr<device::Stream>(
        std::make_unique<CountingStream>(std::move(stream), counts_));
  }

 private:
  StreamCounts& counts_;
};

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_DEVICES_STREAM_COUNTING_DEVICE_H_
