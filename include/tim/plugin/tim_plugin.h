/* Devices, kernels, graph compilers and operators in a shared library of their
 * own: the C interface between TIM-CL (the host) and a plug-in.
 *
 * A plug-in exports one function, TimPluginGet().  Everything else are tables
 * of function pointers, of which a plug-in offers what it has: a device
 * (TimDeviceFns), kernels (TimKernelFns), a compiler of whole parts of a graph
 * (TimGraphFns), operators (TimOpFns).  C11 and C++14; docs/plugins.md shows
 * how to write one, and tim/plugin/plugin.h makes the tables from classes.
 *
 * Growth.  Tables and versioned structs begin with `struct_size`: the size up
 * to and with the last member that the side which filled it knows
 * (TIM_SIZE_THROUGH).  Members are only appended.  A reader looks at no member
 * beyond the smaller of its own size and the given one; a function that is
 * absent or NULL is not offered (TIM_OFFERS).  Bits and `reserved` members
 * without a meaning are 0.
 *
 * Ownership.  An opaque handle belongs to the side that made it and is given
 * back by the matching function.  What else is passed (texts, arrays, structs)
 * is valid during the call; who keeps it copies it.  Texts in TimPlugin,
 * TimKernel and TimOp are static.  Nothing is freed across the border.
 *
 * Structs to be filled.  The caller sets `struct_size`; the callee fills no
 * more than that and leaves `struct_size` as it is.
 *
 * Errors.  Functions return a TimCode, and a failing one writes a message.  A
 * rejection (TimKernelFns' supports(), sink refuse()) must give its reason.
 * Exceptions must not leave a plug-in; the host takes what does for a broken
 * contract, as it does an unknown code, a reason that is empty, and sizes out
 * of range: it leaves the device out of later compiles.
 *
 * Threads.  initialize(), shutdown(), device_count(), describe(), open() and
 * close() are called one at a time.  Functions of TimKernel and TimOp, claim(),
 * compile() and optimize() are called on any thread, several at once. Functions
 * of TimDeviceFns, and the others of kernels and graphs, too, where the device
 * says TIM_DEVICE_THREAD_SAFE, else one at a time per device.  A stream, and a
 * TimPrepared, is used by one thread at a time.  Views and sinks work in the
 * call that got them, on its thread and in the bodies of parallel_for().
 *
 * Waiting.  No function waits for a device but wait(), destroy_stream(),
 * build(), compile() and load() (of a device with streams).
 *
 * Shapes have the fastest dimension first; an extent of -1 is unknown.
 */
#ifndef TIM_PLUGIN_TIM_PLUGIN_H_
#define TIM_PLUGIN_TIM_PLUGIN_H_

#include "tim/plugin/tim_plugin_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------- */
/* The host: what it offers.                                                 */

/** Readers of nodes and graphs.  Pointers that it gives die with the call that
 * got the view. */
typedef struct TimViewFns {
  uint32_t struct_size;
  uint32_t reserved;
  /** "tim.Conv2d"; of a composite its name, of a part "part.<kind>". */
  const char* (*op)(const TimNode*);
  int32_t (*version)(const TimNode*);
  const char* (*name)(const TimNode*); /**< For messages: "Conv2d#3". */
  uint32_t (*input_count)(const TimNode*);
  uint32_t (*output_count)(const TimNode*);
  /** NULL: the operand is absent. */
  const TimTensorDesc* (*input)(const TimNode*, uint32_t index);
  const TimTensorDesc* (*output)(const TimNode*, uint32_t index);
  /** The dense bytes of a constant input and, where not NULL, their hash;
   * TIM_NOT_FOUND: it is no constant, or its content is not known. */
  TimCode (*constant)(const TimNode*, uint32_t input, TimBytes*,
                      uint64_t hash[2]);
  uint32_t (*attribute_count)(const TimNode*);
  const char* (*attribute_name)(const TimNode*, uint32_t index);
  /** TIM_NOT_FOUND: the node has none of the name. */
  TimCode (*attribute)(const TimNode*, const char* name, TimAttribute* out);
  /** The operator of a fused node that the others follow; else the node. */
  const TimNode* (*anchor)(const TimNode*);
  /** A kernel whose functions supports() and lower() read neither this nor
   * `epilogue` nor `body` gets no fused nodes. */
  uint32_t (*epilogue_count)(const TimNode*);
  /** An operator that follows: its operands are inputs of the whole node, -1 is
   * the value that comes from the operator before. */
  const TimNode* (*epilogue)(const TimNode*, uint32_t index,
                             const int32_t** operands, uint32_t* operand_count);
  const TimGraph* (*body)(const TimNode*); /**< NULL: it is no composite. */
  void (*estimate)(const TimNode*, double* flops, double* bytes_read,
                   double* bytes_written);
  const char* (*graph_name)(const TimGraph*);
  uint32_t (*node_count)(const TimGraph*);
  /** Nodes come in topological order. */
  const TimNode* (*node)(const TimGraph*, uint32_t index);
  /** Numbers of values; -1: absent. */
  int32_t (*input_value)(const TimGraph*, const TimNode*, uint32_t index);
  int32_t (*output_value)(const TimGraph*, const TimNode*, uint32_t index);
  uint32_t (*graph_input_count)(const TimGraph*);
  int32_t (*graph_input)(const TimGraph*, uint32_t index);
  uint32_t (*graph_output_count)(const TimGraph*);
  int32_t (*graph_output)(const TimGraph*, uint32_t index);
  const TimTensorDesc* (*value)(const TimGraph*, int32_t value);
  TimCode (*value_constant)(const TimGraph*, int32_t value, TimBytes*,
                            uint64_t hash[2]);
  /** Index of the node that makes it; -1: none does. */
  int32_t (*value_producer)(const TimGraph*, int32_t value);
  uint32_t (*value_use_count)(const TimGraph*, int32_t value);
  /** Bytes in memory; 0 where they are not known. */
  uint64_t (*byte_size)(const TimTensorDesc*);
} TimViewFns;

/** Packs constants into `bytes` bytes at `out`, which are zeros before.  Called
 * after lower() has returned, on any thread, until drop(state). */
typedef TimCode (*TimPackFn)(void* state, const TimBytes* sources,
                             uint32_t source_count, void* out, uint64_t bytes,
                             TimMessage*);

/** A launch of a kernel that is OpenCL C text. */
typedef struct TimOpenClStep {
  uint32_t struct_size;
  uint32_t dimensions; /**< 1 to 3. */
  const char* text;
  const char* function;
  const char* options; /**< "-DT=float"; NULL: none. */
  uint64_t global[3];
  uint64_t local[3]; /**< All 0: the runtime chooses. */
  /** Arguments in this order: per operand a pointer and an int that is its
   * offset in elements of `element_bytes`; `ints`; `floats`; local memory. */
  const uint32_t* operands;
  const int32_t* element_bytes;
  uint32_t operand_count;
  uint32_t int_count;
  const int32_t* ints;
  const float* floats;
  uint32_t float_count;
  uint32_t local_count;
  const uint64_t* local_bytes;
} TimOpenClStep;

/** Receivers of what a callback makes.  A callback returns a result of theirs
 * that is not 0 at once. */
typedef struct TimSinkFns {
  uint32_t struct_size;
  uint32_t reserved;
  /** A combination of layouts that goes together, the best one first; of the
   * descs only layouts are read.  NULL for absent operands. */
  TimCode (*add_layouts)(TimLayouts*, const TimTensorDesc* const* inputs,
                         uint32_t input_count,
                         const TimTensorDesc* const* outputs,
                         uint32_t output_count);
  /** Memory that lives from one step to another, both counted. */
  TimCode (*add_scratch)(TimLowering*, uint64_t bytes, uint32_t first_step,
                         uint32_t last_step, uint32_t* operand);
  /** A constant in a form of the kernel's own, made of constant inputs.  Equal
   * ids of equal sources have equal bytes.  drop() is called once, also after a
   * failure of this call; it may be NULL. */
  TimCode (*add_packed)(TimLowering*, const char* id, const uint32_t* inputs,
                        uint32_t input_count, uint64_t bytes, TimPackFn,
                        void* state, void (*drop)(void* state),
                        uint32_t* operand);
  TimCode (*input_operand)(TimLowering*, uint32_t input, uint32_t* operand);
  TimCode (*output_operand)(TimLowering*, uint32_t output, uint32_t* operand);
  /** A step of TimKernelFns: `name` and `payload`, at most 1 MiB and without
   * pointers, are all that build() gets. */
  TimCode (*add_step)(TimLowering*, const char* name, TimBytes payload,
                      const uint32_t* operands, const uint8_t* written,
                      uint32_t operand_count);
  TimCode (*add_opencl_step)(TimLowering*, const TimOpenClStep*,
                             const uint8_t* written);
  /** The output may lie where the input lies. */
  TimCode (*add_in_place)(TimLowering*, uint32_t input, uint32_t output);
  /** Nodes that the device would run as one, in this time. */
  TimCode (*claim)(TimClaims*, const TimNode* const* nodes, uint32_t count,
                   double microseconds, const char* name);
  /** Constants that the part of the last claim() would hold in itself. */
  TimCode (*claim_constants)(TimClaims*, const int32_t* values, uint32_t count);
  void (*refuse)(TimClaims*, const TimNode*, const char* reason);
  TimCode (*add_constant)(TimEdits*, const TimTensorDesc*, TimBytes,
                          int32_t* value);
  /** -1 among the inputs: absent.  `outputs` gets `output_count` new values. */
  TimCode (*add_node)(TimEdits*, const char* op, const char* name,
                      const int32_t* inputs, uint32_t input_count,
                      uint32_t output_count, int32_t* outputs, uint32_t* node);
  TimCode (*set_attribute)(TimEdits*, uint32_t node, const char* name,
                           const TimAttribute*);
  TimCode (*replace_uses)(TimEdits*, int32_t from, int32_t to);
  TimCode (*remove_node)(TimEdits*, const TimNode*);
  /** Output `index` of the operator that decompose() is asked about. */
  TimCode (*set_output)(TimEdits*, uint32_t index, int32_t value);
  /** Input `index` of the operator that decompose() is asked about; -1: it is
   * absent. */
  int32_t (*edit_input)(TimEdits*, uint32_t index);
  TimCode (*infer_output)(TimInference*, uint32_t output, const TimTensorDesc*);
} TimSinkFns;

/** The table that initialize() gets; valid until shutdown() has returned. */
typedef struct TimHost {
  uint32_t struct_size;
  uint16_t abi_major, abi_minor;
  const char* version; /**< Of TIM-CL: "1.2.0". */
  const TimViewFns* views;
  const TimSinkFns* sinks;
  void (*log)(int32_t severity /* 1 error, 2 warning, 3 info, 4 debug */,
              const char* text);
  /** body(state, 0) to body(state, count - 1) on a few threads; returns when
   * all are done. */
  TimCode (*parallel_for)(uint64_t count,
                          void (*body)(void* state, uint64_t index),
                          void* state);
  /** Calls receive() once with what store_save() kept under the key, perhaps
   * in another process; TIM_NOT_FOUND: there is nothing. */
  TimCode (*store_load)(TimStore*, const char* key,
                        void (*receive)(void* state, const void* data,
                                        uint64_t bytes),
                        void* state);
  void (*store_save)(TimStore*, const char* key, TimBytes);
  /** Memory of the device's pool, for workspaces. */
  TimCode (*pool_allocate)(TimDevice*, uint64_t bytes, TimRange* out,
                           TimMessage*);
  /** `last_user`: the stream whose work may still use it; NULL: none does. */
  void (*pool_release)(TimDevice*, const TimRange*, TimStream* last_user);
} TimHost;

/* ------------------------------------------------------------------------- */
/* Device: memory, streams, events.                                          */

/** Functions of a device.  Without create_stream() it is in single-stream mode:
 * all calls get
 * stream NULL, come one at a time, and have finished when they return; the host
 * makes them on a thread of its own. */
typedef struct TimDeviceFns {
  uint32_t struct_size;
  uint32_t reserved;
  /** Required.  0 bytes give a legal buffer; too many TIM_OUT_OF_MEMORY. */
  TimCode (*allocate)(TimDevice*, uint64_t bytes, int32_t memory,
                      TimBuffer** out, TimMessage*);
  void (*release)(TimDevice*, TimBuffer*); /**< Required. */
  /** Required.  `host` stays as it is until a later event of the stream. */
  TimCode (*copy_in)(TimDevice*, TimStream*, const void* host, TimRange to,
                     TimMessage*);
  TimCode (*copy_out)(TimDevice*, TimStream*, TimRange from, void* host,
                      TimMessage*); /**< Required. */
  /** NULL: through the host's memory. */
  TimCode (*copy)(TimDevice*, TimStream*, TimRange from, TimRange to,
                  TimMessage*);
  /** NULL: zeros are copied there. */
  TimCode (*fill)(TimDevice*, TimStream*, TimRange, uint8_t byte, TimMessage*);
  /** A buffer in memory of the host, which outlives it. */
  TimCode (*import_host)(TimDevice*, void* memory, uint64_t bytes,
                         TimBuffer** out, TimMessage*);
  void* (*host_address)(TimDevice*, TimBuffer*); /**< NULL: unreachable. */
  /** Streams need create_event(), record(), wait() and what gives them back. */
  TimCode (*create_stream)(TimDevice*, TimStream** out, TimMessage*);
  void (*destroy_stream)(TimDevice*, TimStream*); /**< Waits for its work. */
  TimCode (*create_event)(TimDevice*, TimEvent** out, TimMessage*);
  void (*destroy_event)(TimDevice*, TimEvent*);
  /** The event is reached when all work of the stream so far is done.  An event
   * may be recorded again. */
  TimCode (*record)(TimDevice*, TimStream*, TimEvent*, TimMessage*);
  TimCode (*stream_wait)(TimDevice*, TimStream*, TimEvent*, TimMessage*);
  /** Blocks until it is reached; gives the first error of the work between the
   * stream's event before this one and this one. */
  TimCode (*wait)(TimDevice*, TimEvent*, TimMessage*);
  TimCode (*query)(TimDevice*, TimEvent*, int32_t* done, TimMessage*);
  /** Calls done() once, on any thread, when the event is reached as it was
   * recorded last; also where it is destroyed, or recorded again, before.  The
   * host then waits for calls, and does not ask query() again and again.  It
   * may fail for an event, with TIM_UNIMPLEMENTED for instance, and then does
   * not call done(): the host asks query(), or is held by wait().  After
   * TIM_DEVICE_LOST it does neither. */
  TimCode (*on_done)(TimDevice*, TimEvent*, void (*done)(void* state, TimCode),
                     void* state, TimMessage*);
  TimCode (*copy_peer)(TimDevice* from_device, TimRange from,
                       TimDevice* to_device, TimStream* to_stream, TimRange to,
                       TimMessage*);
  TimCode (*memory_info)(TimDevice*, uint64_t* free_bytes,
                         uint64_t* total_bytes, TimMessage*);
  /** Gives unused memory back to the system.  Called after an allocate() that
   * gave TIM_OUT_OF_MEMORY, which is then tried once more. */
  TimCode (*trim)(TimDevice*, TimMessage*);
  void* (*native_handle)(TimDevice*, const char* name);
} TimDeviceFns;

/* ------------------------------------------------------------------------- */
/* Kernel mode.                                                              */

/** One way to compute an operator on a kind of device. */
typedef struct TimKernel {
  uint32_t struct_size;
  uint32_t flags;
  const char* name; /**< Unique: "demo.conv2d_f32". */
  /** "tim.Conv2d", a composite's name, an operator of the plug-in. */
  const char* op;
  const char* device_kind; /**< TimPlugin::kind, or "opencl". */
  void* state;
  /** Required.  TIM_OK, or another code and the reason.  Descs are dense. */
  TimCode (*supports)(void* state, const TimNode*, const TimDeviceProps*,
                      TimMessage* reason);
  /** Microseconds, 0 or more; NULL: the host estimates. */
  TimCode (*cost)(void* state, const TimNode*, const TimDeviceProps*,
                  double* microseconds, TimMessage*);
  /** NULL: all operands are dense. */
  TimCode (*layouts)(void* state, const TimNode*, const TimDeviceProps*,
                     TimLayouts*, TimMessage*);
  /** Required.  Descs have the chosen layouts. */
  TimCode (*lower)(void* state, const TimNode*, const TimDeviceProps*,
                   TimLowering*, TimMessage*);
} TimKernel;

/** Kernels; the others run the steps of add_step(), and are required where the
 * plug-in has devices and kernels of its own kind. */
typedef struct TimKernelFns {
  uint32_t struct_size;
  uint32_t reserved;
  uint32_t (*count)(void);
  const TimKernel* (*kernel)(uint32_t index);
  /** Once per name, payload and device. */
  TimCode (*build)(TimDevice*, const char* name, TimBytes payload, TimStore*,
                   TimProgram** out, TimMessage*);
  void (*drop_program)(TimDevice*, TimProgram*);
  /** Once per context of a graph: holds what launches share. */
  TimCode (*prepare)(TimDevice*, TimProgram*, TimPrepared** out, TimMessage*);
  void (*drop_prepared)(TimDevice*, TimPrepared*);
  TimCode (*enqueue)(TimDevice*, TimStream*, TimPrepared*,
                     const TimRange* operands, uint32_t count, TimMessage*);
} TimKernelFns;

/* ------------------------------------------------------------------------- */
/* Graph mode.                                                               */

/** A compiler of parts of graphs. */
typedef struct TimGraphFns {
  uint32_t struct_size;
  uint32_t reserved;
  /** Sees a graph with known extents and claims sets of its nodes.  Composites
   * are nodes; those that no claim has are opened, and it is called again. */
  TimCode (*claim)(TimDevice*, const TimGraph*, TimClaims*, TimMessage*);
  /** NULL: inputs and outputs of parts are dense. */
  TimCode (*port_layouts)(TimDevice*, const TimGraph* part, TimLayouts*,
                          TimMessage*);
  /** NULL: claims say which nodes of kernel mode belong together. */
  TimCode (*compile)(TimDevice*, const TimGraph* part, const TimOption*,
                     uint32_t option_count, TimProgram** out, TimMessage*);
  /** Calls receive() once with a blob that load() takes in later processes. */
  TimCode (*serialize)(TimDevice*, TimProgram*,
                       void (*receive)(void* state, const void* data,
                                       uint64_t bytes),
                       void* state, TimMessage*);
  /** Takes bytes of any content; refuses what serialize() did not make. */
  TimCode (*load)(TimDevice*, TimBytes blob, TimProgram** out, TimMessage*);
  void (*drop_program)(TimDevice*, TimProgram*);
  TimCode (*prepare)(TimDevice*, TimProgram*, TimPrepared** out, TimMessage*);
  void (*drop_prepared)(TimDevice*, TimPrepared*);
  /** Operands in the order of the part's inputs and outputs. */
  TimCode (*execute)(TimDevice*, TimStream*, TimPrepared*,
                     const TimRange* inputs, uint32_t input_count,
                     const TimRange* outputs, uint32_t output_count,
                     TimMessage*);
  /** Lists edits; none is made unless it returns TIM_OK. */
  TimCode (*optimize)(TimDevice*, const TimGraph*, int32_t level, TimEdits*,
                      TimMessage*);
} TimGraphFns;

/* ------------------------------------------------------------------------- */
/* Operators.                                                                */

typedef struct TimAttributeSpec {
  uint32_t struct_size;
  int32_t type; /**< TIM_ATTRIBUTE_... */
  const char* name;
  const TimAttribute* default_value; /**< NULL: it is required. */
} TimAttributeSpec;

/** An operator of the plug-in.  Functions are pure. */
typedef struct TimOp {
  uint32_t struct_size;
  int32_t version;    /**< From 1. */
  const char* domain; /**< = TimPlugin::kind. */
  const char* name;   /**< "FancyNorm". */
  void* state;
  uint32_t inputs_required, inputs_limit;
  uint32_t outputs_required, outputs_limit;
  const TimAttributeSpec* const* attributes;
  uint32_t attribute_count;
  uint32_t effects; /**< TIM_EFFECT_... */
  /** Required.  Extents and ranks may be unknown; what follows of them is then
   * unknown, too. */
  TimCode (*infer)(void* state, const TimNode*, TimInference*, TimMessage*);
  /** Rules beyond counts and types of attributes; NULL: there are none. */
  TimCode (*check)(void* state, const TimNode*, TimMessage*);
  /** Computes outputs on the host, all operands dense; NULL: it cannot. */
  TimCode (*eval)(void* state, const TimNode*, const void* const* inputs,
                  void* const* outputs, TimMessage*);
  /** The same with other operators; NULL: there is none. */
  TimCode (*decompose)(void* state, const TimNode*, TimEdits* body,
                       TimMessage*);
  TimCode (*estimate)(void* state, const TimNode*, double* flops,
                      double* bytes_read, double* bytes_written, TimMessage*);
} TimOp;

typedef struct TimOpFns {
  uint32_t struct_size;
  uint32_t reserved;
  uint32_t (*count)(void);
  const TimOp* (*op)(uint32_t index);
} TimOpFns;

/* ------------------------------------------------------------------------- */
/* The plug-in.                                                              */

typedef struct TimPlugin {
  uint32_t struct_size;
  uint16_t abi_major, abi_minor; /**< TIM_ABI_MAJOR, TIM_ABI_MINOR. */
  /** Name of its devices, "<kind>:0", and its operators:
   * [a-z][a-z0-9_]{1,15}, not "host", "opencl", "fake", "tim" or "user". */
  const char* kind;
  const char* vendor;
  const char* version;
  uint64_t flags; /**< TIM_PLUGIN_... */
  /** Required.  The first call; the host's tables stay until shutdown(). */
  TimCode (*initialize)(const TimHost*, const TimOption*, uint32_t option_count,
                        TimMessage*);
  /** Required.  The last one, with no device open; initialize() may follow. */
  void (*shutdown)(void);
  /** May give 0, of a plug-in with kernels or operators only. */
  uint32_t (*device_count)(void);
  TimCode (*describe)(uint32_t index, TimDeviceProps* out, TimMessage*);
  TimCode (*open)(uint32_t index, TimDevice** out, TimMessage*);
  void (*close)(TimDevice*);
  /* Tables that it offers; NULL: nothing of the kind. */
  const TimDeviceFns* device;
  const TimKernelFns* kernels;
  const TimGraphFns* graphs;
  const TimOpFns* ops;
} TimPlugin;

/** The only symbol of a plug-in.  Gives a static table and does no work; NULL:
 * it cannot serve a host with this version of the interface. */
TIM_PLUGIN_EXPORT const TimPlugin* TimPluginGet(uint16_t host_major,
                                                uint16_t host_minor);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TIM_PLUGIN_TIM_PLUGIN_H_ */
