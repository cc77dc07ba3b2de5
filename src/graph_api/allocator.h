// Memory by the functions of a client.
#ifndef TIM_GRAPH_API_ALLOCATOR_H_
#define TIM_GRAPH_API_ALLOCATOR_H_

#include <cstddef>
#include <functional>
#include <memory>

#include "base/status.h"
#include "device/device.h"
#include "tim/graph/c_memory.h"

namespace tim::graph {

using Lifetime = ::tim_graph_lifetime_t;

/// Memory of an engine: of its tensors, and where a client has given it, of its
/// runs and constants.  Any thread.
class Allocator {
 public:
  virtual ~Allocator() = default;
  /// At least `bytes` > 0 bytes that `device` can use, at a multiple of
  /// `alignment`, a power of two.  kOutOfMemory where there is none.
  virtual Result<void*> Allocate(device::Device& device, size_t bytes,
                                 size_t alignment, Lifetime lifetime) const = 0;
  /// \param event of OpenCL, after which the memory may go; null: at once.
  virtual void Free(device::Device& device, void* memory,
                    void* event) const = 0;
  /// Whether what it gives are cl_mem objects, else pointers.
  virtual bool gives_mem_objects() const { return false; }
  /// True for a client's.
  virtual bool is_clients() const { return false; }
};

/// \param memory that a client's function gave: kOutOfMemory for null; what is
/// not at a multiple of `alignment` is given to `free`, and kInvalidArgument.
Result<void*> CheckGiven(void* memory, size_t bytes, size_t alignment,
                         const std::function<void(void*)>& free);

/// Host memory by the client's functions, neither of which is null.
std::shared_ptr<const Allocator> MakeHostAllocator(
    tim_graph_host_allocate_f allocate, tim_graph_host_deallocate_f free);
/// Memory by the client's functions, which are not null: of the host for cpu
/// engines, else memory that kernels can use.
std::shared_ptr<const Allocator> MakeCallbackAllocator(
    const tim_graph_allocator_callbacks_t& callbacks);
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
      std::shared_ptr<device::Device> device, size_t bytes, size_t alignment,
      Lifetime lifetime = tim_graph_lifetime_output);

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
  /// True where it serves engines of either kind.
  bool of_any = false;
};

namespace tim::graph {

/// kInvalidArgument where no engine of the kind can be made with it.
Status CheckServes(const tim_graph_allocator& allocator,
                   tim_graph_engine_kind_t kind);

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_ALLOCATOR_H_
