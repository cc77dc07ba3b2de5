/* A plug-in in C11: a device "demo:0" whose memory is this process's, with
 * kernels for three operators of the library and for one of its own.
 *
 * docs/plugins.md goes through this file part by part.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tim/plugin/tim_plugin.h"

static const TimHost* g_host;

/* Writes the reason of a failure, and gives its code. */
static TimCode Fail(TimMessage* message, TimCode code, const char* text) {
  snprintf(message->text, message->capacity, "%s", text);
  return code;
}

/* ---- the device: memory and copies ------------------------------------- */

struct TimDevice {
  int open;
};
struct TimBuffer {
  unsigned char* memory;
};

enum { kMostBytes = 1 << 28 };

static uint32_t DeviceCount(void) { return 1; }

static TimCode Describe(uint32_t index, TimDeviceProps* out,
                        TimMessage* message) {
  if (index != 0) return Fail(message, TIM_NOT_FOUND, "there is one device");
  out->flags = TIM_DEVICE_DETERMINISTIC;
  out->score = 20;
  out->device_class = TIM_CLASS_ACCELERATOR;
  snprintf(out->name, sizeof(out->name), "demo device");
  snprintf(out->vendor, sizeof(out->vendor), "TIM-CL samples");
  snprintf(out->driver, sizeof(out->driver), "1");
  out->compute_units = 1;
  out->memory_bytes = (int64_t)1 << 30;
  out->max_allocation_bytes = kMostBytes;
  out->alignment = 64;
  out->gflops = 1;
  out->gbytes_per_second = 5;
  out->launch_us = 1;
  return TIM_OK;
}

static TimCode Open(uint32_t index, TimDevice** out, TimMessage* message) {
  TimDevice* device = calloc(1, sizeof(*device));
  (void)index;
  if (device == NULL) return Fail(message, TIM_OUT_OF_MEMORY, "no memory");
  *out = device;
  return TIM_OK;
}

static void Close(TimDevice* device) { free(device); }

static TimCode Allocate(TimDevice* device, uint64_t bytes, int32_t memory,
                        TimBuffer** out, TimMessage* message) {
  /* aligned_alloc wants a multiple of the alignment. */
  const uint64_t room = (bytes / 64 + 1) * 64;
  TimBuffer* buffer;
  (void)device;
  (void)memory;
  if (bytes > kMostBytes) {
    return Fail(message, TIM_OUT_OF_MEMORY, "a buffer has at most 256 MiB");
  }
  buffer = calloc(1, sizeof(*buffer));
  if (buffer != NULL) buffer->memory = aligned_alloc(64, (size_t)room);
  if (buffer == NULL || buffer->memory == NULL) {
    free(buffer);
    return Fail(message, TIM_OUT_OF_MEMORY, "the host's memory is full");
  }
  *out = buffer;
  return TIM_OK;
}

static void Release(TimDevice* device, TimBuffer* buffer) {
  (void)device;
  free(buffer->memory);
  free(buffer);
}

static void* HostAddress(TimDevice* device, TimBuffer* buffer) {
  (void)device;
  return buffer->memory;
}

static void* At(const TimRange* range) {
  return range->buffer->memory + range->offset;
}

static TimCode CopyIn(TimDevice* device, TimStream* stream, const void* host,
                      TimRange to, TimMessage* message) {
  (void)device;
  (void)stream;
  (void)message;
  memcpy(At(&to), host, (size_t)to.bytes);
  return TIM_OK;
}

static TimCode CopyOut(TimDevice* device, TimStream* stream, TimRange from,
                       void* host, TimMessage* message) {
  (void)device;
  (void)stream;
  (void)message;
  memcpy(host, At(&from), (size_t)from.bytes);
  return TIM_OK;
}

static TimCode Copy(TimDevice* device, TimStream* stream, TimRange from,
                    TimRange to, TimMessage* message) {
  (void)device;
  (void)stream;
  (void)message;
  memmove(At(&to), At(&from), (size_t)from.bytes);
  return TIM_OK;
}

static const TimDeviceFns kDevice = {
    .struct_size = TIM_SIZE_THROUGH(TimDeviceFns, native_handle),
    .allocate = Allocate,
    .release = Release,
    .copy_in = CopyIn,
    .copy_out = CopyOut,
    .copy = Copy,
    .host_address = HostAddress,
};

/* ---- steps: what build(), prepare() and enqueue() do -------------------- */

/* The payload of every step of this plug-in: plain numbers. */
typedef struct Sizes {
  int64_t elements;      /* of element-wise steps */
  int64_t in[4], out[4]; /* of convolutions: w, h, channels, batch */
  int64_t kernel[2], stride[2], dilation[2], front[2];
  int64_t has_bias;
} Sizes;

typedef void (*StepFn)(const Sizes* sizes, const TimRange* operands);

static void RunRelu(const Sizes* sizes, const TimRange* operands) {
  const float* x = At(&operands[0]);
  float* y = At(&operands[1]);
  for (int64_t i = 0; i < sizes->elements; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

static void RunAdd(const Sizes* sizes, const TimRange* operands) {
  const float* a = At(&operands[0]);
  const float* b = At(&operands[1]);
  float* y = At(&operands[2]);
  for (int64_t i = 0; i < sizes->elements; ++i) y[i] = a[i] + b[i];
}

static void RunSquaredRelu(const Sizes* sizes, const TimRange* operands) {
  const float* x = At(&operands[0]);
  float* y = At(&operands[1]);
  for (int64_t i = 0; i < sizes->elements; ++i) {
    const float relu = x[i] > 0 ? x[i] : 0;
    y[i] = relu * relu;
  }
}

/* The product of one window and one channel's weights. */
static float Window(const Sizes* s, const float* x, const float* w, int64_t ox,
                    int64_t oy) {
  float sum = 0;
  for (int64_t c = 0; c < s->in[2]; ++c) {
    for (int64_t ky = 0; ky < s->kernel[1]; ++ky) {
      const int64_t y = oy * s->stride[1] + ky * s->dilation[1] - s->front[1];
      if (y < 0 || y >= s->in[1]) continue;
      for (int64_t kx = 0; kx < s->kernel[0]; ++kx) {
        const int64_t at =
            ox * s->stride[0] + kx * s->dilation[0] - s->front[0];
        if (at < 0 || at >= s->in[0]) continue;
        sum += x[(c * s->in[1] + y) * s->in[0] + at] *
               w[(c * s->kernel[1] + ky) * s->kernel[0] + kx];
      }
    }
  }
  return sum;
}

static void RunConv2d(const Sizes* s, const TimRange* operands) {
  const float* x = At(&operands[0]);
  const float* w = At(&operands[1]);
  const float* bias = s->has_bias ? At(&operands[2]) : NULL;
  float* out = At(&operands[s->has_bias ? 3 : 2]);
  const int64_t image = s->in[0] * s->in[1] * s->in[2];
  const int64_t weights = s->kernel[0] * s->kernel[1] * s->in[2];
  for (int64_t n = 0; n < s->out[3]; ++n) {
    for (int64_t c = 0; c < s->out[2]; ++c) {
      for (int64_t y = 0; y < s->out[1]; ++y) {
        for (int64_t at = 0; at < s->out[0]; ++at) {
          *out++ = Window(s, x + n * image, w + c * weights, at, y) +
                   (bias != NULL ? bias[c] : 0);
        }
      }
    }
  }
}

typedef struct NamedStep {
  const char* name;
  StepFn run;
} NamedStep;
static const NamedStep kSteps[] = {{"relu", RunRelu},
                                   {"add", RunAdd},
                                   {"squared_relu", RunSquaredRelu},
                                   {"conv2d", RunConv2d}};

struct TimProgram {
  StepFn run;
  Sizes sizes;
};
struct TimPrepared {
  const TimProgram* program;
};

/* Payloads may come from a file: whatever is relied on is checked. */
static TimCode Build(TimDevice* device, const char* name, TimBytes payload,
                     TimStore* store, TimProgram** out, TimMessage* message) {
  TimProgram* program;
  (void)device;
  (void)store;
  if (payload.bytes != sizeof(Sizes)) {
    return Fail(message, TIM_INVALID_ARGUMENT, "a payload of another size");
  }
  for (size_t i = 0; i < sizeof(kSteps) / sizeof(kSteps[0]); ++i) {
    if (strcmp(kSteps[i].name, name) != 0) continue;
    program = calloc(1, sizeof(*program));
    if (program == NULL) return Fail(message, TIM_OUT_OF_MEMORY, "no memory");
    program->run = kSteps[i].run;
    memcpy(&program->sizes, payload.data, sizeof(Sizes));
    *out = program;
    return TIM_OK;
  }
  return Fail(message, TIM_NOT_FOUND, "there is no step of this name");
}

static void DropProgram(TimDevice* device, TimProgram* program) {
  (void)device;
  free(program);
}

static TimCode Prepare(TimDevice* device, TimProgram* program,
                       TimPrepared** out, TimMessage* message) {
  TimPrepared* prepared = calloc(1, sizeof(*prepared));
  (void)device;
  if (prepared == NULL) return Fail(message, TIM_OUT_OF_MEMORY, "no memory");
  prepared->program = program;
  *out = prepared;
  return TIM_OK;
}

static void DropPrepared(TimDevice* device, TimPrepared* prepared) {
  (void)device;
  free(prepared);
}

static TimCode Enqueue(TimDevice* device, TimStream* stream,
                       TimPrepared* prepared, const TimRange* operands,
                       uint32_t count, TimMessage* message) {
  (void)device;
  (void)stream;
  (void)count;
  (void)message;
  prepared->program->run(&prepared->program->sizes, operands);
  return TIM_OK;
}

/* ---- kernels: which nodes they take, and what steps these become -------- */

static int64_t Elements(const TimTensorDesc* desc) {
  int64_t elements = 1;
  for (int32_t i = 0; i < desc->rank; ++i) elements *= desc->dims[i];
  return elements;
}

static int IsFloat(const TimTensorDesc* desc) {
  return desc != NULL && desc->type == TIM_TYPE_FLOAT32;
}

static int SameShape(const TimTensorDesc* a, const TimTensorDesc* b) {
  return a->rank == b->rank &&
         memcmp(a->dims, b->dims, (size_t)a->rank * sizeof(int64_t)) == 0;
}

/* One or two inputs of one shape, and an output of the same. */
static TimCode SupportsElementwise(void* state, const TimNode* node,
                                   const TimDeviceProps* props,
                                   TimMessage* reason) {
  const TimViewFns* v = g_host->views;
  const TimTensorDesc* out = v->output(node, 0);
  (void)state;
  (void)props;
  if (v->epilogue_count(node) > 0) {
    return Fail(reason, TIM_UNIMPLEMENTED, "it fuses nothing");
  }
  for (uint32_t i = 0; i < v->input_count(node); ++i) {
    const TimTensorDesc* in = v->input(node, i);
    if (!IsFloat(in) || !IsFloat(out)) {
      return Fail(reason, TIM_UNIMPLEMENTED, "it takes float32 only");
    }
    if (!SameShape(in, out)) {
      return Fail(reason, TIM_UNIMPLEMENTED, "it does not broadcast");
    }
  }
  return TIM_OK;
}

/* Adds one step over all inputs and output 0. */
static TimCode AddStep(const char* name, const Sizes* sizes,
                       const TimNode* node, TimLowering* lowering) {
  const TimSinkFns* s = g_host->sinks;
  const TimBytes payload = {sizes, sizeof(*sizes)};
  uint32_t operands[4];
  uint8_t written[4] = {0, 0, 0, 0};
  uint32_t count = 0;
  TimCode code;
  for (uint32_t i = 0; i < g_host->views->input_count(node) && i < 3; ++i) {
    if (g_host->views->input(node, i) == NULL) continue;
    code = s->input_operand(lowering, i, &operands[count++]);
    if (code != TIM_OK) return code;
  }
  code = s->output_operand(lowering, 0, &operands[count]);
  if (code != TIM_OK) return code;
  written[count++] = 1;
  return s->add_step(lowering, name, payload, operands, written, count);
}

/* `state` is the name of the step. */
static TimCode LowerElementwise(void* state, const TimNode* node,
                                const TimDeviceProps* props,
                                TimLowering* lowering, TimMessage* message) {
  Sizes sizes;
  (void)props;
  (void)message;
  memset(&sizes, 0, sizeof(sizes));
  sizes.elements = Elements(g_host->views->output(node, 0));
  return AddStep(state, &sizes, node, lowering);
}

#include "conv2d.h"

static char kRelu[] = "relu", kAdd[] = "add", kSquaredRelu[] = "squared_relu";

#define DEMO_KERNEL(kernel_name, operator_name, step, can, make)            \
  {                                                                         \
    .struct_size = TIM_SIZE_THROUGH(TimKernel, lower), .name = kernel_name, \
    .op = operator_name, .device_kind = "demo", .state = step,              \
    .supports = can, .lower = make                                          \
  }
static const TimKernel kKernels[] = {
    DEMO_KERNEL("demo.relu_f32", "tim.Relu", kRelu, SupportsElementwise,
                LowerElementwise),
    DEMO_KERNEL("demo.add_f32", "tim.Add", kAdd, SupportsElementwise,
                LowerElementwise),
    DEMO_KERNEL("demo.squared_relu_f32", "demo.SquaredRelu", kSquaredRelu,
                SupportsElementwise, LowerElementwise),
    DEMO_KERNEL("demo.conv2d_f32", "tim.Conv2d", NULL, SupportsConv2d,
                LowerConv2d),
};

static uint32_t KernelCount(void) {
  return sizeof(kKernels) / sizeof(kKernels[0]);
}
static const TimKernel* KernelAt(uint32_t index) { return &kKernels[index]; }

static const TimKernelFns kKernelFns = {
    .struct_size = TIM_SIZE_THROUGH(TimKernelFns, enqueue),
    .count = KernelCount,
    .kernel = KernelAt,
    .build = Build,
    .drop_program = DropProgram,
    .prepare = Prepare,
    .drop_prepared = DropPrepared,
    .enqueue = Enqueue,
};

#include "squared_relu.h"

/* ---- the plug-in --------------------------------------------------------- */

static TimCode Initialize(const TimHost* host, const TimOption* options,
                          uint32_t option_count, TimMessage* message) {
  (void)options;
  (void)option_count;
  if (!TIM_OFFERS(host->sinks, TimSinkFns, infer_output)) {
    return Fail(message, TIM_UNIMPLEMENTED, "the host is too old");
  }
  g_host = host;
  return TIM_OK;
}

static void Shutdown(void) { g_host = NULL; }

static const TimPlugin kPlugin = {
    .struct_size = TIM_SIZE_THROUGH(TimPlugin, ops),
    .abi_major = TIM_ABI_MAJOR,
    .abi_minor = TIM_ABI_MINOR,
    .kind = "demo",
    .vendor = "TIM-CL samples",
    .version = "1.0",
    .flags = TIM_PLUGIN_UNLOADABLE,
    .initialize = Initialize,
    .shutdown = Shutdown,
    .device_count = DeviceCount,
    .describe = Describe,
    .open = Open,
    .close = Close,
    .device = &kDevice,
    .kernels = &kKernelFns,
    .ops = &kOpFns,
};

const TimPlugin* TimPluginGet(uint16_t host_major, uint16_t host_minor) {
  (void)host_minor;
  return host_major == TIM_ABI_MAJOR ? &kPlugin : NULL;
}
