/* The C boundary's extensions: operations of an application's own, what the
 * library says of an op, and limits of partitions.
 *
 * A callback gets a context, which is valid until it returns.  It returns
 * tim_graph_success, or why it failed; tim_graph_unimplemented means "not for
 * these operands", behind which the next way to run the op is taken.  Callbacks
 * depend on their context alone, are called by any thread, several at a time
 * and as often as the library likes, and throw nothing. */
#ifndef TIM_GRAPH_C_EXTENSION_H_
#define TIM_GRAPH_C_EXTENSION_H_

#include <stddef.h>
#include <stdint.h>

#include "tim/export.h"
#include "tim/graph/c_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Types of attributes. */
typedef enum TIM_GRAPH_ANY_INT {
  tim_graph_attribute_f32 = 0,
  tim_graph_attribute_f32_list = 1,
  tim_graph_attribute_s64 = 2,
  tim_graph_attribute_s64_list = 3,
  tim_graph_attribute_bool = 4,
  tim_graph_attribute_string = 5,
} tim_graph_attribute_type_t;

/** `data`: `count` float, int64_t, uint8_t (a bool) or char. */
typedef struct {
  tim_graph_attribute_type_t type;
  size_t count;
  const void* data;
} tim_graph_attribute_value_t;

/** An operand.  No types: all that registered operations take, which are f32,
 * bf16, f16, s32, s64, s8, u8 and boolean. */
typedef struct {
  const char* name;
  size_t num_types;
  const tim_graph_data_type_t* types;
  int optional; /**< Behind all that are not. */
} tim_graph_op_param_t;

/** An attribute; one that is not required has a default. */
typedef struct {
  const char* name;
  tim_graph_attribute_type_t type;
  int required;
  const tim_graph_attribute_value_t* default_value;
  size_t num_choices;
  const char* const* choices; /**< Legal texts of a string; none: any. */
} tim_graph_op_attribute_t;

typedef struct {
  size_t num_names;
  const char* const* names;
} tim_graph_name_list_t;

struct tim_graph_op_context;
typedef struct tim_graph_op_context* tim_graph_op_context_t;
typedef tim_graph_status_t (*tim_graph_op_callback_t)(
    void* user, tim_graph_op_context_t context);

/** OpenCL C 1.2.  The kernel's parameters are the inputs, the outputs and what
 * `launch` adds, in this order: `__global const T*` of dense inputs (a null
 * pointer where an optional one is absent), `__global T*` of outputs, scalars.
 * bf16 is ushort, boolean uchar. */
typedef struct {
  const char* source;   /**< Null or empty: there is no kernel. */
  const char* function; /**< Its name. */
  const char* options;  /**< Of the compiler; may be null. */
  /** Sets sizes, and adds options and scalars.  Null: a work-item for each
   * element of output 0. */
  tim_graph_op_callback_t launch;
} tim_graph_opencl_kernel_t;

/** A kind of operation.  Strings and lists are copied; what `user` points to
 * stays valid as long as the process. */
typedef struct {
  const char* domain;
  const char* name;
  int version; /**< From 1. */
  size_t num_inputs;
  const tim_graph_op_param_t* inputs;
  size_t num_outputs;
  const tim_graph_op_param_t* outputs;
  int variadic_inputs; /**< The last parameter repeats. */
  int variadic_outputs;
  size_t num_attributes;
  const tim_graph_op_attribute_t* attributes;
  /** Names of parameters that have one type, and equal lists of types. */
  size_t num_same_types;
  const tim_graph_name_list_t* same_types;
  /** Null or empty: there is none.  With one, parameters may be left out, and
   * attributes and callbacks are. */
  const char* expression;
  /** Dims of the outputs, from those of the inputs, which may be unknown.
   * Required unless `decompose` or `expression` is there. */
  tim_graph_op_callback_t infer_shapes;
  /** Ops of the library, and extended ones that were registered before. */
  tim_graph_op_callback_t decompose;
  tim_graph_op_callback_t host; /**< On dense operands. */
  tim_graph_opencl_kernel_t kernel;
  void* user;
} tim_graph_op_definition_t;

/** Answer to a query, valid until the thread's next one. */
typedef struct {
  uint8_t supported;
  const char* device; /**< "host", "opencl: <name>"; empty: none. */
  const char* reason; /**< Why it is not, or what is wrong with its dims. */
} tim_graph_op_support_t;

/** 0: no limit. */
typedef struct {
  tim_graph_partition_policy_t policy;
  size_t max_ops;        /**< Per partition. */
  size_t min_ops;        /**< Smaller supported ones are dissolved. */
  size_t max_partitions; /**< Supported ones; the cheapest are dissolved. */
  size_t max_anchors;    /**< Convolutions and matrix products per partition. */
} tim_graph_partition_options_t;

/** The device that a kernel is launched on. */
typedef struct {
  const char* name;
  size_t max_work_group_size;
  size_t local_memory_bytes;
  uint8_t has_fp16;
} tim_graph_device_facts_t;

/* Registration.  `kind` is 0x10000 or more, and the same until the process
 * ends.  invalid_arguments says what is wrong with a definition, or that there
 * is one of its domain, name and version. */
TIM_API tim_graph_status_t tim_graph_register_op(
    const tim_graph_op_definition_t* definition, tim_graph_op_kind_t* kind);
TIM_API tim_graph_status_t
tim_graph_register_expression(const char* domain, const char* name,
                              const char* text, tim_graph_op_kind_t* kind);
/** `version` 0: the newest.  Unknown: tim_graph_op_last_symbol. */
TIM_API tim_graph_status_t tim_graph_find_op(const char* domain,
                                             const char* name, int version,
                                             tim_graph_op_kind_t* kind);

/** Whether an op with these attributes, types and known dims is supported for
 * engines of the kind, and the device that runs it. */
TIM_API tim_graph_status_t tim_graph_query_support(
    const_tim_graph_op_t op, tim_graph_engine_kind_t engine_kind,
    tim_graph_op_support_t* support);

/* Attributes by name, of any kind; one number may be a list. */
TIM_API tim_graph_status_t tim_graph_op_set_named_attr_f32(tim_graph_op_t op,
                                                           const char* name,
                                                           const float* value,
                                                           size_t value_len);
TIM_API tim_graph_status_t tim_graph_op_set_named_attr_s64(tim_graph_op_t op,
                                                           const char* name,
                                                           const int64_t* value,
                                                           size_t value_len);
TIM_API tim_graph_status_t
tim_graph_op_set_named_attr_bool(tim_graph_op_t op, const char* name,
                                 const uint8_t* value, size_t value_len);
TIM_API tim_graph_status_t tim_graph_op_set_named_attr_str(tim_graph_op_t op,
                                                           const char* name,
                                                           const char* value,
                                                           size_t value_len);

/** Like tim_graph_graph_filter(), with limits in place of those of
 * TIMCL_GRAPH_PARTITION. */
TIM_API tim_graph_status_t tim_graph_graph_filter_with_options(
    tim_graph_graph_t graph, const tim_graph_partition_options_t* options);

/* Contexts: of all callbacks. */
TIM_API tim_graph_status_t
tim_graph_op_context_get_input_num(tim_graph_op_context_t context, size_t* num);
TIM_API tim_graph_status_t tim_graph_op_context_get_output_num(
    tim_graph_op_context_t context, size_t* num);
/** Dims are known, but for infer_shapes; a scalar may be of dims {1}. */
TIM_API tim_graph_status_t
tim_graph_op_context_get_input(tim_graph_op_context_t context, size_t index,
                               tim_graph_logical_tensor_t* tensor);
/** Dims are known to host and launch. */
TIM_API tim_graph_status_t
tim_graph_op_context_get_output(tim_graph_op_context_t context, size_t index,
                                tim_graph_logical_tensor_t* tensor);
/** What `value` points to is valid as long as the context. */
TIM_API tim_graph_status_t tim_graph_op_context_get_attribute(
    tim_graph_op_context_t context, const char* name,
    tim_graph_attribute_value_t* value);
/** Says why the callback fails. */
TIM_API tim_graph_status_t tim_graph_op_context_set_message(
    tim_graph_op_context_t context, const char* message);

/* Of infer_shapes: dims of an output; unknown ones are TIM_GRAPH_UNKNOWN_DIM,
 * an unknown rank is TIM_GRAPH_UNKNOWN_NDIMS. */
TIM_API tim_graph_status_t tim_graph_op_context_set_output_dims(
    tim_graph_op_context_t context, size_t index, int ndims,
    const int64_t* dims);

/* Of host: elements without gaps, the last axis fastest.  Null: absent. */
TIM_API tim_graph_status_t tim_graph_op_context_get_input_data(
    tim_graph_op_context_t context, size_t index, const void** data);
TIM_API tim_graph_status_t tim_graph_op_context_get_output_data(
    tim_graph_op_context_t context, size_t index, void** data);

/* Of decompose: a tensor between two ops, of unknown rank; a constant; an op,
 * behind those whose results it reads, which is copied.  The ops' inputs and
 * outputs are these tensors and the context's. */
TIM_API tim_graph_status_t tim_graph_op_context_create_tensor(
    tim_graph_op_context_t context, tim_graph_data_type_t type,
    tim_graph_logical_tensor_t* tensor);
/** \param data dense elements of a type of a whole byte. */
TIM_API tim_graph_status_t tim_graph_op_context_create_constant(
    tim_graph_op_context_t context, tim_graph_data_type_t type, int ndims,
    const int64_t* dims, const void* data, tim_graph_logical_tensor_t* tensor);
TIM_API tim_graph_status_t tim_graph_op_context_add_op(
    tim_graph_op_context_t context, const_tim_graph_op_t op);

/* Of launch: 1 to 3 sizes; without local ones the driver chooses. */
TIM_API tim_graph_status_t tim_graph_op_context_set_global_size(
    tim_graph_op_context_t context, size_t dimensions, const size_t* sizes);
TIM_API tim_graph_status_t tim_graph_op_context_set_local_size(
    tim_graph_op_context_t context, size_t dimensions, const size_t* sizes);
TIM_API tim_graph_status_t tim_graph_op_context_add_option(
    tim_graph_op_context_t context, const char* option);
TIM_API tim_graph_status_t tim_graph_op_context_add_scalar_f32(
    tim_graph_op_context_t context, float value);
TIM_API tim_graph_status_t tim_graph_op_context_add_scalar_s64(
    tim_graph_op_context_t context, int64_t value);
TIM_API tim_graph_status_t tim_graph_op_context_get_device(
    tim_graph_op_context_t context, tim_graph_device_facts_t* device);

#ifdef __cplusplus
}
#endif

#endif /* TIM_GRAPH_C_EXTENSION_H_ */
