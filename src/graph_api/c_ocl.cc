// The C boundary: OpenCL's objects of a client.
#include "tim/graph/c_ocl.h"

#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "device/opencl/interop/client_queue.h"
#include "graph_api/compiled_partition.h"
#include "graph_api/error.h"
#include "graph_api/ocl_interop.h"
#include "graph_api/options.h"

namespace tim::graph {
namespace {

Status MakeEngine(tim_graph_engine_t* engine, cl_device_id device,
                  cl_context context, const_tim_graph_allocator_t allocator,
                  size_t size, const uint8_t* blob) {
  TIM_RETURN_IF_ERROR(RequireNotNull(engine, "engine"));
  if (size > 0) TIM_RETURN_IF_ERROR(RequireNotNull(blob, "cache blob"));
  TIM_ASSIGN_OR_RETURN(*engine,
                       MakeOclEngine(device, context, allocator, {blob, size}));
  return OkStatus();
}

// The size where `out` is null, else as many bytes.
Status GiveBytes(const std::vector<uint8_t>& bytes, size_t* size,
                 uint8_t* out) {
  if (out == nullptr) {
    *size = bytes.size();
    return OkStatus();
  }
  if (*size < bytes.size()) {
    return InvalidArgument("the blob has ", bytes.size(),
                           " bytes, there is place for ", *size);
  }
  *size = bytes.size();
  std::memcpy(out, bytes.data(), bytes.size());
  return OkStatus();
}

Result<HandleKind> KindOf(tim_graph_ocl_interop_memory_kind_t kind) {
  if (kind == tim_graph_ocl_interop_usm) return HandleKind::kPointer;
  if (kind == tim_graph_ocl_interop_buffer) return HandleKind::kMemObject;
  return InvalidArgument("memory kind ", static_cast<int>(kind),
                         " is neither usm (0) nor buffer (1)");
}

Status Execute(const_tim_graph_compiled_partition_t compiled_partition,
               tim_graph_stream_t stream, ClientTensors inputs,
               ClientTensors outputs, const_tim_graph_tensor_t scratchpad,
               std::span<const cl_event> deps, cl_event* return_event) {
  TIM_RETURN_IF_ERROR(RequireNotNull(compiled_partition, "compiled partition"));
  TIM_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
  const Engine& engine = *stream->engine();
  if (engine.kind() != tim_graph_gpu) {
    return InvalidArgument(
        "ocl_interop::execute() was called for a cpu engine; events order "
        "executes of gpu engines");
  }
  TIM_RETURN_IF_ERROR(
      RequireNotNull(compiled_partition->compiled.get(), "compiled partition"));
  const std::vector<void*> events(deps.begin(), deps.end());
  TIM_ASSIGN_OR_RETURN(const auto waits, EventsOf(engine, events));
  TIM_ASSIGN_OR_RETURN(device::Event * end,
                       compiled_partition->compiled->ExecuteOnGpu(
                           *stream, inputs, outputs, scratchpad, waits,
                           GetGraphOptions().check));
  if (return_event != nullptr) {
    *return_event = static_cast<cl_event>(device::RetainedHandle(*end));
  }
  return OkStatus();
}

Status CheckCounts(size_t inputs, const const_tim_graph_tensor_t* input_list,
                   size_t outputs, const const_tim_graph_tensor_t* output_list,
                   int deps, const cl_event* dep_list) {
  if (inputs > 0) {
    TIM_RETURN_IF_ERROR(RequireNotNull(input_list, "list of inputs"));
  }
  if (outputs > 0) {
    TIM_RETURN_IF_ERROR(RequireNotNull(output_list, "list of outputs"));
  }
  if (deps < 0) return InvalidArgument(deps, " events to wait for");
  if (deps > 0) {
    TIM_RETURN_IF_ERROR(RequireNotNull(dep_list, "list of events"));
  }
  return OkStatus();
}

}  // namespace
}  // namespace tim::graph

using namespace tim;         // NOLINT
using namespace tim::graph;  // NOLINT

tim_graph_status_t tim_graph_ocl_interop_allocator_create(
    tim_graph_allocator_t* allocator, tim_graph_ocl_allocate_f ocl_malloc,
    tim_graph_ocl_deallocate_f ocl_free) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(allocator, "allocator"));
    auto made = std::make_unique<tim_graph_allocator>();
    if (ocl_malloc != nullptr && ocl_free != nullptr) {
      made->allocator = MakeOclAllocator(ocl_malloc, ocl_free);
    }
    made->of_opencl = true;
    *allocator = made.release();
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_ocl_interop_make_engine_with_allocator(
    tim_graph_engine_t* engine, cl_device_id device, cl_context context,
    const_tim_graph_allocator_t alloc) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(alloc, "allocator"));
    return MakeEngine(engine, device, context, alloc, 0, nullptr);
  });
}

tim_graph_status_t
tim_graph_ocl_interop_make_engine_from_cache_blob_with_allocator(
    tim_graph_engine_t* engine, cl_device_id device, cl_context context,
    const_tim_graph_allocator_t alloc, size_t size, const uint8_t* cache_blob) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(alloc, "allocator"));
    return MakeEngine(engine, device, context, alloc, size, cache_blob);
  });
}

tim_graph_status_t tim_graph_ocl_interop_engine_create(
    tim_graph_engine_t* engine, cl_device_id device, cl_context context) {
  return Answer(
      [&] { return MakeEngine(engine, device, context, nullptr, 0, nullptr); });
}

tim_graph_status_t tim_graph_ocl_interop_engine_create_from_cache_blob(
    tim_graph_engine_t* engine, cl_device_id device, cl_context context,
    size_t size, const uint8_t* cache_blob) {
  return Answer([&] {
    return MakeEngine(engine, device, context, nullptr, size, cache_blob);
  });
}

tim_graph_status_t tim_graph_ocl_interop_engine_get_cache_blob(
    tim_graph_engine_t engine, size_t* size, uint8_t* cache_blob) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(engine, "engine"));
    TIM_RETURN_IF_ERROR(RequireNotNull(size, "size"));
    TIM_ASSIGN_OR_RETURN(const auto blob, CacheBlobOf(*engine));
    return GiveBytes(blob, size, cache_blob);
  });
}

tim_graph_status_t tim_graph_ocl_interop_engine_get_cache_blob_id(
    cl_device_id device, size_t* size, uint8_t* cache_blob_id) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(size, "size"));
    TIM_ASSIGN_OR_RETURN(const auto id, CacheBlobIdOf(device));
    return GiveBytes(id, size, cache_blob_id);
  });
}

tim_graph_status_t tim_graph_ocl_interop_engine_get_context(
    tim_graph_engine_t engine, cl_context* context) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(engine, "engine"));
    TIM_RETURN_IF_ERROR(RequireNotNull(context, "context"));
    TIM_ASSIGN_OR_RETURN(void* const own, ContextOf(*engine));
    *context = static_cast<cl_context>(own);
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_ocl_interop_get_device(tim_graph_engine_t engine,
                                                    cl_device_id* device) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(engine, "engine"));
    TIM_RETURN_IF_ERROR(RequireNotNull(device, "device"));
    TIM_ASSIGN_OR_RETURN(void* const own, DeviceOf(*engine));
    *device = static_cast<cl_device_id>(own);
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_ocl_interop_stream_create(
    tim_graph_stream_t* stream, tim_graph_engine_t engine,
    cl_command_queue queue) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
    TIM_RETURN_IF_ERROR(RequireNotNull(engine, "engine"));
    TIM_ASSIGN_OR_RETURN(*stream,
                         MakeOclStream(engine->shared_from_this(), queue));
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_ocl_interop_stream_get_command_queue(
    tim_graph_stream_t stream, cl_command_queue* queue) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
    TIM_RETURN_IF_ERROR(RequireNotNull(queue, "command queue"));
    TIM_ASSIGN_OR_RETURN(void* const own, CommandQueueOf(*stream));
    *queue = static_cast<cl_command_queue>(own);
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_ocl_interop_compiled_partition_execute(
    const_tim_graph_compiled_partition_t compiled_partition,
    tim_graph_stream_t stream, size_t num_inputs,
    const_tim_graph_tensor_t* inputs, size_t num_outputs,
    const_tim_graph_tensor_t* outputs, const cl_event* deps, int ndeps,
    cl_event* return_event) {
  return tim_graph_ocl_interop_compiled_partition_execute_v2(
      compiled_partition, stream, num_inputs, inputs, num_outputs, outputs,
      nullptr, deps, ndeps, return_event);
}

tim_graph_status_t tim_graph_ocl_interop_compiled_partition_execute_v2(
    const_tim_graph_compiled_partition_t compiled_partition,
    tim_graph_stream_t stream, size_t num_inputs,
    const_tim_graph_tensor_t* inputs, size_t num_outputs,
    const_tim_graph_tensor_t* outputs, const_tim_graph_tensor_t scratchpad,
    const cl_event* deps, int ndeps, cl_event* return_event) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(
        CheckCounts(num_inputs, inputs, num_outputs, outputs, ndeps, deps));
    return Execute(compiled_partition, stream, {inputs, num_inputs},
                   {outputs, num_outputs}, scratchpad,
                   {deps, static_cast<size_t>(ndeps)}, return_event);
  });
}

tim_graph_status_t tim_graph_ocl_interop_tensor_create(
    tim_graph_tensor_t* tensor,
    const tim_graph_logical_tensor_t* logical_tensor, tim_graph_engine_t engine,
    tim_graph_ocl_interop_memory_kind_t kind, void* handle) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(tensor, "tensor"));
    TIM_RETURN_IF_ERROR(RequireNotNull(logical_tensor, "logical tensor"));
    TIM_RETURN_IF_ERROR(RequireNotNull(engine, "engine"));
    TIM_ASSIGN_OR_RETURN(const HandleKind handle_kind, KindOf(kind));
    TIM_ASSIGN_OR_RETURN(
        *tensor, MakeOclTensor(*logical_tensor, engine->shared_from_this(),
                               handle_kind, handle));
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_ocl_interop_tensor_create_of_buffer(
    tim_graph_tensor_t* tensor,
    const tim_graph_logical_tensor_t* logical_tensor, tim_graph_engine_t engine,
    cl_mem buffer, size_t offset) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(tensor, "tensor"));
    TIM_RETURN_IF_ERROR(RequireNotNull(logical_tensor, "logical tensor"));
    TIM_RETURN_IF_ERROR(RequireNotNull(engine, "engine"));
    TIM_ASSIGN_OR_RETURN(
        *tensor, MakeOclTensor(*logical_tensor, engine->shared_from_this(),
                               static_cast<void*>(buffer), offset));
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_ocl_interop_tensor_get_memory_kind(
    const_tim_graph_tensor_t tensor,
    tim_graph_ocl_interop_memory_kind_t* kind) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(tensor, "tensor"));
    TIM_RETURN_IF_ERROR(RequireNotNull(kind, "memory kind"));
    TIM_ASSIGN_OR_RETURN(const HandleKind own, MemoryKindOf(*tensor));
    *kind = own == HandleKind::kPointer ? tim_graph_ocl_interop_usm
                                        : tim_graph_ocl_interop_buffer;
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_ocl_interop_tensor_get_mem_object(
    const_tim_graph_tensor_t tensor, cl_mem* buffer) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(tensor, "tensor"));
    TIM_RETURN_IF_ERROR(RequireNotNull(buffer, "cl_mem"));
    TIM_ASSIGN_OR_RETURN(void* const own, MemObjectOf(*tensor));
    *buffer = static_cast<cl_mem>(own);
    return OkStatus();
  });
}

tim_graph_status_t tim_graph_ocl_interop_tensor_set_mem_object(
    tim_graph_tensor_t tensor, cl_mem buffer) {
  return Answer([&]() -> Status {
    TIM_RETURN_IF_ERROR(RequireNotNull(tensor, "tensor"));
    return SetMemObject(tensor, buffer);
  });
}
