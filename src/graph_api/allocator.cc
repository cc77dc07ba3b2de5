// Memory by a client's functions, or the library's own.
#include "graph_api/allocator.h"

#include <cstdlib>
#include <utility>

#include "base/aligned_memory.h"
#include "base/guarded.h"
#include "device/opencl/interop/client_memory.h"
#include "device/opencl/interop/shared_memory.h"

namespace tim::graph {
namespace {

class OwnHostMemory final : public Allocator {
 public:
  Result<void*> Allocate(device::Device&, size_t bytes, size_t alignment,
                         Lifetime) const override {
    // aligned_alloc wants whole multiples.
    const size_t whole = (bytes + alignment - 1) / alignment * alignment;
    void* const memory =
        whole < bytes ? nullptr : std::aligned_alloc(alignment, whole);
    if (memory != nullptr) return memory;
    return OutOfMemory("no host memory for a tensor of ", bytes, " bytes");
  }
  void Free(device::Device&, void* memory, void*) const override {
    std::free(memory);
  }
};

class SharedMemory final : public Allocator {
 public:
  Result<void*> Allocate(device::Device& device, size_t bytes, size_t alignment,
                         Lifetime) const override {
    return device::AllocateShared(device, static_cast<int64_t>(bytes),
                                  static_cast<int64_t>(alignment));
  }
  void Free(device::Device& device, void* memory, void*) const override {
    device::FreeShared(device, memory);
  }
};

class MemObjects final : public Allocator {
 public:
  Result<void*> Allocate(device::Device& device, size_t bytes, size_t,
                         Lifetime) const override {
    return device::AllocateMemObject(device, static_cast<int64_t>(bytes));
  }
  void Free(device::Device&, void* memory, void*) const override {
    device::ReleaseMemObject(memory);
  }
  bool gives_mem_objects() const override { return true; }
};

class ClientHostMemory final : public Allocator {
 public:
  ClientHostMemory(tim_graph_host_allocate_f allocate,
                   tim_graph_host_deallocate_f free)
      : allocate_(allocate), free_(free) {}

  Result<void*> Allocate(device::Device&, size_t bytes, size_t alignment,
                         Lifetime) const override {
    void* memory = nullptr;
    TIM_RETURN_IF_ERROR(GuardedCall([&]() -> Status {
      memory = allocate_(bytes, alignment);
      return OkStatus();
    }));
    return CheckGiven(memory, bytes, alignment, free_);
  }
  void Free(device::Device&, void* memory, void*) const override {
    free_(memory);
  }
  bool is_clients() const override { return true; }

 private:
  const tim_graph_host_allocate_f allocate_;
  const tim_graph_host_deallocate_f free_;
};

class CallbackMemory final : public Allocator {
 public:
  explicit CallbackMemory(const tim_graph_allocator_callbacks_t& callbacks)
      : callbacks_(callbacks) {}
  ~CallbackMemory() override {
    if (callbacks_.release != nullptr) callbacks_.release(callbacks_.user);
  }

  Result<void*> Allocate(device::Device&, size_t bytes, size_t alignment,
                         Lifetime lifetime) const override {
    void* memory = nullptr;
    TIM_RETURN_IF_ERROR(GuardedCall([&]() -> Status {
      memory = callbacks_.allocate(callbacks_.user, bytes, alignment, lifetime);
      return OkStatus();
    }));
    return CheckGiven(memory, bytes, alignment, [this](void* misaligned) {
      callbacks_.deallocate(callbacks_.user, misaligned, nullptr);
    });
  }
  void Free(device::Device&, void* memory, void* event) const override {
    callbacks_.deallocate(callbacks_.user, memory, event);
  }
  bool is_clients() const override { return true; }

 private:
  const tim_graph_allocator_callbacks_t callbacks_;
};

}  // namespace

Result<void*> CheckGiven(void* memory, size_t bytes, size_t alignment,
                         const std::function<void(void*)>& free) {
  if (memory == nullptr) {
    return OutOfMemory("the client's allocator gave no memory for ", bytes,
                       " bytes");
  }
  if (IsAligned(memory, static_cast<int64_t>(alignment))) return memory;
  free(memory);
  return InvalidArgument(
      "the client's allocator gave memory that does not begin at a multiple "
      "of ",
      alignment);
}

std::shared_ptr<const Allocator> MakeCallbackAllocator(
    const tim_graph_allocator_callbacks_t& callbacks) {
  return std::make_shared<CallbackMemory>(callbacks);
}

Status CheckServes(const tim_graph_allocator& allocator,
                   tim_graph_engine_kind_t kind) {
  if (allocator.of_any) return OkStatus();
  if (kind == tim_graph_gpu && allocator.allocator != nullptr &&
      !allocator.of_opencl) {
    return InvalidArgument(
        "a gpu engine was given an allocator of host memory; "
        "ocl_interop::make_allocator() makes one of OpenCL's");
  }
  if (kind == tim_graph_cpu && allocator.of_opencl) {
    return InvalidArgument(
        "a cpu engine was given an allocator of OpenCL's memory");
  }
  return OkStatus();
}

std::shared_ptr<const Allocator> MakeHostAllocator(
    tim_graph_host_allocate_f allocate, tim_graph_host_deallocate_f free) {
  return std::make_shared<ClientHostMemory>(allocate, free);
}

std::shared_ptr<const Allocator> OwnHostAllocator() {
  return std::make_shared<OwnHostMemory>();
}

std::shared_ptr<const Allocator> OwnSharedAllocator() {
  return std::make_shared<SharedMemory>();
}

std::shared_ptr<const Allocator> OwnBufferAllocator() {
  return std::make_shared<MemObjects>();
}

std::shared_ptr<const Allocator> OwnGpuAllocator(const device::Device& device) {
  return device::HasSharedMemory(device) ? OwnSharedAllocator()
                                         : OwnBufferAllocator();
}

AllocatedMemory& AllocatedMemory::operator=(AllocatedMemory&& other) noexcept {
  if (this == &other) return *this;
  Reset();
  allocator_ = std::move(other.allocator_);
  device_ = std::move(other.device_);
  memory_ = std::exchange(other.memory_, nullptr);
  return *this;
}

Result<AllocatedMemory> AllocatedMemory::Allocate(
    std::shared_ptr<const Allocator> allocator,
    std::shared_ptr<device::Device> device, size_t bytes, size_t alignment,
    Lifetime lifetime) {
  AllocatedMemory made;
  TIM_ASSIGN_OR_RETURN(
      made.memory_, allocator->Allocate(*device, bytes, alignment, lifetime));
  made.allocator_ = std::move(allocator);
  made.device_ = std::move(device);
  return made;
}

void AllocatedMemory::Reset() {
  if (memory_ == nullptr) return;
  allocator_->Free(*device_, std::exchange(memory_, nullptr), nullptr);
}

}  // namespace tim::graph
