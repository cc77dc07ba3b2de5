/* The C boundary's types: enumerators, structs and handles of tim/graph/c.h. */
#ifndef TIM_GRAPH_C_TYPES_H_
#define TIM_GRAPH_C_TYPES_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Enumerations hold every int in C++, too: a number that names nothing is an
 * error of the call that gets it, and no undefined behaviour. */
#ifdef __cplusplus
#define TIM_GRAPH_ANY_INT : int
#else
#define TIM_GRAPH_ANY_INT
#endif

#define TIM_GRAPH_MAX_NDIMS 12
/** A rank, and an extent, that is not known. */
#define TIM_GRAPH_UNKNOWN_NDIMS -1
#define TIM_GRAPH_UNKNOWN_DIM INT64_MIN
/** A handle of a tensor: no memory; memory that the library allocates. */
#define TIM_GRAPH_MEMORY_NONE NULL
#define TIM_GRAPH_MEMORY_ALLOCATE ((void*)(size_t)-1)

/** How a call went. */
typedef enum TIM_GRAPH_ANY_INT {
  tim_graph_success = 0,
  tim_graph_out_of_memory = 1,
  tim_graph_invalid_arguments = 2,
  tim_graph_unimplemented = 3,
  tim_graph_last_impl_reached = 4,
  tim_graph_runtime_error = 5,
  tim_graph_not_required = 6,
  tim_graph_invalid_graph = 7,
  tim_graph_invalid_graph_op = 8,
  tim_graph_invalid_shape = 9,
  tim_graph_invalid_data_type = 10,
} tim_graph_status_t;

/** Element types; f64, e8m0 and the f4 types are names only. */
typedef enum TIM_GRAPH_ANY_INT {
  tim_graph_data_type_undef = 0,
  tim_graph_f16 = 1,
  tim_graph_bf16 = 2,
  tim_graph_f32 = 3,
  tim_graph_s32 = 4,
  tim_graph_s8 = 5,
  tim_graph_u8 = 6,
  tim_graph_f64 = 7,
  tim_graph_boolean = 8,
  tim_graph_f8_e5m2 = 9,
  tim_graph_f8_e4m3 = 10,
  tim_graph_s4 = 11,
  tim_graph_u4 = 12,
  tim_graph_e8m0 = 13,
  tim_graph_f4_e2m1 = 14,
  tim_graph_f4_e3m0 = 15,
  tim_graph_s64 = 16,
  tim_graph_data_type_max = 32767,
} tim_graph_data_type_t;

typedef int64_t tim_graph_dim_t;
typedef tim_graph_dim_t tim_graph_dims_t[TIM_GRAPH_MAX_NDIMS];

/** Arithmetic that float32 operations may use. */
typedef enum TIM_GRAPH_ANY_INT {
  tim_graph_fpmath_mode_strict = 0,
  tim_graph_fpmath_mode_bf16 = 1,
  tim_graph_fpmath_mode_f16 = 2,
  tim_graph_fpmath_mode_any = 3,
  tim_graph_fpmath_mode_tf32 = 4,
} tim_graph_fpmath_mode_t;

/** Type of sums of products. */
typedef enum TIM_GRAPH_ANY_INT {
  tim_graph_accumulation_mode_strict = 0,
  tim_graph_accumulation_mode_relaxed = 1,
  tim_graph_accumulation_mode_any = 2,
  tim_graph_accumulation_mode_s32 = 3,
  tim_graph_accumulation_mode_f32 = 4,
  tim_graph_accumulation_mode_f16 = 5,
} tim_graph_accumulation_mode_t;

/** The memory of an engine's tensors: the host's, or OpenCL's. */
typedef enum TIM_GRAPH_ANY_INT {
  tim_graph_any_engine = 0,
  tim_graph_cpu = 1,
  tim_graph_gpu = 2,
} tim_graph_engine_kind_t;

/** Flags of streams; asynchronous: an execute may return before its end on a
 * cpu engine, too. */
typedef enum TIM_GRAPH_ANY_INT {
  tim_graph_stream_in_order = 1,
  tim_graph_stream_out_of_order = 2,
  tim_graph_stream_default_flags = 1,
  tim_graph_stream_profiling = 4,
  tim_graph_stream_asynchronous = 256,
  tim_graph_stream_flags_max = 32767,
} tim_graph_stream_flags_t;

/** How the elements of a tensor lie in memory. */
typedef enum TIM_GRAPH_ANY_INT {
  tim_graph_layout_type_undef = 0,
  tim_graph_layout_type_any = 1,
  tim_graph_layout_type_strided = 2,
  tim_graph_layout_type_opaque = 3,
} tim_graph_layout_type_t;

/** Constant: the content stays the same between executes. */
typedef enum TIM_GRAPH_ANY_INT {
  tim_graph_tensor_property_undef = 0,
  tim_graph_tensor_property_variable = 1,
  tim_graph_tensor_property_constant = 2,
  tim_graph_tensor_property_host_scalar = 3,
} tim_graph_tensor_property_t;

/** Fusion: as large as they can be; debug: an operation each. */
typedef enum TIM_GRAPH_ANY_INT {
  tim_graph_partition_policy_fusion = 1,
  tim_graph_partition_policy_debug = 2,
} tim_graph_partition_policy_t;

/** Bits of what is written to files. */
typedef enum TIM_GRAPH_ANY_INT {
  tim_graph_dump_mode_none = 0,
  tim_graph_dump_mode_subgraph = 1,
  tim_graph_dump_mode_graph = 2,
} tim_graph_dump_mode_t;

/** Kinds of operations; docs/graph_operations.md tells of each.  Kinds that
 * are registered have numbers from 0x10000 on. */
typedef enum TIM_GRAPH_ANY_INT {
  tim_graph_op_abs = 0,
  tim_graph_op_abs_backward = 1,
  tim_graph_op_add = 2,
  tim_graph_op_avg_pool = 3,
  tim_graph_op_avg_pool_backward = 4,
  tim_graph_op_batch_norm_backward = 5,
  tim_graph_op_batch_norm_forward_training = 6,
  tim_graph_op_batch_norm_inference = 7,
  tim_graph_op_bias_add = 8,
  tim_graph_op_bias_add_backward = 9,
  tim_graph_op_clamp = 10,
  tim_graph_op_clamp_backward = 11,
  tim_graph_op_concat = 12,
  tim_graph_op_convolution = 13,
  tim_graph_op_convolution_backward_data = 14,
  tim_graph_op_convolution_backward_weights = 15,
  tim_graph_op_conv_transpose = 16,
  tim_graph_op_conv_transpose_backward_data = 17,
  tim_graph_op_conv_transpose_backward_weights = 18,
  tim_graph_op_dequantize = 19,
  tim_graph_op_divide = 20,
  tim_graph_op_dynamic_dequantize = 21,
  tim_graph_op_dynamic_quantize = 22,
  tim_graph_op_elu = 23,
  tim_graph_op_elu_backward = 24,
  tim_graph_op_end = 25,
  tim_graph_op_exp = 26,
  tim_graph_op_gelu = 27,
  tim_graph_op_gelu_backward = 28,
  tim_graph_op_hard_swish = 29,
  tim_graph_op_hard_swish_backward = 30,
  tim_graph_op_interpolate = 31,
  tim_graph_op_interpolate_backward = 32,
  tim_graph_op_layer_norm = 33,
  tim_graph_op_layer_norm_backward = 34,
  tim_graph_op_leaky_relu = 35,
  tim_graph_op_log = 36,
  tim_graph_op_log_softmax = 37,
  tim_graph_op_log_softmax_backward = 38,
  tim_graph_op_matmul = 39,
  tim_graph_op_maximum = 40,
  tim_graph_op_max_pool = 41,
  tim_graph_op_max_pool_backward = 42,
  tim_graph_op_minimum = 43,
  tim_graph_op_mish = 44,
  tim_graph_op_mish_backward = 45,
  tim_graph_op_multiply = 46,
  tim_graph_op_prelu = 47,
  tim_graph_op_prelu_backward = 48,
  tim_graph_op_quantize = 49,
  tim_graph_op_reciprocal = 50,
  tim_graph_op_reduce_l1 = 51,
  tim_graph_op_reduce_l2 = 52,
  tim_graph_op_reduce_max = 53,
  tim_graph_op_reduce_mean = 54,
  tim_graph_op_reduce_min = 55,
  tim_graph_op_reduce_prod = 56,
  tim_graph_op_reduce_sum = 57,
  tim_graph_op_relu = 58,
  tim_graph_op_relu_backward = 59,
  tim_graph_op_reorder = 60,
  tim_graph_op_round = 61,
  tim_graph_op_sigmoid = 62,
  tim_graph_op_sigmoid_backward = 63,
  tim_graph_op_softmax = 64,
  tim_graph_op_softmax_backward = 65,
  tim_graph_op_softplus = 66,
  tim_graph_op_softplus_backward = 67,
  tim_graph_op_sqrt = 68,
  tim_graph_op_sqrt_backward = 69,
  tim_graph_op_square = 70,
  tim_graph_op_squared_difference = 71,
  tim_graph_op_static_reshape = 72,
  tim_graph_op_static_transpose = 73,
  tim_graph_op_subtract = 74,
  tim_graph_op_tanh = 75,
  tim_graph_op_tanh_backward = 76,
  tim_graph_op_type_cast = 77,
  tim_graph_op_wildcard = 78,
  tim_graph_op_hard_sigmoid = 79,
  tim_graph_op_hard_sigmoid_backward = 80,
  tim_graph_op_select = 81,
  tim_graph_op_pow = 82,
  tim_graph_op_group_norm = 83,
  tim_graph_op_gen_index = 84,
  tim_graph_op_greater_equal = 85,
  tim_graph_op_rms_norm = 86,
  tim_graph_op_dropout = 87,
  tim_graph_op_last_symbol = 88,
  tim_graph_op_kind_max = 0x7fffffff,
} tim_graph_op_kind_t;

/** Attributes.  The number tells the type: 0x01 float, 0x20 list of floats,
 * 0x30 integer, 0x40 list of integers, 0x60 bool, 0x80 string. */
typedef enum TIM_GRAPH_ANY_INT {
  tim_graph_op_attr_undef = 0x00,
  tim_graph_op_attr_alpha = 0x01,
  tim_graph_op_attr_beta = 0x02,
  tim_graph_op_attr_epsilon = 0x03,
  tim_graph_op_attr_max = 0x04,
  tim_graph_op_attr_min = 0x05,
  tim_graph_op_attr_momentum = 0x06,
  tim_graph_op_attr_scales = 0x20,
  tim_graph_op_attr_axis = 0x30,
  tim_graph_op_attr_begin_norm_axis = 0x31,
  tim_graph_op_attr_groups = 0x32,
  tim_graph_op_attr_axes = 0x40,
  tim_graph_op_attr_dilations = 0x41,
  tim_graph_op_attr_dst_shape = 0x42,
  tim_graph_op_attr_kernel = 0x43,
  tim_graph_op_attr_order = 0x44,
  tim_graph_op_attr_output_padding = 0x45,
  tim_graph_op_attr_pads_begin = 0x46,
  tim_graph_op_attr_pads_end = 0x47,
  tim_graph_op_attr_shape = 0x48,
  tim_graph_op_attr_sizes = 0x49,
  tim_graph_op_attr_src_shape = 0x4a,
  tim_graph_op_attr_strides = 0x4b,
  tim_graph_op_attr_weights_shape = 0x4c,
  tim_graph_op_attr_zps = 0x4d,
  tim_graph_op_attr_group_shape = 0x4e,
  tim_graph_op_attr_exclude_pad = 0x60,
  tim_graph_op_attr_keep_dims = 0x61,
  tim_graph_op_attr_keep_stats = 0x62,
  tim_graph_op_attr_per_channel_broadcast = 0x63,
  tim_graph_op_attr_special_zero = 0x64,
  tim_graph_op_attr_transpose_a = 0x65,
  tim_graph_op_attr_transpose_b = 0x66,
  tim_graph_op_attr_use_affine = 0x67,
  tim_graph_op_attr_use_dst = 0x68,
  tim_graph_op_attr_auto_broadcast = 0x80,
  tim_graph_op_attr_auto_pad = 0x81,
  tim_graph_op_attr_coordinate_transformation_mode = 0x82,
  tim_graph_op_attr_data_format = 0x83,
  tim_graph_op_attr_mode = 0x84,
  tim_graph_op_attr_qtype = 0x85,
  tim_graph_op_attr_rounding_type = 0x86,
  tim_graph_op_attr_weights_format = 0x87,
  tim_graph_op_attr_accumulation_mode = 0x88,
  tim_graph_op_attr_end = 0xff,
} tim_graph_op_attr_t;

/** An extent is in the order of memory that is dense: the last one's elements
 * are contiguous.  Strides count elements. */
typedef struct {
  size_t id;
  int ndims; /**< -1: not known; 0: a scalar. */
  tim_graph_dims_t dims;
  tim_graph_data_type_t data_type;
  tim_graph_tensor_property_t property;
  tim_graph_layout_type_t layout_type;
  union {
    tim_graph_dims_t strides;
    size_t layout_id;
  } layout;
} tim_graph_logical_tensor_t;

/** Tensors that may share their memory in an execute. */
typedef struct {
  size_t input_id;
  size_t output_id;
} tim_graph_inplace_pair_t;

typedef struct {
  int major;
  int minor;
  int patch;
  const char* hash;
  unsigned cpu_runtime;
  unsigned gpu_runtime;
} tim_graph_version_t;

struct tim_graph_engine;
typedef struct tim_graph_engine* tim_graph_engine_t;
typedef const struct tim_graph_engine* const_tim_graph_engine_t;
struct tim_graph_stream;
typedef struct tim_graph_stream* tim_graph_stream_t;
typedef const struct tim_graph_stream* const_tim_graph_stream_t;
struct tim_graph_allocator;
typedef struct tim_graph_allocator* tim_graph_allocator_t;
typedef const struct tim_graph_allocator* const_tim_graph_allocator_t;
struct tim_graph_tensor;
typedef struct tim_graph_tensor* tim_graph_tensor_t;
typedef const struct tim_graph_tensor* const_tim_graph_tensor_t;
struct tim_graph_op;
typedef struct tim_graph_op* tim_graph_op_t;
typedef const struct tim_graph_op* const_tim_graph_op_t;
struct tim_graph_graph;
typedef struct tim_graph_graph* tim_graph_graph_t;
typedef const struct tim_graph_graph* const_tim_graph_graph_t;
struct tim_graph_partition;
typedef struct tim_graph_partition* tim_graph_partition_t;
typedef const struct tim_graph_partition* const_tim_graph_partition_t;
struct tim_graph_compiled_partition;
typedef struct tim_graph_compiled_partition* tim_graph_compiled_partition_t;
typedef const struct tim_graph_compiled_partition*
    const_tim_graph_compiled_partition_t;

/** Callbacks of allocators; `alignment` is a power of two. */
typedef void* (*tim_graph_host_allocate_f)(size_t size, size_t alignment);
typedef void (*tim_graph_host_deallocate_f)(void* memory);

#ifdef __cplusplus
}
#endif

#endif /* TIM_GRAPH_C_TYPES_H_ */
