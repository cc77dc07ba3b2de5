// Memory by the functions of a client.
#ifndef TIM_GRAPH_API_ALLOCATOR_H_
#define TIM_GRAPH_API_ALLOCATOR_H_

#include <cstddef>
#include <memory>

#include "base/status.h"
#include "device/device.h"
#include "tim/graph/c.h"

namespace tim::graph {

/// Memory of an engine's tensors.  Any thread.
class Allocator {
 public:
  virtual ~Allocator() = default;
  /// At least `bytes` > 0 bytes that `device` can use, at a multiple of
  /// `alignment`, a power of two.  kOutOfMemory where there is none.
  virtual Result<void*> Allocate(device::Device& device, size_t bytes,
                                 size_t alignment) const = 0;
  /// \param event of OpenCL, after which the memory may go; null: at once.
  virtual void Free(device::Device& device, void* memory,
                    void* event) const = 0;
  /// Whether what it gives are cl_mem objects, else pointers.
  virtual bool gives_mem_objects() const { return false; }
};

/// Host memory by the client's functions, neither of which is null.
std::shared_ptr<const Allocator> MakeHostAllocator(
    tim_graph_host_allocate_f allocate, tim_graph_host_deallocate_f free);
/// Host memory, and shared virtual memory of OpenCL devices.
std::shared_ptr<const Allocator> OwnHostAllocator();
std::shared_ptr<const Allocator> OwnSharedAllocator();
/// cl_mem objects of an OpenCL device, at the device's own alignment.
std::shared_ptr<const Allocator> OwnBufferAllocator();
/// Shared virtual memory where the device has it, else cl_mem objects.
std::shared_ptr<const Allocator> OwnGpuAllocator(const device::Device& device);

/// Memory of an allocator, which is freed with it.
class AllocatedMemory {
 public:
  AllocatedMemory() = default;
  AllocatedMemory(AllocatedMemory&& other) noexcept {
    *this = std::move(other);
  }
  AllocatedMemory& operator=(AllocatedMemory&& other) noexcept;
  ~AllocatedMemory() { Reset(); }

  static Result<AllocatedMemory> Allocate(
      std::shared_ptr<const Allocator> allocator,
      std::shared_ptr<device::Device> device, size_t bytes, size_t alignment);

  void* get() const { return memory_; }

 private:
  void Reset();

  std::shared_ptr<const Allocator> allocator_;
  std::shared_ptr<device::Device> device_;
  void* memory_ = nullptr;
};

}  // namespace tim::graph

/// Allocator that a client makes engines with; they keep its functions.
struct tim_graph_allocator {
  /// Null: the engine's own.
  std::shared_ptr<const tim::graph::Allocator> allocator = nullptr;
  /// Whether the memory is OpenCL's, for gpu engines.
  bool of_opencl = false;
};

#endif  // TIM_GRAPH_API_ALLOCATOR_H_
