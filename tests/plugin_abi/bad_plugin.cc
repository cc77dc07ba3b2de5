// A plug-in that works, and makes the one mistake that its option "mode" names.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include "tim/plugin/tim_plugin.h"

struct TimDevice {
  int work = 0;
};
struct TimBuffer {
  unsigned char* memory = nullptr;
  uint64_t bytes = 0;
};
struct TimProgram {
  int64_t elements = 0;
};
struct TimPrepared {
  TimProgram* program = nullptr;
};

namespace {

const TimHost* g_host = nullptr;
std::string g_mode;  // NOLINT: a library of a test
unsigned g_random = 1;
int g_supports = 0;   // how often supports() was called
int g_described = 0;  // how often describe() was called
int g_opened = 0;     // likewise open()
bool g_trimmed = false;
const void* g_stale_host = nullptr;

bool Is(const char* mode) { return g_mode == mode; }

TimCode Fail(TimMessage* message, TimCode code, const char* text) {
  std::snprintf(message->text, message->capacity, "%s", text);
  return code;
}

TimCode Initialize(const TimHost* host, const TimOption* options,
                   uint32_t count, TimMessage* message) {
  g_host = host;
  g_mode.clear();
  g_supports = 0;
  g_trimmed = false;
  for (uint32_t i = 0; i < count; ++i) {
    if (std::strcmp(options[i].key, "mode") == 0) g_mode = options[i].value;
  }
  if (Is("initialize_fails")) {
    return Fail(message, TIM_FAILED_PRECONDITION, "no such hardware");
  }
  return TIM_OK;
}

void Shutdown() { g_host = nullptr; }
uint32_t DeviceCount() { return Is("many_devices") ? 1u << 30 : 1; }

TimCode Describe(uint32_t, TimDeviceProps* out, TimMessage* message) {
  if (Is("throw_describe")) throw std::runtime_error("describe");
  if (Is("unusable")) return Fail(message, TIM_NOT_FOUND, "no board is there");
  out->score = 10;
  if (Is("no_score")) {
    out->score = 0;
    std::snprintf(message->text, message->capacity, "the board sleeps");
  }
  if (Is("random_bits")) out->flags = TIM_DEVICE_DETERMINISTIC;
  std::snprintf(out->name, sizeof(out->name), "bad device");
  if (Is("restless")) {
    std::snprintf(out->driver, sizeof(out->driver), "%d", ++g_described);
  }
  if (Is("endless_name")) std::memset(out->name, 'n', sizeof(out->name));
  out->device_class = Is("bad_class") ? 7 : TIM_CLASS_ACCELERATOR;
  out->memory_bytes = int64_t{1} << 30;
  out->max_allocation_bytes = int64_t{1} << 28;
  out->alignment = Is("bad_alignment") ? 48 : Is("bytes") ? 1 : 64;
  out->gflops = 100;
  out->gbytes_per_second = 100;
  return TIM_OK;
}

TimCode Open(uint32_t, TimDevice** out, TimMessage*) {
  ++g_opened;
  *out = Is("null_device") ? nullptr : new TimDevice();
  return TIM_OK;
}
void Close(TimDevice* device) { delete device; }

TimCode Allocate(TimDevice*, uint64_t bytes, int32_t, TimBuffer** out,
                 TimMessage* message) {
  if (Is("null_buffer")) return TIM_OK;
  const bool full = Is("no_memory") || (Is("hoards") && !g_trimmed);
  if (full || bytes > (uint64_t{1} << 28)) {
    if (Is("long_message")) {
      std::memset(message->text, 'm', message->capacity + 4);
      message->text[message->capacity - 1] = 0;
      return TIM_OUT_OF_MEMORY;
    }
    return Fail(message, TIM_OUT_OF_MEMORY, Is("no_message") ? "" : "full");
  }
  auto* buffer = new TimBuffer();
  const uint64_t room = (bytes / 64 + 2) * 64;
  buffer->memory = static_cast<unsigned char*>(std::aligned_alloc(64, room));
  buffer->bytes = bytes;
  *out = buffer;
  return TIM_OK;
}
void Release(TimDevice*, TimBuffer* buffer) {
  std::free(buffer->memory);
  delete buffer;
}

TimCode MemoryInfo(TimDevice*, uint64_t* free_bytes, uint64_t* total_bytes,
                   TimMessage*) {
  *total_bytes = uint64_t{1} << 30;
  *free_bytes =
      *total_bytes -
      (Is("leaks_devices") ? static_cast<uint64_t>(g_opened) << 20 : 0);
  return TIM_OK;
}

TimCode Trim(TimDevice*, TimMessage*) {
  g_trimmed = true;
  return TIM_OK;
}

unsigned char* At(const TimRange& range) {
  return range.buffer->memory + range.offset;
}

TimCode CopyIn(TimDevice*, TimStream*, const void* host, TimRange to,
               TimMessage* message) {
  if (Is("lost_copy")) return Fail(message, TIM_DEVICE_LOST, "the bus is gone");
  if (Is("stale_host")) {
    g_stale_host = host;
    return TIM_OK;
  }
  std::memcpy(At(to), host, to.bytes);
  if (Is("copy_overrun")) std::memset(At(to) + to.bytes, 0xEE, 16);
  return TIM_OK;
}
TimCode CopyOut(TimDevice*, TimStream*, TimRange from, void* host,
                TimMessage*) {
  if (Is("stale_host") && g_stale_host != nullptr) {
    std::memcpy(At(from), g_stale_host, from.bytes);
  }
  if (Is("lost_error")) return TIM_OK;
  std::memcpy(host, At(from), from.bytes);
  return TIM_OK;
}

const TimDeviceFns* DeviceFns() {
  static TimDeviceFns fns;
  fns.struct_size = TIM_SIZE_THROUGH(TimDeviceFns, native_handle);
  fns.allocate = Allocate;
  fns.release = Release;
  fns.copy_in = CopyIn;
  fns.copy_out = CopyOut;
  fns.trim = Trim;
  fns.memory_info = MemoryInfo;
  return &fns;
}

TimCode Supports(void*, const TimNode* node, const TimDeviceProps*,
                 TimMessage* reason) {
  ++g_supports;
  const TimTensorDesc* in = g_host->views->input(node, 0);
  if (Is("throw_supports")) throw std::runtime_error("supports");
  if (Is("throw_int")) throw 42;
  if (Is("unknown_code")) return 77;
  if (Is("no_reason")) return TIM_UNIMPLEMENTED;
  if (Is("ignores_epilogue")) return TIM_OK;
  if (Is("long_reason")) {
    std::memset(reason->text, 'r', reason->capacity);
    return TIM_UNIMPLEMENTED;
  }
  if (in == nullptr || in->type != TIM_TYPE_FLOAT32 ||
      g_host->views->epilogue_count(node) > 0) {
    return Fail(reason, TIM_UNIMPLEMENTED, "it takes float32 only");
  }
  return TIM_OK;
}

TimCode Cost(void*, const TimNode* node, const TimDeviceProps*,
             double* microseconds, TimMessage*) {
  if (Is("throw_cost")) throw std::runtime_error("cost");
  *microseconds = Is("negative_cost") ? -1 : 1;
  if (Is("falling_cost")) {
    const TimViewFns& views = *g_host->views;
    *microseconds =
        1e6 / static_cast<double>(1 + views.byte_size(views.output(node, 0)));
  }
  return TIM_OK;
}

// Blocks of 8 along the fastest axis, whatever the extent.
TimCode AddBlocks(const TimNode* node, TimLayouts* sink) {
  TimTensorDesc in = *g_host->views->input(node, 0);
  in.layout = TIM_LAYOUT_BLOCKED;
  in.layout_axis = 0;
  in.layout_block = 8;
  const TimTensorDesc* const descs[] = {&in};
  return g_host->sinks->add_layouts(sink, descs, 1, descs, 1);
}

TimCode Layouts(void*, const TimNode* node, const TimDeviceProps*,
                TimLayouts* sink, TimMessage*) {
  if (Is("blocks") || Is("wrong_lane")) return AddBlocks(node, sink);
  if (Is("bad_layouts")) {
    static_cast<void>(g_host->sinks->add_layouts(sink, nullptr, 7, nullptr, 9));
  }
  return TIM_OK;
}

TimCode Lower(void*, const TimNode* node, const TimDeviceProps*,
              TimLowering* lowering, TimMessage* message) {
  const TimSinkFns& sinks = *g_host->sinks;
  if (Is("throw_lower")) throw std::bad_alloc();
  if (Is("lower_fails")) return Fail(message, TIM_INTERNAL_ERROR, "no idea");
  if (Is("empty_lower")) return TIM_OK;
  uint32_t operands[2] = {0, 0};
  if (Is("bad_operand")) {
    static_cast<void>(sinks.input_operand(lowering, 99, &operands[0]));
    return TIM_OK;
  }
  if (Is("huge_scratch")) {
    uint32_t scratch = 0;
    static_cast<void>(
        sinks.add_scratch(lowering, uint64_t{1} << 60, 0, 0, &scratch));
    return TIM_OK;
  }
  static_cast<void>(sinks.input_operand(lowering, 0, &operands[0]));
  static_cast<void>(sinks.output_operand(lowering, 0, &operands[1]));
  if (Is("late_scratch")) {
    uint32_t scratch = 0;
    static_cast<void>(sinks.add_scratch(lowering, 64, 0, 5, &scratch));
  }
  const TimViewFns& views = *g_host->views;
  const auto elements =
      static_cast<int64_t>(views.byte_size(views.output(node, 0)) / 4);
  const uint8_t written[2] = {0, 1};
  const uint8_t wrong[2] = {1, 1};
  TimBytes payload{&elements, sizeof(elements)};
  if (Is("huge_payload")) payload.bytes = uint64_t{1} << 40;
  const TimCode code = sinks.add_step(lowering, "relu", payload, operands,
                                      Is("writes_input") ? wrong : written, 2);
  return Is("huge_payload") || Is("writes_input") ? TIM_OK : code;
}

// A reorder, without which the library takes no layouts of its kernels; no
// graph gets that far.
const TimKernel* ReorderKernel() {
  static TimKernel kernel;
  kernel.struct_size = TIM_SIZE_THROUGH(TimKernel, lower);
  kernel.name = "bad.reorder";
  kernel.op = "tim.Reorder";
  kernel.device_kind = "bad";
  kernel.supports = [](void*, const TimNode*, const TimDeviceProps*,
                       TimMessage* reason) {
    return Fail(reason, TIM_UNIMPLEMENTED, "it reorders nothing");
  };
  kernel.lower = Lower;
  return &kernel;
}

const TimKernel* KernelAt(uint32_t index) {
  static TimKernel kernel;
  kernel.struct_size = TIM_SIZE_THROUGH(TimKernel, lower);
  kernel.name = "bad.relu_f32";
  kernel.op = "tim.Relu";
  kernel.device_kind = "bad";
  kernel.supports = Supports;
  kernel.cost = Cost;
  kernel.layouts = Layouts;
  kernel.lower = Lower;
  if (index == 1) return ReorderKernel();
  return Is("null_kernel") ? nullptr : &kernel;
}
uint32_t KernelCount() { return 2; }

TimCode Build(TimDevice*, const char*, TimBytes payload, TimStore*,
              TimProgram** out, TimMessage* message) {
  if (Is("throw_build")) throw std::runtime_error("build");
  if (Is("build_fails")) return Fail(message, TIM_BUILD_FAILURE, "line 3: no");
  if (Is("null_program")) return TIM_OK;
  auto* program = new TimProgram();
  std::memcpy(&program->elements, payload.data, sizeof(program->elements));
  *out = program;
  return TIM_OK;
}
void DropProgram(TimDevice*, TimProgram* program) { delete program; }
TimCode Prepare(TimDevice*, TimProgram* program, TimPrepared** out,
                TimMessage*) {
  if (Is("throw_prepare")) throw std::runtime_error("prepare");
  *out = new TimPrepared{program};
  return TIM_OK;
}
void DropPrepared(TimDevice*, TimPrepared* prepared) { delete prepared; }

TimCode Enqueue(TimDevice*, TimStream*, TimPrepared* prepared,
                const TimRange* operands, uint32_t, TimMessage* message) {
  if (Is("throw_enqueue")) throw std::runtime_error("enqueue");
  if (Is("enqueue_fails")) return Fail(message, TIM_INTERNAL_ERROR, "overheat");
  if (Is("lost_enqueue")) return Fail(message, TIM_DEVICE_LOST, "fell off");
  if (Is("delays")) {
    g_random = g_random * 1103515245 + 12345;
    std::this_thread::sleep_for(
        std::chrono::microseconds(1 + (g_random >> 16) % 300));
  }
  if (Is("slow")) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  if (Is("hangs")) std::this_thread::sleep_for(std::chrono::seconds(5));
  const auto* x = reinterpret_cast<const float*>(At(operands[0]));
  auto* y = reinterpret_cast<float*>(At(operands[1]));
  const int64_t elements = prepared->program->elements;
  for (int64_t i = 0; i < elements; ++i) y[i] = std::max(x[i], 0.0f);
  if (Is("wrong_value") && elements > 0) y[elements - 1] += 1;
  if (Is("wrong_lane") && elements > 0) y[elements - 1] = 7;
  if (Is("random_bits") && elements > 0) {
    g_random = g_random * 1103515245 + 12345;
    y[elements - 1] += static_cast<float>(g_random >> 16) * 1e-9f;
  }
  if (Is("enqueue_overrun")) y[elements] = 3;
  return TIM_OK;
}

const TimKernelFns* KernelFns() {
  static TimKernelFns fns;
  fns.struct_size = TIM_SIZE_THROUGH(TimKernelFns, enqueue);
  fns.count = KernelCount;
  fns.kernel = KernelAt;
  fns.build = Build;
  fns.drop_program = DropProgram;
  fns.prepare = Prepare;
  fns.drop_prepared = DropPrepared;
  fns.enqueue = Enqueue;
  return &fns;
}

}  // namespace

extern "C" TIM_PLUGIN_EXPORT const TimPlugin* TimPluginGet(uint16_t host_major,
                                                           uint16_t) {
  if (host_major != TIM_ABI_MAJOR) return nullptr;
  static TimPlugin plugin;
  plugin.struct_size = TIM_SIZE_THROUGH(TimPlugin, ops);
  plugin.abi_major = TIM_ABI_MAJOR;
  plugin.abi_minor = TIM_ABI_MINOR;
  plugin.kind = "bad";
  plugin.vendor = "TIM-CL tests";
  plugin.version = "1";
  plugin.initialize = Initialize;
  plugin.shutdown = Shutdown;
  plugin.device_count = DeviceCount;
  plugin.describe = Describe;
  plugin.open = Open;
  plugin.close = Close;
  plugin.device = DeviceFns();
  plugin.kernels = KernelFns();
  return &plugin;
}
