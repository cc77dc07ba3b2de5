// Host memory by a client's functions, or the library's own.
#include "graph_api/allocator.h"

#include <cstdlib>
#include <utility>

#include "base/aligned_memory.h"
#include "device/opencl/interop/client_memory.h"
#include "device/opencl/interop/shared_memory.h"

namespace tim::graph {
namespace {

class OwnHostMemory final : public Allocator {
 public:
  Result<void*> Allocate(device::Device&, size_t bytes,
                         size_t alignment) const override {
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
  Result<void*> Allocate(device::Device& device, size_t bytes,
                         size_t alignment) const override {
    return device::AllocateShared(device, static_cast<int64_t>(bytes),
                                  static_cast<int64_t>(alignment));
  }
  void Free(device::Device& device, void* memory, void*) const override {
    device::FreeShared(device, memory);
  }
};

class MemObjects final : public Allocator {
 public:
  Result<void*> Allocate(device::Device& device, size_t bytes,
                         size_t) const override {
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

  Result<void*> Allocate(device::Device&, size_t bytes,
                         size_t alignment) const override {
    void* const memory = allocate_(bytes, alignment);
    if (memory == nullptr) {
      return OutOfMemory("the client's allocator gave no memory for ", bytes,
                         " bytes");
    }
    if (IsAligned(memory, static_cast<int64_t>(alignment))) return memory;
    free_(memory);
    return InvalidArgument(
        "the client's allocator gave memory that does not "
        "begin at a multiple of ",
        alignment);
  }
  void Free(device::Device&, void* memory, void*) const override {
    free_(memory);
  }

 private:
  const tim_graph_host_allocate_f allocate_;
  const tim_graph_host_deallocate_f free_;
};

}  // namespace

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
    std::shared_ptr<device::Device> device, size_t bytes, size_t alignment) {
  AllocatedMemory made;
  TIM_ASSIGN_OR_RETURN(made.memory_,
                       allocator->Allocate(*device, bytes, alignment));
  made.allocator_ = std::move(allocator);
  made.device_ = std::move(device);
  return made;
}

void AllocatedMemory::Reset() {
  if (memory_ == nullptr) return;
  allocator_->Free(*device_, std::exchange(memory_, nullptr), nullptr);
}

}  // namespace tim::graph
