// Wraps the memory of tensors for one run of a gpu engine.
#include "graph_api/gpu_ports.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "device/opencl/interop/client_memory.h"
#include "device/opencl/interop/shared_memory.h"

namespace tim::graph {
namespace {

/// Aligned as runs take memory without a copy.
struct alignas(64) Value {
  std::array<std::byte, 64> bytes = {};
};

}  // namespace

GpuStream& GpuRunsOf(Stream& stream) {
  if (stream.gpu() == nullptr) {
    stream.set_gpu(
        std::make_unique<GpuStream>(stream.engine()->device(), nullptr));
  }
  return *stream.gpu();
}

Result<GpuPort> DevicePortOf(const ClientTensor& tensor, int64_t bytes,
                             device::Device& device) {
  auto wrapped = tensor.handle_kind() == HandleKind::kMemObject
                     ? device::WrapMemObject(device, tensor.handle(),
                                             tensor.offset(), bytes)
                     : device::WrapPointer(device, tensor.handle(), bytes);
  if (!wrapped.ok()) {
    return wrapped.status().WithContext(
        StrCat("tensor ", tensor.description().id));
  }
  return GpuPort{.memory = std::make_shared<const device::ClientMemory>(
                     *std::move(wrapped)),
                 .keeper = tensor.memory()};
}

GpuPort ScalarPortOf(const ClientTensor& tensor, int64_t bytes) {
  const auto value = std::make_shared<Value>();
  std::memcpy(
      value->bytes.data(), tensor.host_memory(),
      std::min<size_t>(static_cast<size_t>(bytes), value->bytes.size()));
  return GpuPort{.host = runtime::PortMemory(value->bytes.data(), bytes),
                 .keeper = value};
}

HandleKind HandleKindOf(const Engine& engine) {
  if (engine.kind() != tim_graph_gpu) return HandleKind::kPointer;
  return device::HasSharedMemory(*engine.device()) ? HandleKind::kPointer
                                                   : HandleKind::kMemObject;
}

}  // namespace tim::graph
