// Tensors that clients hand to an execute.
#ifndef TIM_GRAPH_API_TENSOR_H_
#define TIM_GRAPH_API_TENSOR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/status.h"
#include "graph_api/allocator.h"
#include "graph_api/client_held.h"
#include "graph_api/engine.h"
#include "graph_api/op.h"
#include "tim/graph/c.h"

namespace tim::graph {

/// How the handle of a gpu engine's tensor is meant.
enum class HandleKind : uint8_t {
  kPointer,    ///< Of the host, or one that kernels can use.
  kMemObject,  ///< A cl_mem.
};

/// A description and a handle, which is the client's memory or the library's;
/// or a scalar's value.  Read by any thread.
class ClientTensor {
 public:
  /// A tensor of the client's memory, which may be null until an execute.
  ClientTensor(const LogicalTensor& description,
               std::shared_ptr<tim_graph_engine> engine, void* handle,
               HandleKind kind = HandleKind::kPointer)
      : description_(description),
        engine_(std::move(engine)),
        handle_(handle),
        kind_(kind) {}
  /// A tensor of the library's memory.
  ClientTensor(const LogicalTensor& description,
               std::shared_ptr<tim_graph_engine> engine,
               std::shared_ptr<const AllocatedMemory> memory,
               HandleKind kind = HandleKind::kPointer)
      : ClientTensor(description, std::move(engine), memory->get(), kind) {
    memory_ = std::move(memory);
  }
  /// A scalar's value, which is copied.
  ClientTensor(const LogicalTensor& description, const void* value,
               size_t bytes);

  const LogicalTensor& description() const { return description_; }
  /// Null for a scalar's.
  const std::shared_ptr<tim_graph_engine>& engine() const { return engine_; }
  /// Null for a scalar's.
  void* handle() const { return handle_; }
  HandleKind handle_kind() const { return kind_; }
  int64_t offset() const { return offset_; }  ///< In bytes, of a cl_mem.
  void set_handle(void* handle) { SetMemory(handle, kind_, 0); }
  /// Frees the library's memory.
  void SetMemory(void* handle, HandleKind kind, int64_t offset);
  bool is_scalar() const { return engine_ == nullptr; }
  /// What an execute reads or writes on the host: a scalar's value, else the
  /// handle.
  void* host_memory() const;
  /// Keeps the library's memory; null where it is the client's.
  const std::shared_ptr<const AllocatedMemory>& memory() const {
    return memory_;
  }

 private:
  /// Aligned as runs take memory without a copy.
  struct alignas(64) Value {
    std::array<std::byte, 64> bytes = {};
  };

  LogicalTensor description_ = {};
  std::shared_ptr<tim_graph_engine> engine_;
  void* handle_ = nullptr;
  HandleKind kind_ = HandleKind::kPointer;
  int64_t offset_ = 0;
  std::shared_ptr<const AllocatedMemory> memory_;
  mutable Value value_;
};

/// Memory for a tensor of these dims and layout.  kInvalidArgument where its
/// size is not known.
/// \param allocator null: the engine's.
Result<std::shared_ptr<const AllocatedMemory>> AllocateFor(
    const LogicalTensor& description, const tim_graph_engine& engine,
    std::shared_ptr<const Allocator> allocator = nullptr);

}  // namespace tim::graph

struct tim_graph_tensor final : tim::graph::ClientTensor,
                                tim::graph::ClientHeld<tim_graph_tensor> {
  using ClientTensor::ClientTensor;
};

#endif  // TIM_GRAPH_API_TENSOR_H_
