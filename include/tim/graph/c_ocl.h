/* The C boundary's OpenCL part: engines, streams and tensors of a client's
 * OpenCL objects.  Needs no header of OpenCL; CL/cl.h may be included before or
 * behind. */
#ifndef TIM_GRAPH_C_OCL_H_
#define TIM_GRAPH_C_OCL_H_

#include "tim/graph/c.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The same types as in CL/cl.h. */
typedef struct _cl_device_id* cl_device_id;
typedef struct _cl_context* cl_context;
typedef struct _cl_command_queue* cl_command_queue;
typedef struct _cl_mem* cl_mem;
typedef struct _cl_event* cl_event;

/** Handle of a tensor on a gpu engine: a pointer that kernels can use (USM
 * where the device has it, else SVM), or a cl_mem. */
typedef enum TIM_GRAPH_ANY_INT {
  tim_graph_ocl_interop_usm = 0,
  tim_graph_ocl_interop_buffer = 1,
} tim_graph_ocl_interop_memory_kind_t;

typedef void* (*tim_graph_ocl_allocate_f)(size_t size, size_t alignment,
                                          cl_device_id device,
                                          cl_context context);
/** `event`: the memory may go after it; null: at once. */
typedef void (*tim_graph_ocl_deallocate_f)(void* buf, cl_device_id device,
                                           cl_context context, cl_event event);

TIM_API tim_graph_status_t tim_graph_ocl_interop_allocator_create(
    tim_graph_allocator_t* allocator, tim_graph_ocl_allocate_f ocl_malloc,
    tim_graph_ocl_deallocate_f ocl_free);
TIM_API tim_graph_status_t tim_graph_ocl_interop_make_engine_with_allocator(
    tim_graph_engine_t* engine, cl_device_id device, cl_context context,
    const_tim_graph_allocator_t alloc);
TIM_API tim_graph_status_t
tim_graph_ocl_interop_make_engine_from_cache_blob_with_allocator(
    tim_graph_engine_t* engine, cl_device_id device, cl_context context,
    const_tim_graph_allocator_t alloc, size_t size, const uint8_t* cache_blob);
TIM_API tim_graph_status_t tim_graph_ocl_interop_engine_create(
    tim_graph_engine_t* engine, cl_device_id device, cl_context context);
TIM_API tim_graph_status_t tim_graph_ocl_interop_engine_create_from_cache_blob(
    tim_graph_engine_t* engine, cl_device_id device, cl_context context,
    size_t size, const uint8_t* cache_blob);
/** With a null `cache_blob` only the size is told. */
TIM_API tim_graph_status_t tim_graph_ocl_interop_engine_get_cache_blob(
    tim_graph_engine_t engine, size_t* size, uint8_t* cache_blob);
TIM_API tim_graph_status_t tim_graph_ocl_interop_engine_get_cache_blob_id(
    cl_device_id device, size_t* size, uint8_t* cache_blob_id);
TIM_API tim_graph_status_t tim_graph_ocl_interop_engine_get_context(
    tim_graph_engine_t engine, cl_context* context);
TIM_API tim_graph_status_t tim_graph_ocl_interop_get_device(
    tim_graph_engine_t engine, cl_device_id* device);
TIM_API tim_graph_status_t tim_graph_ocl_interop_stream_create(
    tim_graph_stream_t* stream, tim_graph_engine_t engine,
    cl_command_queue queue);
TIM_API tim_graph_status_t tim_graph_ocl_interop_stream_get_command_queue(
    tim_graph_stream_t stream, cl_command_queue* queue);
TIM_API tim_graph_status_t tim_graph_ocl_interop_compiled_partition_execute(
    const_tim_graph_compiled_partition_t compiled_partition,
    tim_graph_stream_t stream, size_t num_inputs,
    const_tim_graph_tensor_t* inputs, size_t num_outputs,
    const_tim_graph_tensor_t* outputs, const cl_event* deps, int ndeps,
    cl_event* return_event);
TIM_API tim_graph_status_t tim_graph_ocl_interop_compiled_partition_execute_v2(
    const_tim_graph_compiled_partition_t compiled_partition,
    tim_graph_stream_t stream, size_t num_inputs,
    const_tim_graph_tensor_t* inputs, size_t num_outputs,
    const_tim_graph_tensor_t* outputs, const_tim_graph_tensor_t scratchpad,
    const cl_event* deps, int ndeps, cl_event* return_event);

/* Tensors by kind of memory; oneDNN has none of these. */
TIM_API tim_graph_status_t tim_graph_ocl_interop_tensor_create(
    tim_graph_tensor_t* tensor,
    const tim_graph_logical_tensor_t* logical_tensor, tim_graph_engine_t engine,
    tim_graph_ocl_interop_memory_kind_t kind, void* handle);
/** `offset` in bytes. */
TIM_API tim_graph_status_t tim_graph_ocl_interop_tensor_create_of_buffer(
    tim_graph_tensor_t* tensor,
    const tim_graph_logical_tensor_t* logical_tensor, tim_graph_engine_t engine,
    cl_mem buffer, size_t offset);
TIM_API tim_graph_status_t tim_graph_ocl_interop_tensor_get_memory_kind(
    const_tim_graph_tensor_t tensor, tim_graph_ocl_interop_memory_kind_t* kind);
TIM_API tim_graph_status_t tim_graph_ocl_interop_tensor_get_mem_object(
    const_tim_graph_tensor_t tensor, cl_mem* buffer);
TIM_API tim_graph_status_t tim_graph_ocl_interop_tensor_set_mem_object(
    tim_graph_tensor_t tensor, cl_mem buffer);

#ifdef __cplusplus
}
#endif

#endif /* TIM_GRAPH_C_OCL_H_ */
