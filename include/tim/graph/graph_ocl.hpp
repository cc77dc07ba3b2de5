// The partition front on a client's OpenCL objects.  Needs no header of OpenCL.
#ifndef TIM_GRAPH_GRAPH_OCL_HPP_
#define TIM_GRAPH_GRAPH_OCL_HPP_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tim/graph/c_ocl.h"
#include "tim/graph/graph.hpp"

namespace tim {
namespace graph {
namespace ocl_interop {

/// Handles of tensors on gpu engines.
enum class memory_kind {
  usm = tim_graph_ocl_interop_usm,  ///< USM where the device has it, else SVM.
  buffer = tim_graph_ocl_interop_buffer,  ///< A cl_mem.
};

/// Memory that kernels can use; the event of a free may be null.
inline allocator make_allocator(tim_graph_ocl_allocate_f ocl_malloc,
                                tim_graph_ocl_deallocate_f ocl_free) {
  tim_graph_allocator_t made = nullptr;
  error::wrap_c_api(
      tim_graph_ocl_interop_allocator_create(&made, ocl_malloc, ocl_free),
      "could not make an allocator of OpenCL memory");
  return allocator(made);
}

/// A gpu engine on the client's objects, which it retains.  invalid_arguments
/// where the device is not of the context.
inline engine make_engine(cl_device_id device, cl_context context) {
  tim_graph_engine_t made = nullptr;
  error::wrap_c_api(tim_graph_ocl_interop_engine_create(&made, device, context),
                    "could not make an engine of OpenCL objects");
  return engine(made);
}
/// A blob that does not fit is ignored.
inline engine make_engine(cl_device_id device, cl_context context,
                          const std::vector<std::uint8_t>& cache_blob) {
  tim_graph_engine_t made = nullptr;
  error::wrap_c_api(
      tim_graph_ocl_interop_engine_create_from_cache_blob(
          &made, device, context, cache_blob.size(), cache_blob.data()),
      "could not make an engine of OpenCL objects with a cache blob");
  return engine(made);
}
inline engine make_engine_with_allocator(cl_device_id device,
                                         cl_context context,
                                         const allocator& alloc) {
  tim_graph_engine_t made = nullptr;
  error::wrap_c_api(tim_graph_ocl_interop_make_engine_with_allocator(
                        &made, device, context, alloc.get()),
                    "could not make an engine with an allocator");
  return engine(made);
}
inline engine make_engine_with_allocator(
    cl_device_id device, cl_context context, const allocator& alloc,
    const std::vector<std::uint8_t>& cache_blob) {
  tim_graph_engine_t made = nullptr;
  error::wrap_c_api(
      tim_graph_ocl_interop_make_engine_from_cache_blob_with_allocator(
          &made, device, context, alloc.get(), cache_blob.size(),
          cache_blob.data()),
      "could not make an engine with an allocator and a cache blob");
  return engine(made);
}

/// Device of any engine on an OpenCL device; not retained.
inline cl_device_id get_device(const engine& aengine) {
  cl_device_id device = nullptr;
  error::wrap_c_api(tim_graph_ocl_interop_get_device(aengine.get(), &device),
                    "could not get the device of an engine");
  return device;
}
inline cl_context get_context(const engine& aengine) {
  cl_context context = nullptr;
  error::wrap_c_api(
      tim_graph_ocl_interop_engine_get_context(aengine.get(), &context),
      "could not get the context of an engine");
  return context;
}

/// In the order of the client's queue, of the engine's context and device.
inline stream make_stream(const engine& aengine, cl_command_queue queue) {
  tim_graph_stream_t made = nullptr;
  error::wrap_c_api(
      tim_graph_ocl_interop_stream_create(&made, aengine.get(), queue),
      "could not make a stream of a command queue");
  return stream(made);
}
inline cl_command_queue get_command_queue(const stream& astream) {
  cl_command_queue queue = nullptr;
  error::wrap_c_api(
      tim_graph_ocl_interop_stream_get_command_queue(astream.get(), &queue),
      "could not get the command queue of a stream");
  return queue;
}

/// The engine's built programs.
inline std::vector<std::uint8_t> get_engine_cache_blob(const engine& aengine) {
  std::size_t size = 0;
  error::wrap_c_api(tim_graph_ocl_interop_engine_get_cache_blob(aengine.get(),
                                                                &size, nullptr),
                    "could not get the size of an engine's cache blob");
  std::vector<std::uint8_t> blob(size);
  if (size == 0) return blob;
  error::wrap_c_api(tim_graph_ocl_interop_engine_get_cache_blob(
                        aengine.get(), &size, blob.data()),
                    "could not get the cache blob of an engine");
  return blob;
}
/// The device that cache blobs are valid for.
inline std::vector<std::uint8_t> get_engine_cache_blob_id(cl_device_id device) {
  std::size_t size = 0;
  error::wrap_c_api(
      tim_graph_ocl_interop_engine_get_cache_blob_id(device, &size, nullptr),
      "could not get the size of the id of cache blobs");
  std::vector<std::uint8_t> id(size);
  if (size == 0) return id;
  error::wrap_c_api(
      tim_graph_ocl_interop_engine_get_cache_blob_id(device, &size, id.data()),
      "could not get the id of cache blobs");
  return id;
}

/// Objects of the C boundary, in order.
inline std::vector<const_tim_graph_tensor_t> objects_of(
    const std::vector<tensor>& tensors) {
  std::vector<const_tim_graph_tensor_t> objects;
  objects.reserve(tensors.size());
  for (const tensor& one : tensors) objects.push_back(one.get());
  return objects;
}

/// Starts behind `deps`; the event is the caller's.
inline cl_event execute(compiled_partition& compiled, stream& astream,
                        const std::vector<tensor>& inputs,
                        std::vector<tensor>& outputs, const tensor& scratchpad,
                        const std::vector<cl_event>& deps = {}) {
  std::vector<const_tim_graph_tensor_t> in = objects_of(inputs);
  std::vector<const_tim_graph_tensor_t> out = objects_of(outputs);
  cl_event done = nullptr;
  error::wrap_c_api(
      tim_graph_ocl_interop_compiled_partition_execute_v2(
          compiled.get(), astream.get(), in.size(), in.data(), out.size(),
          out.data(), scratchpad.get(true),
          deps.empty() ? nullptr : deps.data(), static_cast<int>(deps.size()),
          &done),
      "could not execute a compiled partition on a command queue");
  return done;
}
inline cl_event execute(compiled_partition& compiled, stream& astream,
                        const std::vector<tensor>& inputs,
                        std::vector<tensor>& outputs,
                        const std::vector<cl_event>& deps = {}) {
  return execute(compiled, astream, inputs, outputs, tensor(), deps);
}

/// A tensor of memory of that kind; MEMORY_ALLOCATE: the library's own.
inline tensor make_tensor(const logical_tensor& lt, const engine& aengine,
                          memory_kind kind,
                          void* memory = TIM_GRAPH_MEMORY_ALLOCATE) {
  tim_graph_tensor_t made = nullptr;
  error::wrap_c_api(
      tim_graph_ocl_interop_tensor_create(
          &made, convert_to_c(lt), aengine.get(),
          static_cast<tim_graph_ocl_interop_memory_kind_t>(kind), memory),
      "could not make a tensor of OpenCL memory");
  return tensor(made);
}
/// From `offset` bytes on.
inline tensor make_tensor(const logical_tensor& lt, const engine& aengine,
                          cl_mem buffer, std::size_t offset = 0) {
  tim_graph_tensor_t made = nullptr;
  error::wrap_c_api(tim_graph_ocl_interop_tensor_create_of_buffer(
                        &made, convert_to_c(lt), aengine.get(), buffer, offset),
                    "could not make a tensor of a buffer");
  return tensor(made);
}
inline memory_kind get_memory_kind(const tensor& atensor) {
  tim_graph_ocl_interop_memory_kind_t kind = tim_graph_ocl_interop_usm;
  error::wrap_c_api(
      tim_graph_ocl_interop_tensor_get_memory_kind(atensor.get(), &kind),
      "could not get the kind of memory of a tensor");
  return static_cast<memory_kind>(kind);
}
inline cl_mem get_mem_object(const tensor& atensor) {
  cl_mem buffer = nullptr;
  error::wrap_c_api(
      tim_graph_ocl_interop_tensor_get_mem_object(atensor.get(), &buffer),
      "could not get the buffer of a tensor");
  return buffer;
}
inline void set_mem_object(tensor& atensor, cl_mem buffer) {
  error::wrap_c_api(
      tim_graph_ocl_interop_tensor_set_mem_object(atensor.get(), buffer),
      "could not set the buffer of a tensor");
}

}  // namespace ocl_interop
}  // namespace graph
}  // namespace tim

#endif  // TIM_GRAPH_GRAPH_OCL_HPP_
