/* Numbers and structs of the C interface between TIM-CL and plug-ins; the rules
 * for all of them are in tim/plugin/tim_plugin.h, which includes this file.
 */
#ifndef TIM_PLUGIN_TIM_PLUGIN_TYPES_H_
#define TIM_PLUGIN_TIM_PLUGIN_TYPES_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TIM_ABI_MAJOR 1
#define TIM_ABI_MINOR 0

/** Bytes of `type` up to and with `member`: what struct_size is set to. */
#define TIM_SIZE_THROUGH(type, member) \
  ((uint32_t)(offsetof(type, member) + sizeof(((type*)0)->member)))
/** True where a table, which may be NULL, has the function `member`. */
#define TIM_OFFERS(table, type, member)                      \
  ((table) != NULL &&                                        \
   (table)->struct_size >= TIM_SIZE_THROUGH(type, member) && \
   (table)->member != NULL)

#if defined(__GNUC__)
#define TIM_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define TIM_PLUGIN_EXPORT
#endif

/* ------------------------------------------------------------------------- */
/* Codes and numbers.                                                        */

/** Result of a call: one of the enumerators below. */
typedef int32_t TimCode;
enum {
  TIM_OK = 0,
  TIM_INVALID_ARGUMENT = 1,
  TIM_UNIMPLEMENTED = 2,
  TIM_FAILED_PRECONDITION = 3,
  TIM_NOT_FOUND = 4,
  TIM_OUT_OF_MEMORY = 5,
  /** Nothing that the device does can succeed.  Nobody waits for its work any
   * more: it no longer reads or writes the host's memory. */
  TIM_DEVICE_LOST = 6,
  TIM_BUILD_FAILURE = 7,
  TIM_INTERNAL_ERROR = 8
};

/** Element types: TimTensorDesc::type. */
enum {
  TIM_TYPE_UNKNOWN = 0,
  TIM_TYPE_INT4 = 1, /**< Two per byte along dimension 0, rows whole bytes. */
  TIM_TYPE_UINT4 = 2,
  TIM_TYPE_INT8 = 3,
  TIM_TYPE_UINT8 = 4,
  TIM_TYPE_INT16 = 5,
  TIM_TYPE_UINT16 = 6,
  TIM_TYPE_INT32 = 7,
  TIM_TYPE_UINT32 = 8,
  TIM_TYPE_INT64 = 9,
  TIM_TYPE_UINT64 = 10,
  TIM_TYPE_BOOL8 = 11, /**< A byte, 0 or 1. */
  TIM_TYPE_FLOAT16 = 12,
  TIM_TYPE_BFLOAT16 = 13,
  TIM_TYPE_FLOAT32 = 14,
  TIM_TYPE_FLOAT64 = 15
};

/** Layouts of elements in memory: TimTensorDesc::layout. */
enum {
  TIM_LAYOUT_ANY = 0,
  TIM_LAYOUT_DENSE = 1, /**< Dimension 0 fastest, no padding. */
  /** `layout_block` elements of `layout_axis` are the fastest dimension, and
   * the rest of the axis stays in its place.  Lanes beyond the extent hold the
   * real value 0. */
  TIM_LAYOUT_BLOCKED = 2,
  TIM_LAYOUT_STRIDED = 3 /**< Element distances in `strides`. */
};

/** Meanings of integer codes: TimTensorDesc::quantization. */
enum {
  TIM_QUANTIZATION_NONE = 0,
  TIM_QUANTIZATION_PER_TENSOR = 1,  /**< real = (code - zero_point) * scale. */
  TIM_QUANTIZATION_PER_CHANNEL = 2, /**< One scale per index of the axis. */
  TIM_QUANTIZATION_FIXED_POINT = 3  /**< real = code * 2^-fixed_point. */
};

/** Kinds of memory: TimDeviceFns::allocate(). */
enum {
  TIM_MEMORY_DEVICE = 0,
  TIM_MEMORY_HOST = 1 /**< The host reaches it: host_address() is not NULL. */
};

/** Types of attributes: TimAttribute::type, with the member that holds it. */
enum {
  TIM_ATTRIBUTE_BOOL = 0,    /**< int_value, 0 or 1 */
  TIM_ATTRIBUTE_INT = 1,     /**< int_value */
  TIM_ATTRIBUTE_FLOAT = 2,   /**< float_value */
  TIM_ATTRIBUTE_STRING = 3,  /**< string_value */
  TIM_ATTRIBUTE_INTS = 4,    /**< ints, count */
  TIM_ATTRIBUTE_FLOATS = 5,  /**< floats, count */
  TIM_ATTRIBUTE_STRINGS = 6, /**< strings, count */
  TIM_ATTRIBUTE_TENSOR = 7,  /**< tensor */
  TIM_ATTRIBUTE_GRAPH = 8    /**< graph */
};

/** Classes of devices: TimDeviceProps::device_class. */
enum { TIM_CLASS_CPU = 0, TIM_CLASS_GPU = 1, TIM_CLASS_ACCELERATOR = 2 };

/** Bits of TimDeviceProps::flags. */
enum {
  TIM_DEVICE_THREAD_SAFE = 1, /**< Several calls at once. */
  /** import_host() works, and needs no copy. */
  TIM_DEVICE_UNIFIED_MEMORY = 2,
  TIM_DEVICE_HAS_FP16 = 4,
  TIM_DEVICE_HAS_FP64 = 8,
  TIM_DEVICE_HAS_BF16 = 16,
  TIM_DEVICE_HAS_INT8_DOT = 32,
  TIM_DEVICE_DETERMINISTIC = 64, /**< Equal inputs give equal bits. */
  TIM_DEVICE_REMOTE = 128,       /**< Behind a network. */
  TIM_DEVICE_HAS_SUBGROUPS = 256,
  TIM_DEVICE_HAS_IMAGES = 512
};

/** Bits of TimPlugin::flags. */
enum {
  TIM_PLUGIN_UNLOADABLE = 1 /**< May be unmapped once it is shut down. */
};

/** Bits of TimOp::effects. */
enum {
  TIM_EFFECT_RANDOM = 1, /**< Two evaluations may differ. */
  TIM_EFFECT_ORDERED = 2 /**< Evaluations are seen from outside, in order. */
};

/* ------------------------------------------------------------------------- */
/* Handles and small structs.                                                */

/** Room of the caller for the text of a failure.  Never NULL.  The callee
 * writes UTF-8 with a NUL, cut so that it fits into `capacity` bytes, which are
 * 1024 or more. */
typedef struct TimMessage {
  uint32_t struct_size;
  uint32_t capacity;
  char* text;
} TimMessage;

/* Handles of the plug-in. */
typedef struct TimDevice TimDevice;
typedef struct TimBuffer TimBuffer;
typedef struct TimStream TimStream;
typedef struct TimEvent TimEvent;
typedef struct TimProgram TimProgram;
typedef struct TimPrepared TimPrepared;
/* Handles of the host. */
typedef struct TimNode TimNode;
typedef struct TimGraph TimGraph;
typedef struct TimStore TimStore;
typedef struct TimLayouts TimLayouts;
typedef struct TimLowering TimLowering;
typedef struct TimClaims TimClaims;
typedef struct TimEdits TimEdits;
typedef struct TimInference TimInference;

/** A piece of a buffer, in bytes, at a multiple of the device's alignment.
 * Fixed: it never grows. */
typedef struct TimRange {
  TimBuffer* buffer;
  uint64_t offset;
  uint64_t bytes;
} TimRange;

/** Bytes in the host's memory.  Fixed. */
typedef struct TimBytes {
  const void* data;
  uint64_t bytes;
} TimBytes;

/** An option of a plug-in or of a part.  Fixed. */
typedef struct TimOption {
  const char* key;
  const char* value;
} TimOption;

/** Description of a tensor without its elements. */
typedef struct TimTensorDesc {
  uint32_t struct_size;
  int32_t type;           /**< TIM_TYPE_... */
  int32_t rank;           /**< -1: unknown. */
  int32_t is_scalar;      /**< 1: rank 0 to shape inference, [1] in memory. */
  const int64_t* dims;    /**< `rank` extents, -1 unknown. */
  const int64_t* bounds;  /**< NULL, or upper bounds of them, -1 each: none. */
  int32_t layout;         /**< TIM_LAYOUT_... */
  int32_t layout_axis;    /**< Blocked. */
  int64_t layout_block;   /**< Blocked. */
  const int64_t* strides; /**< Strided: `rank` distances in elements. */
  const char* layout_id;  /**< NULL; for layouts of later versions. */
  int32_t quantization;   /**< TIM_QUANTIZATION_... */
  int32_t quantization_axis; /**< Per channel. */
  const float* scales;
  const int32_t* zero_points; /**< Fewer than scales: the last one counts. */
  uint32_t scale_count;
  uint32_t zero_point_count;
  int32_t fixed_point; /**< Fractional bits. */
  int32_t memory;      /**< TIM_MEMORY_... */
} TimTensorDesc;

/** A value of an attribute: `type` says which members hold it. */
typedef struct TimAttribute {
  uint32_t struct_size;
  int32_t type; /**< TIM_ATTRIBUTE_... */
  int64_t int_value;
  double float_value;
  const char* string_value;
  const int64_t* ints;
  const double* floats;
  const char* const* strings;
  uint64_t count;
  TimBytes tensor;
  const TimGraph* graph;
} TimAttribute;

/** Properties of a device.  The host sets it to zeros beforehand. */
typedef struct TimDeviceProps {
  uint32_t struct_size;
  uint32_t flags; /**< TIM_DEVICE_... */
  /** Rank among devices: GPUs of OpenCL have 100, accelerators 80,
   * CPUs 50, the host 10.  0: it is not usable here, and the message says why.
   */
  int32_t score;
  int32_t device_class; /**< TIM_CLASS_... */
  char name[128];
  char vendor[128];
  char driver[128];
  /** Programs are stored under it: whatever makes stored ones useless. */
  char compatibility[128];
  int32_t compute_units;
  int32_t max_streams; /**< Side by side; 0: single-stream mode. */
  int32_t float_vector_width;
  int32_t address_bits;
  int64_t memory_bytes;
  int64_t max_allocation_bytes;
  int64_t alignment; /**< Of offsets: a power of two. */
  int64_t max_work_group_size;
  int64_t local_memory_bytes;
  /* Figures for costs; 0: the host measures or guesses. */
  double gflops;
  double gbytes_per_second;
  double launch_us;
  double link_gbytes_per_second; /**< Between it and the host's memory. */
  double link_latency_us;
  /** Devices of equal domains share events and memory; 0: it is alone. */
  uint64_t domain;
} TimDeviceProps;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TIM_PLUGIN_TIM_PLUGIN_TYPES_H_ */
