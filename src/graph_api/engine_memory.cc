// A device that does all that another does, on memory of a client's allocator.
#include "graph_api/engine_memory.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "device/device_pools.h"
#include "device/memory_use.h"
#include "device/opencl/interop/client_memory.h"

namespace tim::graph {
namespace {

using device::Buffer;
using device::Device;

constexpr int64_t kAlignment = 64;

// A part of host memory that another buffer keeps.
class HostPart final : public Buffer {
 public:
  HostPart(std::byte* memory, int64_t bytes) : memory_(memory), bytes_(bytes) {}
  int64_t bytes() const override { return bytes_; }
  void* host_address() const override { return memory_; }
  Result<std::unique_ptr<Buffer>> View(int64_t offset, int64_t bytes) override {
    return std::unique_ptr<Buffer>(
        std::make_unique<HostPart>(memory_ + offset, bytes));
  }

 private:
  std::byte* const memory_;
  const int64_t bytes_;
};

class HostMemory final : public Buffer {
 public:
  HostMemory(AllocatedMemory memory, int64_t bytes)
      : memory_(std::move(memory)),
        whole_(static_cast<std::byte*>(memory_.get()), bytes) {}
  int64_t bytes() const override { return whole_.bytes(); }
  void* host_address() const override { return whole_.host_address(); }
  Result<std::unique_ptr<Buffer>> View(int64_t offset, int64_t bytes) override {
    return whole_.View(offset, bytes);
  }

 private:
  const AllocatedMemory memory_;
  HostPart whole_;
};

Lifetime CurrentLifetime() {
  return device::CurrentMemoryUse() == device::MemoryUse::kConstants
             ? tim_graph_lifetime_persistent
             : tim_graph_lifetime_temporary;
}

class ClientMemoryDevice final : public Device {
 public:
  ClientMemoryDevice(std::shared_ptr<Device> device,
                     std::shared_ptr<const Allocator> allocator)
      : device_(std::move(device)), allocator_(std::move(allocator)) {}

  Result<std::unique_ptr<Buffer>> Allocate(int64_t bytes,
                                           ir::MemoryKind kind) override;
  device::DevicePools& pools() override { return pools_; }
  Result<std::unique_ptr<Buffer>> Import(void* memory, int64_t bytes) override {
    if (device::CurrentMemoryUse() == device::MemoryUse::kConstants) {
      return Unimplemented("constants are kept in the client's memory");
    }
    return device_->Import(memory, bytes);
  }

  const ir::DeviceInfo& info() const override { return device_->info(); }
  const void* domain() const override { return device_->domain(); }
  Result<std::unique_ptr<device::Stream>> CreateStream() override {
    return device_->CreateStream();
  }
  Result<std::unique_ptr<device::Stream>> CreateTimedStream() override {
    return device_->CreateTimedStream();
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
  void* NativeHandle(std::string_view name) const override {
    return device_->NativeHandle(name);
  }
  Status CheckUsable() const override { return device_->CheckUsable(); }

 private:
  const std::shared_ptr<Device> device_;
  const std::shared_ptr<const Allocator> allocator_;
  device::DevicePools pools_{*this};
};

Result<std::unique_ptr<Buffer>> ClientMemoryDevice::Allocate(
    int64_t bytes, ir::MemoryKind kind) {
  const ir::DeviceInfo& info = device_->info();
  const bool host = info.kind == "host";
  if (bytes < 0) return InvalidArgument("a buffer of ", bytes, " bytes");
  if (!host && kind != ir::MemoryKind::kDevice) {
    return device_->Allocate(bytes, kind);
  }
  if (bytes > info.max_allocation_bytes) {
    return OutOfMemory("a buffer of ", bytes, " bytes exceeds the ",
                       info.max_allocation_bytes, " that ", info.name,
                       " allocates at once");
  }
  const int64_t size = std::max<int64_t>(bytes, 1);
  TIM_ASSIGN_OR_RETURN(
      AllocatedMemory memory,
      AllocatedMemory::Allocate(
          allocator_, device_, static_cast<size_t>(size),
          static_cast<size_t>(std::max<int64_t>(kAlignment, info.alignment)),
          CurrentLifetime()));
  if (host) {
    return std::unique_ptr<Buffer>(
        std::make_unique<HostMemory>(std::move(memory), bytes));
  }
  const auto owner = std::make_shared<const AllocatedMemory>(std::move(memory));
  return device::BufferOn(*device_, owner->get(), size, owner);
}

// True where the device can work on what the allocator gives engines of the
// kind.
bool Serves(tim_graph_engine_kind_t kind, const Device& device) {
  const bool opencl = device.NativeHandle("cl_context") != nullptr;
  if (kind == tim_graph_gpu) return opencl;
  return device.info().kind == "host" ||
         (opencl && device.info().unified_memory);
}

}  // namespace

device::Devices WithMemoryOf(const std::shared_ptr<const Allocator>& allocator,
                             tim_graph_engine_kind_t kind,
                             device::Devices devices) {
  if (!allocator->is_clients()) return devices;
  for (std::shared_ptr<Device>& device : devices) {
    if (!Serves(kind, *device)) continue;
    device = std::make_shared<ClientMemoryDevice>(std::move(device), allocator);
  }
  return devices;
}

}  // namespace tim::graph
