/* The C boundary of the partition front: types and functions that cross it.
 *
 * Frameworks hand over operations and logical tensors, get partitions, compile
 * them for shapes and an engine, and execute them with tensors on a stream.
 * Names are those of oneDNN's C API with "tim_graph_" for "dnnl_graph_" or
 * "dnnl_"; parameters, their order and all values are equal.
 *
 * Every function returns a status but those that say otherwise.  A null where
 * an object or a result is needed is tim_graph_invalid_arguments.  After a
 * failure tim_graph_last_message() tells this thread why.  tim/graph/graph.hpp
 * has the same as classes.  C11 and C++14. */
#ifndef TIM_GRAPH_C_H_
#define TIM_GRAPH_C_H_

#include "tim/export.h"
#include "tim/graph/c_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Engines and streams. */
TIM_API size_t tim_graph_engine_get_count(tim_graph_engine_kind_t kind);
TIM_API tim_graph_status_t tim_graph_engine_create(tim_graph_engine_t* engine,
                                                   tim_graph_engine_kind_t kind,
                                                   size_t index);
TIM_API tim_graph_status_t tim_graph_engine_get_kind(
    tim_graph_engine_t engine, tim_graph_engine_kind_t* kind);
TIM_API tim_graph_status_t tim_graph_engine_destroy(tim_graph_engine_t engine);
TIM_API tim_graph_status_t tim_graph_stream_create(tim_graph_stream_t* stream,
                                                   tim_graph_engine_t engine,
                                                   unsigned flags);
TIM_API tim_graph_status_t tim_graph_stream_get_engine(
    const_tim_graph_stream_t stream, tim_graph_engine_t* engine);
TIM_API tim_graph_status_t tim_graph_stream_wait(tim_graph_stream_t stream);
TIM_API tim_graph_status_t tim_graph_stream_destroy(tim_graph_stream_t stream);
TIM_API tim_graph_status_t
tim_graph_get_default_fpmath_mode(tim_graph_fpmath_mode_t* mode);
TIM_API tim_graph_status_t
tim_graph_set_default_fpmath_mode(tim_graph_fpmath_mode_t mode);
TIM_API tim_graph_status_t tim_graph_set_verbose(int level);
/** A constant. */
TIM_API const tim_graph_version_t* tim_graph_version(void);
/** Why the last call of this thread that failed did so; never null, valid until
 * the next one. */
TIM_API const char* tim_graph_last_message(void);
/** Names of enumerators; "unknown ..." of other numbers. */
TIM_API const char* tim_graph_status2str(tim_graph_status_t status);
TIM_API const char* tim_graph_dt2str(tim_graph_data_type_t type);
TIM_API const char* tim_graph_engine_kind2str(tim_graph_engine_kind_t kind);
TIM_API const char* tim_graph_fpmath_mode2str(tim_graph_fpmath_mode_t mode);

/* Allocators. */
TIM_API tim_graph_status_t tim_graph_allocator_create(
    tim_graph_allocator_t* allocator, tim_graph_host_allocate_f host_malloc,
    tim_graph_host_deallocate_f host_free);
TIM_API tim_graph_status_t
tim_graph_allocator_destroy(tim_graph_allocator_t allocator);
TIM_API tim_graph_status_t tim_graph_make_engine_with_allocator(
    tim_graph_engine_t* engine, tim_graph_engine_kind_t kind, size_t index,
    const_tim_graph_allocator_t alloc);

/* Logical tensors. */
TIM_API tim_graph_status_t tim_graph_logical_tensor_init(
    tim_graph_logical_tensor_t* logical_tensor, size_t tid,
    tim_graph_data_type_t dtype, int32_t ndims, tim_graph_layout_type_t ltype,
    tim_graph_tensor_property_t ptype);
TIM_API tim_graph_status_t tim_graph_logical_tensor_init_with_dims(
    tim_graph_logical_tensor_t* logical_tensor, size_t tid,
    tim_graph_data_type_t dtype, int32_t ndims, const tim_graph_dims_t dims,
    tim_graph_layout_type_t ltype, tim_graph_tensor_property_t ptype);
TIM_API tim_graph_status_t tim_graph_logical_tensor_init_with_strides(
    tim_graph_logical_tensor_t* logical_tensor, size_t tid,
    tim_graph_data_type_t dtype, int32_t ndims, const tim_graph_dims_t dims,
    const tim_graph_dims_t strides, tim_graph_tensor_property_t ptype);
TIM_API tim_graph_status_t tim_graph_logical_tensor_get_mem_size(
    const tim_graph_logical_tensor_t* logical_tensor, size_t* size);
TIM_API tim_graph_status_t tim_graph_logical_tensor_is_equal(
    const tim_graph_logical_tensor_t* lt1,
    const tim_graph_logical_tensor_t* lt2, uint8_t* is_equal);

/* Tensors. */
TIM_API tim_graph_status_t
tim_graph_tensor_create(tim_graph_tensor_t* tensor,
                        const tim_graph_logical_tensor_t* logical_tensor,
                        tim_graph_engine_t engine, void* handle);
TIM_API tim_graph_status_t tim_graph_tensor_create_scalar(
    tim_graph_tensor_t* tensor,
    const tim_graph_logical_tensor_t* logical_tensor, void* handle);
TIM_API tim_graph_status_t tim_graph_tensor_destroy(tim_graph_tensor_t tensor);
TIM_API tim_graph_status_t tim_graph_tensor_get_data_handle(
    const_tim_graph_tensor_t tensor, void** handle);
TIM_API tim_graph_status_t
tim_graph_tensor_set_data_handle(tim_graph_tensor_t tensor, void* handle);
TIM_API tim_graph_status_t tim_graph_tensor_get_engine(
    const_tim_graph_tensor_t tensor, tim_graph_engine_t* engine);
TIM_API tim_graph_status_t
tim_graph_tensor_get_logical_tensor(const_tim_graph_tensor_t tensor,
                                    tim_graph_logical_tensor_t* logical_tensor);

/* Operations. */
TIM_API tim_graph_status_t tim_graph_op_create(tim_graph_op_t* op, size_t id,
                                               tim_graph_op_kind_t kind,
                                               const char* verbose_name);
TIM_API tim_graph_status_t tim_graph_op_destroy(tim_graph_op_t op);
TIM_API tim_graph_status_t tim_graph_op_add_input(
    tim_graph_op_t op, const tim_graph_logical_tensor_t* input);
TIM_API tim_graph_status_t tim_graph_op_add_output(
    tim_graph_op_t op, const tim_graph_logical_tensor_t* output);
TIM_API tim_graph_status_t tim_graph_op_set_attr_f32(tim_graph_op_t op,
                                                     tim_graph_op_attr_t name,
                                                     const float* value,
                                                     size_t value_len);
TIM_API tim_graph_status_t tim_graph_op_set_attr_bool(tim_graph_op_t op,
                                                      tim_graph_op_attr_t name,
                                                      const uint8_t* value,
                                                      size_t value_len);
TIM_API tim_graph_status_t tim_graph_op_set_attr_s64(tim_graph_op_t op,
                                                     tim_graph_op_attr_t name,
                                                     const int64_t* value,
                                                     size_t value_len);
TIM_API tim_graph_status_t tim_graph_op_set_attr_str(tim_graph_op_t op,
                                                     tim_graph_op_attr_t name,
                                                     const char* value,
                                                     size_t value_len);
TIM_API tim_graph_status_t tim_graph_op_get_id(const_tim_graph_op_t op,
                                               size_t* id);
TIM_API tim_graph_status_t tim_graph_op_get_kind(const_tim_graph_op_t op,
                                                 tim_graph_op_kind_t* kind);

/* Graphs. */
TIM_API tim_graph_status_t tim_graph_graph_create(
    tim_graph_graph_t* graph, tim_graph_engine_kind_t engine_kind);
TIM_API tim_graph_status_t tim_graph_graph_create_with_fpmath_mode(
    tim_graph_graph_t* graph, tim_graph_engine_kind_t engine_kind,
    tim_graph_fpmath_mode_t mode);
TIM_API tim_graph_status_t tim_graph_graph_destroy(tim_graph_graph_t graph);
TIM_API tim_graph_status_t tim_graph_graph_set_fpmath_mode(
    tim_graph_graph_t graph, tim_graph_fpmath_mode_t mode, int apply_to_int);
TIM_API tim_graph_status_t tim_graph_graph_get_fpmath_mode(
    tim_graph_graph_t graph, tim_graph_fpmath_mode_t* mode, int* apply_to_int);
TIM_API tim_graph_status_t tim_graph_add_op(tim_graph_graph_t graph,
                                            tim_graph_op_t op);
TIM_API tim_graph_status_t tim_graph_graph_finalize(tim_graph_graph_t graph);
TIM_API tim_graph_status_t tim_graph_graph_is_finalized(tim_graph_graph_t graph,
                                                        uint8_t* finalized);
TIM_API tim_graph_status_t tim_graph_graph_filter(
    tim_graph_graph_t graph, tim_graph_partition_policy_t policy);
TIM_API tim_graph_status_t
tim_graph_graph_get_partition_num(const_tim_graph_graph_t graph, size_t* num);
TIM_API tim_graph_status_t tim_graph_graph_get_partitions(
    tim_graph_graph_t graph, size_t num, tim_graph_partition_t* partitions);

/* Partitions. */
TIM_API tim_graph_status_t tim_graph_partition_create_with_op(
    tim_graph_partition_t* partition, const_tim_graph_op_t op,
    tim_graph_engine_kind_t ekind);
TIM_API tim_graph_status_t
tim_graph_partition_destroy(tim_graph_partition_t partition);
TIM_API tim_graph_status_t tim_graph_partition_get_op_num(
    const_tim_graph_partition_t partition, size_t* num);
TIM_API tim_graph_status_t tim_graph_partition_get_ops(
    tim_graph_partition_t partition, size_t num, size_t* ids);
TIM_API tim_graph_status_t
tim_graph_partition_get_id(const_tim_graph_partition_t partition, size_t* id);
TIM_API tim_graph_status_t tim_graph_partition_compile(
    tim_graph_partition_t partition,
    tim_graph_compiled_partition_t compiled_partition, size_t in_num,
    const tim_graph_logical_tensor_t** inputs, size_t out_num,
    const tim_graph_logical_tensor_t** outputs, tim_graph_engine_t engine);
TIM_API tim_graph_status_t tim_graph_partition_get_input_ports_num(
    const_tim_graph_partition_t partition, size_t* num);
TIM_API tim_graph_status_t tim_graph_partition_get_input_ports(
    const_tim_graph_partition_t partition, size_t num,
    tim_graph_logical_tensor_t* inputs);
TIM_API tim_graph_status_t tim_graph_partition_get_output_ports_num(
    const_tim_graph_partition_t partition, size_t* num);
TIM_API tim_graph_status_t tim_graph_partition_get_output_ports(
    const_tim_graph_partition_t partition, size_t num,
    tim_graph_logical_tensor_t* outputs);
TIM_API tim_graph_status_t tim_graph_partition_is_supported(
    const_tim_graph_partition_t partition, uint8_t* is_supported);
TIM_API tim_graph_status_t tim_graph_partition_get_engine_kind(
    const_tim_graph_partition_t partition, tim_graph_engine_kind_t* kind);

/* Compiled partitions. */
TIM_API tim_graph_status_t tim_graph_compiled_partition_create(
    tim_graph_compiled_partition_t* compiled_partition,
    tim_graph_partition_t partition);
TIM_API tim_graph_status_t tim_graph_compiled_partition_execute(
    const_tim_graph_compiled_partition_t compiled_partition,
    tim_graph_stream_t stream, size_t num_inputs,
    const_tim_graph_tensor_t* inputs, size_t num_outputs,
    const_tim_graph_tensor_t* outputs);
TIM_API tim_graph_status_t tim_graph_compiled_partition_execute_v2(
    const_tim_graph_compiled_partition_t compiled_partition,
    tim_graph_stream_t stream, size_t num_inputs,
    const_tim_graph_tensor_t* inputs, size_t num_outputs,
    const_tim_graph_tensor_t* outputs, const_tim_graph_tensor_t scratchpad);
TIM_API tim_graph_status_t tim_graph_compiled_partition_destroy(
    tim_graph_compiled_partition_t compiled_partition);
TIM_API tim_graph_status_t tim_graph_compiled_partition_query_logical_tensor(
    const_tim_graph_compiled_partition_t compiled_partition, size_t tid,
    tim_graph_logical_tensor_t* lt);
TIM_API tim_graph_status_t tim_graph_compiled_partition_get_inplace_ports(
    const_tim_graph_compiled_partition_t compiled_partition,
    size_t* num_inplace_pairs, const tim_graph_inplace_pair_t** inplace_pairs);
TIM_API tim_graph_status_t
tim_graph_compiled_partition_get_scratchpad_logical_tensor(
    const_tim_graph_compiled_partition_t compiled_partition,
    tim_graph_logical_tensor_t* lt);

/* Caches and dumps. */
TIM_API tim_graph_status_t
tim_graph_get_compiled_partition_cache_capacity(int* capacity);
TIM_API tim_graph_status_t
tim_graph_set_compiled_partition_cache_capacity(int capacity);
TIM_API tim_graph_status_t tim_graph_set_constant_tensor_cache(int flag);
TIM_API tim_graph_status_t tim_graph_get_constant_tensor_cache(int* flag);
TIM_API tim_graph_status_t tim_graph_set_constant_tensor_cache_capacity(
    tim_graph_engine_kind_t eng_kind, size_t size);
TIM_API tim_graph_status_t tim_graph_get_constant_tensor_cache_capacity(
    tim_graph_engine_kind_t eng_kind, size_t* size);
TIM_API tim_graph_status_t tim_graph_set_dump_mode(tim_graph_dump_mode_t modes);

/* Thread pools; `threadpool` is a tim::graph::threadpool_interop::
 * threadpool_iface. */
TIM_API tim_graph_status_t tim_graph_threadpool_interop_stream_create(
    tim_graph_stream_t* stream, tim_graph_engine_t engine, void* threadpool);
TIM_API tim_graph_status_t tim_graph_threadpool_interop_stream_get_threadpool(
    tim_graph_stream_t astream, void** threadpool);

#ifdef __cplusplus
}
#endif

#endif /* TIM_GRAPH_C_H_ */
