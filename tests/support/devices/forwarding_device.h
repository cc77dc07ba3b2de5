// A device that does all that another does; tests derive from it what differs.
#ifndef TIM_TESTS_SUPPORT_DEVICES_FORWARDING_DEVICE_H_
#define TIM_TESTS_SUPPORT_DEVICES_FORWARDING_DEVICE_H_

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "device/device.h"
#include "device/device_pools.h"

namespace tim::testing {

class ForwardingDevice : public device::Device {
 public:
  explicit ForwardingDevice(std::shared_ptr<device::Device> device)
      : device_(std::move(device)) {}

  const ir::DeviceInfo& info() const override { return device_->info(); }
  const void* domain() const override { return device_->domain(); }
  Result<std::unique_ptr<device::Buffer>> Allocate(
      int64_t bytes, ir::MemoryKind kind) override {
    return device_->Allocate(bytes, kind);
  }
  /// Its own, over its own Allocate().
  device::DevicePools& pools() override { return pools_; }
  Result<std::unique_ptr<device::Buffer>> Import(void* memory,
                                                 int64_t bytes) override {
    return device_->Import(memory, bytes);
  }
  Result<std::unique_ptr<device::Stream>> CreateStream() override {
    return device_->CreateStream();
  }
  device::PreparedSteps PrepareEach(std::span<const ir::Action* const> steps,
                                    const ir::OpRegistry& operators,
                                    device::BinaryStore& store) override {
    return device_->PrepareEach(steps, operators, store);
  }
  Result<std::unique_ptr<device::PreparedStep>> PrepareChain(
      std::span<const device::ChainLink> links,
      device::BinaryStore& store) override {
    return device_->PrepareChain(links, store);
  }

 private:
  const std::shared_ptr<device::Device> device_;
  device::DevicePools pools_{*this};
};

/// Counts what it is asked to prepare.
class CountingDevice final : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;

  device::PreparedSteps PrepareEach(std::span<const ir::Action* const> steps,
                                    const ir::OpRegistry& operators,
                                    device::BinaryStore& store) override {
    ++prepares_;
    steps_ += static_cast<int>(steps.size());
    return ForwardingDevice::PrepareEach(steps, operators, store);
  }
  Result<std::unique_ptr<device::PreparedStep>> PrepareChain(
      std::span<const device::ChainLink> links,
      device::BinaryStore& store) override {
    chained_ += links.size();
    return ForwardingDevice::PrepareChain(links, store);
  }

  int prepares() const { return prepares_; }   ///< Calls of PrepareEach().
  int steps() const { return steps_; }         ///< Of all of them.
  size_t chained() const { return chained_; }  ///< Steps of all chains.

 private:
  std::atomic<int> prepares_ = 0;
  std::atomic<int> steps_ = 0;
  std::atomic<size_t> chained_ = 0;
};

/// A device that launches every kernel by itself.
class OneByOne : public ForwardingDevice {
 public:
  explicit OneByOne(std::shared_ptr<device::Device> device)
      : ForwardingDevice(std::move(device)), info_(ForwardingDevice::info()) {
    info_.chains = false;
  }
  const ir::DeviceInfo& info() const override { return info_; }

 private:
  ir::DeviceInfo info_;
};

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_DEVICES_FORWARDING_DEVICE_H_
