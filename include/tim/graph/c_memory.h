/* The C boundary's part about memory: allocators with lifetimes, outputs that
 * the client allocates, residency of ports, transfers, and cpu engines that
 * compute on another device.  oneDNN has none of it.  C11 and C++14. */
#ifndef TIM_GRAPH_C_MEMORY_H_
#define TIM_GRAPH_C_MEMORY_H_

#include "tim/graph/c.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Memory that an allocator is asked for. */
typedef enum TIM_GRAPH_ANY_INT {
  tim_graph_lifetime_persistent = 0, /**< Constants, kept with their plans. */
  tim_graph_lifetime_output = 1,     /**< Tensors. */
  tim_graph_lifetime_temporary = 2,  /**< Memory of runs. */
} tim_graph_lifetime_t;

/** Functions of a client, called by any thread, several at a time. */
typedef struct {
  void* user; /**< Handed to each function. */
  /** Memory at a multiple of `alignment`, a power of two; null: none.  For cpu
   * engines memory of the host, for gpu engines memory that kernels can
   * use (USM, SVM). */
  void* (*allocate)(void* user, size_t size, size_t alignment,
                    tim_graph_lifetime_t lifetime);
  /** `event`: a cl_event after which the memory may go; null: at once. */
  void (*deallocate)(void* user, void* memory, void* event);
  /** After the last of the others; may be null. */
  void (*release)(void* user);
} tim_graph_allocator_callbacks_t;

TIM_API tim_graph_status_t tim_graph_allocator_create_with_callbacks(
    tim_graph_allocator_t* allocator,
    const tim_graph_allocator_callbacks_t* callbacks);

typedef struct {
  /** Device that a cpu engine computes on: "opencl:<number>", "opencl" or
   * "host". Null or empty: what TIMCL_GRAPH_OFFLOAD names, else the CPU. */
  const char* offload;
} tim_graph_engine_options_t;

/** `alloc` and `options` may be null. */
TIM_API tim_graph_status_t tim_graph_engine_create_with_options(
    tim_graph_engine_t* engine, tim_graph_engine_kind_t kind, size_t index,
    const_tim_graph_allocator_t alloc,
    const tim_graph_engine_options_t* options);

/** Place of a port's memory. */
typedef enum TIM_GRAPH_ANY_INT {
  /** Host for cpu engines, device for gpu engines. */
  tim_graph_residency_automatic = 0,
  tim_graph_residency_host = 1,
  tim_graph_residency_device = 2,
  /** A pointer that the host and the device use without a copy. */
  tim_graph_residency_shared = 3,
} tim_graph_residency_t;

typedef struct {
  size_t id; /**< Of the port's tensor. */
  tim_graph_residency_t residency;
} tim_graph_port_residency_t;

typedef struct {
  /** Ids that are no ports are ignored.  A port that is listed may be given
   * with another floating-point type than the graph has: it is converted. */
  size_t num_ports;
  const tim_graph_port_residency_t* ports;
} tim_graph_compile_options_t;

/** `options` may be null. */
TIM_API tim_graph_status_t tim_graph_partition_compile_with_options(
    tim_graph_partition_t partition,
    tim_graph_compiled_partition_t compiled_partition, size_t in_num,
    const tim_graph_logical_tensor_t** inputs, size_t out_num,
    const tim_graph_logical_tensor_t** outputs, tim_graph_engine_t engine,
    const tim_graph_compile_options_t* options);
/** Never automatic for a port; automatic for an id that is none. */
TIM_API tim_graph_status_t tim_graph_compiled_partition_get_residency(
    const_tim_graph_compiled_partition_t compiled_partition, size_t id,
    tim_graph_residency_t* residency);

typedef struct {
  /** Memory for an output whose handle is null, which becomes the handle.
   * Called before work starts; null: there is none, and nothing runs.  Null:
   * every output needs a handle. */
  void* (*allocate_output)(void* user, size_t id,
                           const tim_graph_logical_tensor_t* description,
                           size_t bytes, tim_graph_lifetime_t lifetime);
  void* user;
} tim_graph_execute_options_t;

/** `scratchpad` and `options` may be null. */
TIM_API tim_graph_status_t tim_graph_compiled_partition_execute_with_options(
    const_tim_graph_compiled_partition_t compiled_partition,
    tim_graph_stream_t stream, size_t num_inputs,
    const_tim_graph_tensor_t* inputs, size_t num_outputs,
    const_tim_graph_tensor_t* outputs, const_tim_graph_tensor_t scratchpad,
    const tim_graph_execute_options_t* options);

typedef struct tim_graph_transfer* tim_graph_transfer_t;
typedef const struct tim_graph_transfer* const_tim_graph_transfer_t;

/** A copy from memory of one engine to another's, or to its own.  Dims are
 * equal and known; types and layouts may differ. */
TIM_API tim_graph_status_t tim_graph_transfer_create(
    tim_graph_transfer_t* transfer, const tim_graph_logical_tensor_t* from,
    tim_graph_engine_t from_engine, const tim_graph_logical_tensor_t* to,
    tim_graph_engine_t to_engine);
TIM_API tim_graph_status_t
tim_graph_transfer_destroy(tim_graph_transfer_t transfer);
/** `stream` of either engine. */
TIM_API tim_graph_status_t tim_graph_transfer_execute(
    const_tim_graph_transfer_t transfer, tim_graph_stream_t stream,
    const_tim_graph_tensor_t from, const_tim_graph_tensor_t to);

#ifdef __cplusplus
}
#endif

#endif /* TIM_GRAPH_C_MEMORY_H_ */
