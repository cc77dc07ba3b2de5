#include "tests/plugin_abi/native_plugin.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace {

// A moment that streams reach.
struct Moment {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  TimCode code = TIM_OK;                     // of the work before it
  std::vector<std::function<void()>> calls;  // when it is reached
  void Reach() {
    std::vector<std::function<void()>> due;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      done = true;
      changed.notify_all();
      due = std::move(calls);
    }
    for (const auto& call : due) call();
  }
  void Then(std::function<void()> call) {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      if (!done) return calls.push_back(std::move(call));
    }
    call();
  }
  void Drop() {
    const std::lock_guard<std::mutex> lock(mutex);
    calls.clear();
  }
  void Wait() {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return done; });
  }
  bool IsDone() {
    const std::lock_guard<std::mutex> lock(mutex);
    return done;
  }
};

}  // namespace

struct TimDevice {
  int number = 0;
};
struct TimBuffer {
  unsigned char* memory = nullptr;
};
struct TimEvent {
  std::shared_ptr<Moment> moment;
};
struct TimProgram {
  int64_t elements = 0;
};
struct TimPrepared {
  TimProgram* program = nullptr;
};
struct TimStream {
  TimStream() : thread([this] { Work(); }) {}
  ~TimStream() {
    Push(nullptr);
    thread.join();
  }
  void Push(std::function<void()> work) {
    const std::lock_guard<std::mutex> lock(mutex);
    queue.push_back(std::move(work));
    changed.notify_all();
  }
  void Work() {
    while (true) {
      std::function<void()> work;
      {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return !queue.empty(); });
        work = std::move(queue.front());
        queue.pop_front();
      }
      if (!work) return;
      work();
    }
  }
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> queue;
  TimCode failure = TIM_OK;  // since the last moment; of its thread
  std::thread thread;
};

namespace {

using tim::testing::NativeOptions;

constexpr int64_t kMostBytes = int64_t{1} << 28;
NativeOptions g_options;  // NOLINT: one plug-in at a time
const TimHost* g_host = nullptr;

tim::testing::NativeCalls g_calls;

unsigned char* At(const TimRange& range) {
  if (range.offset % 64 != 0) ++g_calls.unaligned;
  return range.buffer->memory + range.offset;
}

bool Makes(const char* mistake) { return g_options.mistake == mistake; }

TimCode Initialize(const TimHost* host, const TimOption* options,
                   uint32_t count, TimMessage*) {
  g_host = host;
  for (uint32_t i = 0; i < count; ++i) {
    if (std::strcmp(options[i].key, "mistake") == 0) {
      g_options.mistake = options[i].value;
    }
  }
  return TIM_OK;
}
void Shutdown() { g_host = nullptr; }
uint32_t DeviceCount() { return 2; }
TimCode Describe(uint32_t index, TimDeviceProps* out, TimMessage*) {
  out->flags = g_options.thread_safe ? TIM_DEVICE_THREAD_SAFE : 0;
  out->score = 30;
  out->device_class = TIM_CLASS_ACCELERATOR;
  std::snprintf(out->name, sizeof(out->name), "native device %u", index);
  out->max_streams = 4;
  out->memory_bytes = int64_t{1} << 30;
  out->max_allocation_bytes = kMostBytes;
  out->alignment = 64;
  out->gflops = 100;
  out->gbytes_per_second = 100;
  out->domain = 7;
  return TIM_OK;
}
TimCode Open(uint32_t index, TimDevice** out, TimMessage*) {
  static TimDevice devices[2] = {{0}, {1}};
  *out = &devices[index];
  return TIM_OK;
}
void Close(TimDevice*) {}

TimCode Allocate(TimDevice*, uint64_t bytes, int32_t, TimBuffer** out,
                 TimMessage* message) {
  if (bytes > kMostBytes) {
    std::snprintf(message->text, message->capacity, "it has 256 MiB at most");
    return TIM_OUT_OF_MEMORY;
  }
  auto* buffer = new TimBuffer();
  buffer->memory = static_cast<unsigned char*>(
      std::aligned_alloc(64, (bytes / 64 + 1) * 64));
  *out = buffer;
  return TIM_OK;
}
void Release(TimDevice*, TimBuffer* buffer) {
  std::free(buffer->memory);
  delete buffer;
}
TimCode CopyIn(TimDevice*, TimStream* stream, const void* host, TimRange to,
               TimMessage*) {
  ++g_calls.copies_in;
  const int delay_us = Makes("done_dropped") ? 300 : 0;
  stream->Push([=] {
    std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
    std::memcpy(At(to), host, to.bytes);
  });
  return TIM_OK;
}
TimCode CopyOut(TimDevice*, TimStream* stream, TimRange from, void* host,
                TimMessage*) {
  stream->Push([=] { std::memcpy(host, At(from), from.bytes); });
  return TIM_OK;
}
TimCode Fill(TimDevice*, TimStream* stream, TimRange range, uint8_t byte,
             TimMessage*) {
  ++g_calls.fills;
  if (Makes("fill_nothing")) return TIM_OK;
  if (Makes("fill_not")) return TIM_UNIMPLEMENTED;
  const uint64_t bytes = range.bytes + (Makes("fill_beyond") ? 1 : 0);
  stream->Push([=] {
    std::this_thread::sleep_for(std::chrono::microseconds(g_options.delay_us));
    std::memset(At(range), byte, bytes);
  });
  return TIM_OK;
}
TimCode CreateStream(TimDevice*, TimStream** out, TimMessage*) {
  *out = new TimStream();
  return TIM_OK;
}
void DestroyStream(TimDevice*, TimStream* stream) { delete stream; }
// Those that the host does not give back, of a device that counts as lost, are
// no leak of the library's.
std::map<TimEvent*, std::unique_ptr<TimEvent>>& Events() {
  static std::map<TimEvent*, std::unique_ptr<TimEvent>> events;
  return events;
}
std::mutex g_events_mutex;

TimCode CreateEvent(TimDevice*, TimEvent** out, TimMessage*) {
  auto event = std::make_unique<TimEvent>();
  *out = event.get();
  const std::lock_guard<std::mutex> lock(g_events_mutex);
  Events()[*out] = std::move(event);
  return TIM_OK;
}
void DestroyEvent(TimDevice*, TimEvent* event) {
  if (Makes("done_dropped") && event->moment != nullptr) event->moment->Drop();
  const std::lock_guard<std::mutex> lock(g_events_mutex);
  Events().erase(event);
}
TimCode Record(TimDevice*, TimStream* stream, TimEvent* event, TimMessage*) {
  event->moment = std::make_shared<Moment>();
  stream->Push([stream, moment = event->moment] {
    moment->code = std::exchange(stream->failure, TIM_OK);
    moment->Reach();
  });
  return TIM_OK;
}
TimCode StreamWait(TimDevice*, TimStream* stream, TimEvent* event,
                   TimMessage*) {
  stream->Push([moment = event->moment] { moment->Wait(); });
  return TIM_OK;
}
TimCode Wait(TimDevice*, TimEvent* event, TimMessage* message) {
  event->moment->Wait();
  const TimCode code = event->moment->code;
  if (code != TIM_OK) {
    std::snprintf(message->text, message->capacity, "the step overheated");
  }
  return code;
}
TimCode OnDone(TimDevice*, TimEvent* event, void (*done)(void*, TimCode),
               void* state, TimMessage* message) {
  ++g_calls.on_done;
  const std::pair<const char*, TimCode> failures[] = {
      {"done_fails", TIM_INTERNAL_ERROR},
      {"done_fails_and_calls", TIM_INTERNAL_ERROR},
      {"done_not", TIM_UNIMPLEMENTED},
      {"done_lost", TIM_DEVICE_LOST}};
  for (const auto& failure : failures) {
    if (!Makes(failure.first)) continue;
    if (Makes("done_fails_and_calls")) done(state, TIM_OK);
    std::snprintf(message->text, message->capacity, "no interrupts left");
    return failure.second;
  }
  if (Makes("done_never")) return TIM_OK;
  const TimCode code = Makes("done_code") ? 77 : TIM_OK;
  const int times = Makes("done_twice") ? 2 : 1;
  event->moment->Then([=] {
    for (int i = 0; i < times; ++i) done(state, code);
  });
  return TIM_OK;
}
TimCode Query(TimDevice*, TimEvent* event, int32_t* done, TimMessage*) {
  ++g_calls.queries;
  *done = event->moment->IsDone() ? 1 : 0;
  return TIM_OK;
}

TimCode Supports(void*, const TimNode* node, const TimDeviceProps*,
                 TimMessage* reason) {
  const TimTensorDesc* in = g_host->views->input(node, 0);
  if (in != nullptr && in->type == TIM_TYPE_FLOAT32 &&
      g_host->views->epilogue_count(node) == 0) {
    return TIM_OK;
  }
  std::snprintf(reason->text, reason->capacity, "float32 only");
  return TIM_UNIMPLEMENTED;
}
TimCode Lower(void*, const TimNode* node, const TimDeviceProps*,
              TimLowering* lowering, TimMessage*) {
  uint32_t operands[2] = {0, 0};
  static_cast<void>(g_host->sinks->input_operand(lowering, 0, &operands[0]));
  static_cast<void>(g_host->sinks->output_operand(lowering, 0, &operands[1]));
  const TimTensorDesc* out = g_host->views->output(node, 0);
  int64_t elements = 1;
  for (int32_t i = 0; i < out->rank; ++i) elements *= out->dims[i];
  const uint8_t written[2] = {0, 1};
  return g_host->sinks->add_step(
      lowering, "relu", {&elements, sizeof(elements)}, operands, written, 2);
}
uint32_t KernelCount() { return 1; }
const TimKernel* KernelAt(uint32_t) {
  static TimKernel kernel;
  kernel.struct_size = TIM_SIZE_THROUGH(TimKernel, lower);
  kernel.name = "native.relu_f32";
  kernel.op = "tim.Relu";
  kernel.device_kind = "native";
  kernel.supports = Supports;
  kernel.lower = Lower;
  return &kernel;
}
TimCode Build(TimDevice*, const char*, TimBytes payload, TimStore*,
              TimProgram** out, TimMessage*) {
  *out = new TimProgram();
  std::memcpy(&(*out)->elements, payload.data, sizeof((*out)->elements));
  return TIM_OK;
}
void DropProgram(TimDevice*, TimProgram* program) { delete program; }
TimCode Prepare(TimDevice*, TimProgram* program, TimPrepared** out,
                TimMessage*) {
  *out = new TimPrepared{program};
  return TIM_OK;
}
void DropPrepared(TimDevice*, TimPrepared* prepared) { delete prepared; }
TimCode Enqueue(TimDevice*, TimStream* stream, TimPrepared* prepared,
                const TimRange* operands, uint32_t, TimMessage*) {
  const TimRange from = operands[0];
  const TimRange to = operands[1];
  const bool fails = g_calls.steps++ == 0 && Makes("first_step_fails");
  stream->Push([=, elements = prepared->program->elements] {
    std::this_thread::sleep_for(std::chrono::microseconds(g_options.delay_us));
    const auto* x = reinterpret_cast<const float*>(At(from));
    auto* y = reinterpret_cast<float*>(At(to));
    for (int64_t i = 0; i < elements; ++i) y[i] = std::max(x[i], 0.0f);
    if (fails) stream->failure = TIM_INTERNAL_ERROR;
  });
  return TIM_OK;
}

}  // namespace

namespace tim::testing {

NativeCalls& CallsOfNative() { return g_calls; }

const TimPlugin* NativePlugin(const NativeOptions& options) {
  static TimDeviceFns device;
  static TimKernelFns kernels;
  static TimPlugin plugin;
  g_options = options;
  g_calls.steps = 0;
  device = {};
  device.struct_size = TIM_SIZE_THROUGH(TimDeviceFns, native_handle);
  device.allocate = Allocate;
  device.release = Release;
  device.copy_in = CopyIn;
  device.copy_out = CopyOut;
  device.create_stream = CreateStream;
  device.destroy_stream = DestroyStream;
  device.create_event = CreateEvent;
  device.destroy_event = DestroyEvent;
  device.record = Record;
  device.wait = Wait;
  if (options.stream_wait) device.stream_wait = StreamWait;
  if (options.query) device.query = Query;
  if (options.fill) device.fill = Fill;
  if (options.on_done) device.on_done = OnDone;
  kernels.struct_size = TIM_SIZE_THROUGH(TimKernelFns, enqueue);
  kernels.count = KernelCount;
  kernels.kernel = KernelAt;
  kernels.build = Build;
  kernels.drop_program = DropProgram;
  kernels.prepare = Prepare;
  kernels.drop_prepared = DropPrepared;
  kernels.enqueue = Enqueue;
  plugin.struct_size = TIM_SIZE_THROUGH(TimPlugin, ops);
  plugin.abi_major = TIM_ABI_MAJOR;
  plugin.kind = "native";
  plugin.vendor = "tests";
  plugin.version = "1";
  plugin.initialize = Initialize;
  plugin.shutdown = Shutdown;
  plugin.device_count = DeviceCount;
  plugin.describe = Describe;
  plugin.open = Open;
  plugin.close = Close;
  plugin.device = &device;
  plugin.kernels = &kernels;
  return &plugin;
}

}  // namespace tim::testing
