// Memory as a framework wants it: allocators with lifetimes, outputs allocated
// at execute, residency of ports, transfers, and cpu engines that compute on
// another device.
#ifndef TIM_GRAPH_RESIDENCY_HPP_
#define TIM_GRAPH_RESIDENCY_HPP_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tim/graph/c_memory.h"
#include "tim/graph/graph.hpp"

namespace tim {
namespace graph {

/// Memory that an allocator is asked for.
enum class lifetime {
  persistent = tim_graph_lifetime_persistent,  ///< Constants that are kept.
  output = tim_graph_lifetime_output,          ///< Tensors.
  temporary = tim_graph_lifetime_temporary,    ///< Arenas and staging of runs.
};

/// Functions of a client, called by any thread, several at a time; neither is
/// null.
struct allocator_callbacks {
  void* user = nullptr;
  /// Memory at a multiple of `alignment`, a power of two; null: there is none.
  /// The host's for cpu engines, USM or SVM for gpu engines.
  void* (*allocate)(void* user, std::size_t size, std::size_t alignment,
                    lifetime wanted) = nullptr;
  /// `event`: a cl_event after which the memory may go; null: at once.
  void (*deallocate)(void* user, void* memory, void* event) = nullptr;
};

namespace memory_details {

inline void* allocate(void* user, std::size_t size, std::size_t alignment,
                      tim_graph_lifetime_t wanted) {
  const auto* callbacks = static_cast<const allocator_callbacks*>(user);
  return callbacks->allocate(callbacks->user, size, alignment,
                             static_cast<lifetime>(wanted));
}
inline void deallocate(void* user, void* memory, void* event) {
  const auto* callbacks = static_cast<const allocator_callbacks*>(user);
  callbacks->deallocate(callbacks->user, memory, event);
}
inline void release(void* user) {
  delete static_cast<allocator_callbacks*>(user);
}

}  // namespace memory_details

/// Every byte of engines that are made with it comes from the callbacks; see
/// docs/frameworks.md.
inline allocator make_allocator(const allocator_callbacks& callbacks) {
  if (callbacks.allocate == nullptr || callbacks.deallocate == nullptr) {
    error::fail(tim_graph_invalid_arguments,
                "could not make an allocator: a callback is null");
  }
  tim_graph_allocator_callbacks_t c_callbacks;
  c_callbacks.user = new allocator_callbacks(callbacks);
  c_callbacks.allocate = &memory_details::allocate;
  c_callbacks.deallocate = &memory_details::deallocate;
  c_callbacks.release = &memory_details::release;
  tim_graph_allocator_t made = nullptr;
  const tim_graph_status_t code =
      tim_graph_allocator_create_with_callbacks(&made, &c_callbacks);
  if (code != tim_graph_success) memory_details::release(c_callbacks.user);
  error::wrap_c_api(code, "could not make an allocator");
  return allocator(made);
}

struct engine_options {
  /// Device that a cpu engine computes on: "opencl:0", ... or "host".  Empty:
  /// what TIMCL_GRAPH_OFFLOAD names, else the CPU.
  std::string offload;
};

namespace memory_details {

inline engine make_engine(engine::kind kind, std::size_t index,
                          const_tim_graph_allocator_t alloc,
                          const engine_options& options, const char* failure) {
  tim_graph_engine_options_t c_options;
  c_options.offload = options.offload.c_str();
  tim_graph_engine_t made = nullptr;
  error::wrap_c_api(tim_graph_engine_create_with_options(
                        &made, static_cast<tim_graph_engine_kind_t>(kind),
                        index, alloc, &c_options),
                    failure);
  return engine(made);
}

}  // namespace memory_details

/// invalid_arguments where there is no such device.
inline engine make_engine(engine::kind kind, std::size_t index,
                          const engine_options& options) {
  return memory_details::make_engine(kind, index, nullptr, options,
                                     "could not make an engine with options");
}
/// The engine keeps the callbacks; the allocator may go.
inline engine make_engine(engine::kind kind, std::size_t index,
                          const allocator& alloc,
                          const engine_options& options) {
  return memory_details::make_engine(
      kind, index, alloc.get(), options,
      "could not make an engine with options and an allocator");
}

/// Place of a port's memory.
enum class residency : int {
  /// Host for cpu engines, device for gpu engines.
  automatic = tim_graph_residency_automatic,
  host = tim_graph_residency_host,
  device = tim_graph_residency_device,
  /// A pointer that the host and the device use without a copy.
  shared = tim_graph_residency_shared,
};

struct compile_options {
  /// Key: id of the tensor; ids that are no ports are ignored.  A port that is
  /// listed may be given with another floating-point type than the graph has:
  /// it is converted.
  std::map<std::size_t, residency> ports;
};

struct execute_options {
  /// Memory for an output whose handle is null, which becomes the handle; null:
  /// there is none, and nothing runs.
  void* (*allocate_output)(void* user, std::size_t id,
                           const tim_graph_logical_tensor_t* description,
                           std::size_t bytes, lifetime wanted) = nullptr;
  void* user = nullptr;
};

namespace memory_details {

inline void* allocate_output(void* user, std::size_t id,
                             const tim_graph_logical_tensor_t* description,
                             std::size_t bytes, tim_graph_lifetime_t wanted) {
  const auto* options = static_cast<const execute_options*>(user);
  return options->allocate_output(options->user, id, description, bytes,
                                  static_cast<lifetime>(wanted));
}

}  // namespace memory_details

inline compiled_partition partition::compile(
    const std::vector<logical_tensor>& inputs,
    const std::vector<logical_tensor>& outputs, const engine& aengine,
    const compile_options& options) const {
  std::vector<tim_graph_port_residency_t> ports;
  for (const auto& port : options.ports) {
    tim_graph_port_residency_t one;
    one.id = port.first;
    one.residency = static_cast<tim_graph_residency_t>(port.second);
    ports.push_back(one);
  }
  tim_graph_compile_options_t c_options;
  c_options.num_ports = ports.size();
  c_options.ports = ports.data();
  tim_graph_compiled_partition_t made = nullptr;
  error::wrap_c_api(tim_graph_compiled_partition_create(&made, get()),
                    "could not create a compiled partition");
  compiled_partition compiled(made);
  auto c_inputs = to_c(inputs);
  auto c_outputs = to_c(outputs);
  error::wrap_c_api(
      tim_graph_partition_compile_with_options(
          get(), made, c_inputs.size(), c_inputs.data(), c_outputs.size(),
          c_outputs.data(), aengine.get(), &c_options),
      "could not compile a partition with options");
  return compiled;
}

inline residency compiled_partition::get_residency(std::size_t id) const {
  tim_graph_residency_t found = tim_graph_residency_automatic;
  error::wrap_c_api(
      tim_graph_compiled_partition_get_residency(get(), id, &found),
      "could not get the residency of a port");
  return static_cast<residency>(found);
}

inline void compiled_partition::execute(stream& astream,
                                        const std::vector<tensor>& inputs,
                                        const std::vector<tensor>& outputs,
                                        const tensor& scratchpad,
                                        const execute_options& options) const {
  execute_options kept = options;
  tim_graph_execute_options_t c_options;
  c_options.allocate_output = options.allocate_output == nullptr
                                  ? nullptr
                                  : &memory_details::allocate_output;
  c_options.user = &kept;
  auto c_inputs = to_c(inputs);
  auto c_outputs = to_c(outputs);
  error::wrap_c_api(
      tim_graph_compiled_partition_execute_with_options(
          get(), astream.get(), c_inputs.size(), c_inputs.data(),
          c_outputs.size(), c_outputs.data(), scratchpad.get(true), &c_options),
      "could not execute a compiled partition with options");
}

/// Destructor of transfers.
template <>
struct handle_traits<tim_graph_transfer_t> {
  static tim_graph_status_t destructor(tim_graph_transfer_t transfer) {
    return tim_graph_transfer_destroy(transfer);
  }
};

/// A copy from memory of one engine to memory of another, or of the same, that
/// converts types and layouts.  Any thread.
class transfer : public handle<tim_graph_transfer_t> {
 public:
  transfer() = default;
  /// invalid_arguments where dims are not equal.
  transfer(const logical_tensor& from, const engine& from_engine,
           const logical_tensor& to, const engine& to_engine) {
    tim_graph_transfer_t made = nullptr;
    error::wrap_c_api(
        tim_graph_transfer_create(&made, convert_to_c(from), from_engine.get(),
                                  convert_to_c(to), to_engine.get()),
        "could not make a transfer");
    reset(made);
  }

  /// Runs on a stream of either engine; complete on return where one of the two
  /// engines is of kind cpu, unless the stream is asynchronous.
  void execute(stream& astream, const tensor& from, const tensor& to) const {
    error::wrap_c_api(
        tim_graph_transfer_execute(get(), astream.get(), from.get(), to.get()),
        "could not execute a transfer");
  }
};

}  // namespace graph
}  // namespace tim

#endif  // TIM_GRAPH_RESIDENCY_HPP_
