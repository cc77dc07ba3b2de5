// Wraps the memory of tensors for one run of a gpu engine.
#include "graph_api/gpu_ports.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "device/opencl/interop/client_memory.h"
#include "device/opencl/interop/shared_memory.h"
#include "graph_api/port_layouts.h"
#include "runtime/transfer.h"

namespace tim::graph {
namespace {

/// Aligned as runs take memory without a copy.
struct alignas(64) Value {
  std::array<std::byte, 64> bytes = {};
};

// Tensors that may have bytes between their elements.
bool HasGaps(const LogicalTensor& tensor) {
  if (tensor.layout_type != tim_graph_layout_type_strided) return false;
  LogicalTensor dense = tensor;
  SetDenseStrides(&dense);
  return !std::equal(dense.layout.strides, dense.layout.strides + dense.ndims,
                     tensor.layout.strides);
}

bool Overlap(const void* a, int64_t a_bytes, const void* b, int64_t b_bytes) {
  const auto first = reinterpret_cast<uintptr_t>(a);
  const auto second = reinterpret_cast<uintptr_t>(b);
  return first < second + static_cast<uintptr_t>(b_bytes) &&
         second < first + static_cast<uintptr_t>(a_bytes);
}

}  // namespace

bool Overlap(const ClientTensor& a, int64_t a_bytes, const ClientTensor& b,
             int64_t b_bytes) {
  if (a.handle_kind() != b.handle_kind() || a_bytes == 0 || b_bytes == 0) {
    return false;
  }
  if (a.handle_kind() == HandleKind::kPointer) {
    return Overlap(a.handle(), a_bytes, b.handle(), b_bytes);
  }
  return a.handle() == b.handle() && a.offset() < b.offset() + b_bytes &&
         b.offset() < a.offset() + a_bytes;
}

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
                 .use = {.has_gaps = HasGaps(tensor.description())},
                 .keeper = tensor.memory()};
}

Status ReadFromDevice(const ClientTensor& tensor, int64_t bytes,
                      device::Device& device, void* to) {
  TIM_ASSIGN_OR_RETURN(const GpuPort port, DevicePortOf(tensor, bytes, device));
  TIM_ASSIGN_OR_RETURN(const auto stream, device.CreateStream());
  return runtime::Download(*stream,
                           {.buffer = port.memory->buffer.get(),
                            .offset = port.memory->offset,
                            .bytes = bytes},
                           to);
}

GpuPort HostPortOf(const ClientTensor& tensor, int64_t bytes) {
  if (!tensor.is_scalar()) {
    return GpuPort{.host = runtime::PortMemory(tensor.handle(), bytes),
                   .keeper = tensor.memory()};
  }
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
