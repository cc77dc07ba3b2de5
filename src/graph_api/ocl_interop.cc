// Makes objects of the API of a client's OpenCL objects, and gives them back.
#include "graph_api/ocl_interop.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/guarded.h"
#include "base/options.h"
#include "device/opencl/interop/client_memory.h"
#include "device/opencl/interop/client_queue.h"
#include "device/opencl/opencl_interop.h"
#include "graph_api/engine_memory.h"
#include "graph_api/gpu_ports.h"
#include "runtime/device_pool.h"

namespace tim::graph {
namespace {

class ClientOclMemory final : public Allocator {
 public:
  ClientOclMemory(tim_graph_ocl_allocate_f allocate,
                  tim_graph_ocl_deallocate_f free)
      : allocate_(allocate), free_(free) {}

  Result<void*> Allocate(device::Device& device, size_t bytes, size_t alignment,
                         Lifetime) const override {
    void* memory = nullptr;
    TIM_RETURN_IF_ERROR(GuardedCall([&]() -> Status {
      memory = allocate_(bytes, alignment, IdOf(device), ContextOf(device));
      return OkStatus();
    }));
    return CheckGiven(memory, bytes, alignment, [&](void* misaligned) {
      Free(device, misaligned, nullptr);
    });
  }
  void Free(device::Device& device, void* memory, void* event) const override {
    free_(memory, IdOf(device), ContextOf(device),
          static_cast<cl_event>(event));
  }
  bool is_clients() const override { return true; }

 private:
  static cl_device_id IdOf(const device::Device& device) {
    return static_cast<cl_device_id>(device.NativeHandle("cl_device_id"));
  }
  static cl_context ContextOf(const device::Device& device) {
    return static_cast<cl_context>(device.NativeHandle("cl_context"));
  }

  const tim_graph_ocl_allocate_f allocate_;
  const tim_graph_ocl_deallocate_f free_;
};

Result<void*> NativeOf(const Engine& engine, const char* name) {
  void* const handle = engine.device()->NativeHandle(name);
  if (handle != nullptr) return handle;
  return InvalidArgument("the engine's device '", engine.device()->info().name,
                         "' has no ", name,
                         "; engines on OpenCL devices have one");
}

Status CheckGpu(const Engine& engine, const char* what) {
  if (engine.kind() == tim_graph_gpu) return OkStatus();
  return InvalidArgument(what, " is of a gpu engine; this one is of kind ",
                         tim_graph_engine_kind2str(engine.kind()));
}

Status CheckNoScalar(const LogicalTensor& description) {
  if (description.property != tim_graph_tensor_property_host_scalar) {
    return OkStatus();
  }
  return InvalidArgument("tensor ", description.id,
                         " is a host_scalar: create_scalar makes its tensor");
}

// As far as sizes are known.
Status CheckFits(const LogicalTensor& description, device::Device& device,
                 void* buffer, int64_t offset) {
  size_t bytes = 0;
  static_cast<void>(
      tim_graph_logical_tensor_get_mem_size(&description, &bytes));
  const bool known =
      bytes <= static_cast<size_t>(std::numeric_limits<int64_t>::max());
  return device::WrapMemObject(device, buffer, offset,
                               known ? static_cast<int64_t>(bytes) : 0)
      .status()
      .WithContext(StrCat("tensor ", description.id));
}

}  // namespace

std::shared_ptr<const Allocator> MakeOclAllocator(
    tim_graph_ocl_allocate_f allocate, tim_graph_ocl_deallocate_f free) {
  return std::make_shared<ClientOclMemory>(allocate, free);
}

Result<tim_graph_engine*> MakeOclEngine(void* device, void* context,
                                        const tim_graph_allocator* allocator,
                                        std::span<const uint8_t> blob) {
  const DeviceOptions& options = GetOptions().on_device;
  TIM_ASSIGN_OR_RETURN(auto own,
                       device::CreateOpenClDevice(device, context, options));
  EngineParts parts;
  parts.kind = tim_graph_gpu;
  TIM_ASSIGN_OR_RETURN(parts.devices, runtime::SelectDevices("host", options));
  if (allocator != nullptr && (allocator->of_opencl || allocator->of_any)) {
    parts.allocator = allocator->allocator;
  }
  if (parts.allocator == nullptr) parts.allocator = OwnGpuAllocator(*own);
  parts.programs = ProgramsFor(*own);
  if (!blob.empty()) parts.programs->TakeBlob(blob);
  parts.devices.push_back(std::move(own));
  parts.devices =
      WithMemoryOf(parts.allocator, parts.kind, std::move(parts.devices));
  return tim_graph_engine::Make(std::move(parts));
}

Result<void*> DeviceOf(const Engine& engine) {
  return NativeOf(engine, "cl_device_id");
}

Result<void*> ContextOf(const Engine& engine) {
  return NativeOf(engine, "cl_context");
}

Result<std::vector<uint8_t>> CacheBlobOf(const Engine& engine) {
  TIM_RETURN_IF_ERROR(DeviceOf(engine).status());
  return engine.programs().Blob();
}

Result<std::vector<uint8_t>> CacheBlobIdOf(void* device) {
  TIM_ASSIGN_OR_RETURN(const std::string identity,
                       device::OpenClIdentity(device));
  return std::vector<uint8_t>(identity.begin(), identity.end());
}

Result<tim_graph_stream*> MakeOclStream(
    std::shared_ptr<tim_graph_engine> engine, void* queue) {
  TIM_RETURN_IF_ERROR(CheckGpu(*engine, "a stream of a cl_command_queue"));
  TIM_ASSIGN_OR_RETURN(auto own,
                       device::ClientQueue::Of(*engine->device(), queue));
  auto runs = std::make_unique<GpuStream>(engine->device(), std::move(own));
  tim_graph_stream* const stream = tim_graph_stream::Make(
      std::move(engine), unsigned{tim_graph_stream_default_flags});
  stream->set_gpu(std::move(runs));
  return stream;
}

Result<void*> CommandQueueOf(Stream& stream) {
  TIM_RETURN_IF_ERROR(CheckGpu(*stream.engine(), "a cl_command_queue"));
  TIM_ASSIGN_OR_RETURN(device::ClientQueue * queue, GpuRunsOf(stream).Queue());
  return queue->handle();
}

Result<tim_graph_tensor*> MakeOclTensor(
    const LogicalTensor& description, std::shared_ptr<tim_graph_engine> engine,
    HandleKind kind, void* handle) {
  TIM_RETURN_IF_ERROR(CheckGpu(*engine, "a tensor of OpenCL's memory"));
  TIM_RETURN_IF_ERROR(CheckNoScalar(description));
  if (handle != TIM_GRAPH_MEMORY_ALLOCATE) {
    if (kind == HandleKind::kMemObject && handle != nullptr) {
      TIM_RETURN_IF_ERROR(CheckFits(description, *engine->device(), handle, 0));
    }
    return tim_graph_tensor::Make(description, std::move(engine), handle, kind);
  }
  if (kind == HandleKind::kPointer &&
      engine->allocator()->gives_mem_objects()) {
    return Unimplemented("tensor ", description.id, ": ",
                         engine->device()->info().name,
                         " has no shared memory; memory_kind::buffer works");
  }
  TIM_ASSIGN_OR_RETURN(
      auto memory, kind == HandleKind::kMemObject
                       ? AllocateFor(description, *engine, OwnBufferAllocator())
                       : AllocateFor(description, *engine));
  return tim_graph_tensor::Make(description, std::move(engine),
                                std::move(memory), kind);
}

Result<tim_graph_tensor*> MakeOclTensor(
    const LogicalTensor& description, std::shared_ptr<tim_graph_engine> engine,
    void* buffer, size_t offset) {
  TIM_RETURN_IF_ERROR(CheckGpu(*engine, "a tensor of a cl_mem"));
  TIM_RETURN_IF_ERROR(CheckNoScalar(description));
  if (offset > static_cast<size_t>(std::numeric_limits<int64_t>::max())) {
    return InvalidArgument("tensor ", description.id, ": offset ", offset,
                           " is behind the end of every cl_mem");
  }
  const auto begin = static_cast<int64_t>(offset);
  TIM_RETURN_IF_ERROR(CheckFits(description, *engine->device(), buffer, begin));
  tim_graph_tensor* const tensor = tim_graph_tensor::Make(
      description, std::move(engine), buffer, HandleKind::kMemObject);
  tensor->SetMemory(buffer, HandleKind::kMemObject, begin);
  return tensor;
}

Result<HandleKind> MemoryKindOf(const ClientTensor& tensor) {
  if (tensor.is_scalar()) {
    return InvalidArgument("tensor ", tensor.description().id,
                           " is a scalar, which has no memory on a device");
  }
  TIM_RETURN_IF_ERROR(CheckGpu(*tensor.engine(), "memory of OpenCL"));
  return tensor.handle_kind();
}

Result<void*> MemObjectOf(const ClientTensor& tensor) {
  TIM_ASSIGN_OR_RETURN(const HandleKind kind, MemoryKindOf(tensor));
  if (kind == HandleKind::kMemObject) return tensor.handle();
  return InvalidArgument("tensor ", tensor.description().id,
                         " holds a pointer (memory_kind::usm), no cl_mem");
}

Status SetMemObject(ClientTensor* tensor, void* buffer) {
  TIM_RETURN_IF_ERROR(MemoryKindOf(*tensor).status());
  if (buffer != nullptr) {
    TIM_RETURN_IF_ERROR(CheckFits(tensor->description(),
                                  *tensor->engine()->device(), buffer, 0));
  }
  tensor->SetMemory(buffer, HandleKind::kMemObject, 0);
  return OkStatus();
}

Result<std::vector<std::unique_ptr<device::Event>>> EventsOf(
    const Engine& engine, std::span<void* const> events) {
  std::vector<std::unique_ptr<device::Event>> waits;
  for (void* const event : events) {
    TIM_ASSIGN_OR_RETURN(waits.emplace_back(),
                         device::EventOf(*engine.device(), event));
  }
  return waits;
}

}  // namespace tim::graph
