// Memory, copies, order and threads of devices.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "base/aligned_memory.h"
#include "base/parallel_for.h"
#include "device/host/host_buffer.h"
#include "tools/timcl/kernel_run.h"
#include "tools/timcl/plugin_checks.h"

namespace tim::tool {
namespace {

using device::BufferRange;
using plugin::PluginDevice;

constexpr int64_t kBytes = 1 << 16;
constexpr int kGuard = 64;

Result<TimBuffer*> Allocate(PluginDevice& device, uint64_t bytes) {
  TimBuffer* buffer = nullptr;
  TIM_RETURN_IF_ERROR(
      device.Call("TimDeviceFns::allocate", device.functions().allocate, bytes,
                  static_cast<int32_t>(TIM_MEMORY_DEVICE), &buffer));
  if (buffer == nullptr) return InvalidArgument("allocate() gave no buffer");
  return buffer;
}

void Release(PluginDevice& device, TimBuffer* buffer) {
  device.Tell("TimDeviceFns::release", device.functions().release, buffer);
}

// A stream and memory on both sides.
struct Bench {
  std::unique_ptr<device::Buffer> buffer;
  std::unique_ptr<device::Buffer> host;
  std::unique_ptr<device::Stream> stream;

  static Result<Bench> Make(PluginDevice& device, int64_t bytes = kBytes) {
    Bench bench;
    TIM_ASSIGN_OR_RETURN(bench.buffer,
                         device.Allocate(bytes, ir::MemoryKind::kDevice));
    TIM_ASSIGN_OR_RETURN(bench.host,
                         device::HostBuffer::Create(bytes + 2 * kGuard));
    TIM_ASSIGN_OR_RETURN(bench.stream, device.CreateStream());
    return bench;
  }
  uint8_t* memory() const {
    return static_cast<uint8_t*>(host->host_address());
  }
  Status Wait() {
    TIM_ASSIGN_OR_RETURN(const auto event, stream->Record());
    return event->Wait();
  }
  Status In(int64_t from, int64_t to, int64_t bytes) {
    return stream->Copy({host.get(), from, bytes}, {buffer.get(), to, bytes});
  }
  Status Out(int64_t from, int64_t to, int64_t bytes) {
    return stream->Copy({buffer.get(), from, bytes}, {host.get(), to, bytes});
  }
};

// Copies of random pieces against a copy of the whole in this process.
Status CopyPieces(CheckedPlugin& plugin, PluginDevice& device) {
  TIM_ASSIGN_OR_RETURN(Bench bench, Bench::Make(device));
  std::vector<uint8_t> shadow(kBytes);
  std::fill_n(bench.memory(), kBytes + 2 * kGuard, 0x5A);
  TIM_RETURN_IF_ERROR(bench.In(kGuard, 0, kBytes));
  TIM_RETURN_IF_ERROR(bench.Wait());
  std::fill(shadow.begin(), shadow.end(), 0x5A);
  const int64_t alignment = device.info().alignment;
  for (int i = 0; i < 50; ++i) {
    const auto offset =
        static_cast<int64_t>(plugin.random() %
                             static_cast<uint64_t>(kBytes / alignment)) *
        alignment;
    const auto bytes =
        static_cast<int64_t>(plugin.random() %
                             static_cast<uint64_t>(kBytes - offset)) +
        1;
    for (int64_t k = 0; k < bytes; ++k) {
      shadow[static_cast<size_t>(offset + k)] = bench.memory()[kGuard + k] =
          static_cast<uint8_t>(plugin.random());
    }
    TIM_RETURN_IF_ERROR(bench.In(kGuard, offset, bytes));
    TIM_RETURN_IF_ERROR(bench.Wait());
    // The host's memory is the caller's again once the event is reached.
    std::fill_n(bench.memory(), kBytes + 2 * kGuard, 0xA5);
    TIM_RETURN_IF_ERROR(bench.Out(0, kGuard, kBytes));
    TIM_RETURN_IF_ERROR(bench.Wait());
    for (int64_t k = 0; k < kBytes; ++k) {
      if (bench.memory()[kGuard + k] == shadow[static_cast<size_t>(k)])
        continue;
      return InvalidArgument(
          "after copy_in of ", bytes, " bytes to ", offset, ", byte ", k,
          " is ", static_cast<int>(bench.memory()[kGuard + k]), ", expected ",
          static_cast<int>(shadow[static_cast<size_t>(k)]));
    }
    const uint8_t* const end = bench.memory() + kGuard + kBytes;
    if (std::count(bench.memory(), bench.memory() + kGuard, 0xA5) != kGuard ||
        std::count(end, end + kGuard, 0xA5) != kGuard) {
      return InvalidArgument("copy_out writes beyond its ", kBytes, " bytes");
    }
  }
  return OkStatus();
}

Status CopyOnDevice(PluginDevice& device) {
  TIM_ASSIGN_OR_RETURN(Bench bench, Bench::Make(device));
  for (int64_t i = 0; i < kBytes; ++i) {
    bench.memory()[i] = static_cast<uint8_t>(i * 7);
  }
  const int64_t half = kBytes / 2;
  TIM_RETURN_IF_ERROR(bench.In(0, 0, half));
  TIM_RETURN_IF_ERROR(bench.stream->Copy({bench.buffer.get(), 0, half},
                                         {bench.buffer.get(), half, half}));
  TIM_RETURN_IF_ERROR(bench.Out(half, half, half));
  TIM_RETURN_IF_ERROR(bench.Wait());
  if (std::equal(bench.memory(), bench.memory() + half,
                 bench.memory() + half)) {
    return OkStatus();
  }
  return InvalidArgument("copy() of ", half, " bytes gives others");
}

// A copy between two devices that share memory or copy to each other.
Status CopyToPeer(PluginDevice& from, PluginDevice& to) {
  TIM_ASSIGN_OR_RETURN(Bench source, Bench::Make(from));
  TIM_ASSIGN_OR_RETURN(Bench sink, Bench::Make(to));
  for (int64_t i = 0; i < kBytes; ++i) {
    source.memory()[i] = static_cast<uint8_t>(i * 5 + 1);
  }
  TIM_RETURN_IF_ERROR(source.In(0, 0, kBytes));
  TIM_RETURN_IF_ERROR(source.Wait());
  const int64_t half = kBytes / 2;
  TIM_RETURN_IF_ERROR(sink.stream->Copy({source.buffer.get(), half, half},
                                        {sink.buffer.get(), 0, half}));
  TIM_RETURN_IF_ERROR(sink.Out(0, 0, half));
  TIM_RETURN_IF_ERROR(sink.Wait());
  if (std::equal(sink.memory(), sink.memory() + half, source.memory() + half)) {
    return OkStatus();
  }
  return InvalidArgument("a copy of ", half, " bytes from ", from.info().name,
                         " to ", to.info().name, " gives others");
}

// Fills pieces at the device's alignment, and nothing around them.
Status FillPieces(CheckedPlugin& plugin, PluginDevice& device) {
  if (device.functions().fill == nullptr) return OkStatus();
  TIM_ASSIGN_OR_RETURN(Bench bench, Bench::Make(device));
  std::vector<uint8_t> expected(kBytes, 0x5A);
  std::fill_n(bench.memory(), kBytes, 0x5A);
  TIM_RETURN_IF_ERROR(bench.In(0, 0, kBytes));
  const int64_t alignment = device.info().alignment;
  for (const uint8_t byte : {0, 0xFF, 0x31}) {
    const auto places = static_cast<uint64_t>(kBytes / alignment);
    const int64_t offset =
        static_cast<int64_t>(plugin.random() % places) * alignment;
    const int64_t bytes =
        1 + static_cast<int64_t>(plugin.random() %
                                 static_cast<uint64_t>(kBytes - offset));
    TIM_RETURN_IF_ERROR(
        bench.stream->Fill({bench.buffer.get(), offset, bytes}, byte).status());
    std::fill_n(expected.begin() + offset, bytes, byte);
    TIM_RETURN_IF_ERROR(bench.Out(0, 0, kBytes));
    TIM_RETURN_IF_ERROR(bench.Wait());
    const auto differs =
        std::mismatch(expected.begin(), expected.end(), bench.memory());
    if (differs.first == expected.end()) continue;
    return InvalidArgument("after fill of ", bytes, " bytes from ", offset,
                           ", byte ", differs.first - expected.begin(), " is ",
                           static_cast<int>(*differs.second), ", expected ",
                           static_cast<int>(*differs.first));
  }
  return OkStatus();
}

// Calls of done() that a device has made; it may make more at any time.
constinit std::atomic<int> g_done_calls = 0;
void CountDone(void*, TimCode) { ++g_done_calls; }

enum class Destroyed { kBefore, kAfter };

// One call, whether the event is destroyed before it or after; none where
// on_done() fails.
Status CallOnce(PluginDevice& device, Destroyed destroyed) {
  constexpr int kCopies = 64;
  const TimDeviceFns& fns = device.functions();
  TIM_ASSIGN_OR_RETURN(Bench bench, Bench::Make(device));
  auto* const buffer = dynamic_cast<plugin::PluginBuffer*>(bench.buffer.get());
  if (buffer == nullptr) return TIM_INTERNAL("no buffer of a plug-in");
  TimStream* stream = nullptr;
  TimEvent* event = nullptr;
  TIM_RETURN_IF_ERROR(
      device.Call("TimDeviceFns::create_stream", fns.create_stream, &stream));
  TIM_RETURN_IF_ERROR(
      device.Call("TimDeviceFns::create_event", fns.create_event, &event));
  // Work that the event comes behind, so that it is not reached yet.
  for (int i = 0; i < kCopies; ++i) {
    TIM_RETURN_IF_ERROR(device.Call(
        "TimDeviceFns::copy_in", fns.copy_in, stream,
        static_cast<const void*>(bench.memory()), buffer->RangeOf(0, kBytes)));
  }
  TIM_RETURN_IF_ERROR(
      device.Call("TimDeviceFns::record", fns.record, stream, event));
  g_done_calls = 0;
  const Status asked = device.Call("TimDeviceFns::on_done", fns.on_done, event,
                                   &CountDone, static_cast<void*>(nullptr));
  if (asked.code() == StatusCode::kDeviceLost) return asked;
  const auto destroy = [&] {
    device.Tell("TimDeviceFns::destroy_event", fns.destroy_event, event);
  };
  if (destroyed == Destroyed::kBefore) destroy();
  for (int i = 0; asked.ok() && i < 500 && g_done_calls == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  device.Tell("TimDeviceFns::destroy_stream", fns.destroy_stream, stream);
  if (destroyed == Destroyed::kAfter) destroy();
  // A second one may follow.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  if (!asked.ok()) {
    if (g_done_calls == 0) return OkStatus();
    return InvalidArgument("on_done() fails, and calls done() ",
                           g_done_calls.load(), " times: ", asked.message());
  }
  if (g_done_calls == 1) return OkStatus();
  return InvalidArgument("on_done() of an event that is destroyed ",
                         destroyed == Destroyed::kBefore ? "before" : "after",
                         " it is reached calls done() ", g_done_calls.load(),
                         " times, expected once");
}

}  // namespace

void CheckAllocations(CheckedPlugin& plugin) {
  if (!plugin.Load()) return;
  for (const auto& device : plugin.Devices()) {
    for (const uint64_t bytes : {0u, 1u, 4095u, 1u << 20}) {
      const auto buffer = Allocate(*device, bytes);
      if (!plugin.Expect(buffer.status(), StrCat("allocate(", bytes, ")"))) {
        return;
      }
      Release(*device, *buffer);
    }
    const auto most =
        static_cast<uint64_t>(device->info().max_allocation_bytes);
    const auto many = Allocate(*device, most + 1);
    if (many.ok()) {
      plugin.Fail("allocate() of max_allocation_bytes + 1 succeeds");
      Release(*device, *many);
    } else if (many.status().code() != StatusCode::kOutOfMemory) {
      plugin.Fail(
          "allocate() of max_allocation_bytes + 1 is no "
          "TIM_OUT_OF_MEMORY: ",
          many.status().ToString());
    }
    std::vector<TimBuffer*> held(64, nullptr);
    for (int i = 0; i < 10'000; ++i) {
      TimBuffer*& slot = held[plugin.random() % held.size()];
      if (slot != nullptr) Release(*device, slot);
      slot = nullptr;
      const auto buffer = Allocate(*device, plugin.random() % 8192);
      if (!plugin.Expect(buffer.status(), StrCat("allocation ", i))) return;
      slot = *buffer;
    }
    for (TimBuffer* buffer : held) {
      if (buffer != nullptr) Release(*device, buffer);
    }
  }
}

void CheckCopies(CheckedPlugin& plugin) {
  if (!plugin.Load()) return;
  for (const auto& device : plugin.Devices()) {
    plugin.Expect(CopyPieces(plugin, *device), "copies");
    plugin.Expect(CopyOnDevice(*device), "copies");
    plugin.Expect(FillPieces(plugin, *device), "fill()");
    if (!device->info().unified_memory) continue;
    const AlignedMemory memory = AllocateAligned(4096, 4096);
    plugin.Expect(device->Import(memory.get(), 4096).status(), "import_host()");
  }
  for (const auto& from : plugin.Devices()) {
    for (const auto& to : plugin.Devices()) {
      if (from == to || !to->CanCopyFrom(*from)) continue;
      plugin.Expect(CopyToPeer(*from, *to), "copies between devices");
    }
  }
}

// Each copy reads what the one before wrote; two streams do not disturb.
void CheckOrder(CheckedPlugin& plugin) {
  if (!plugin.Load()) return;
  for (const auto& device : plugin.Devices()) {
    const auto run = [&]() -> Status {
      TIM_ASSIGN_OR_RETURN(Bench one, Bench::Make(*device));
      TIM_ASSIGN_OR_RETURN(Bench other, Bench::Make(*device));
      const int64_t piece = 4096;
      for (int i = 0; i < 100; ++i) {
        for (Bench* bench : {&one, &other}) {
          bench->memory()[0] = static_cast<uint8_t>(i + (bench == &other));
          TIM_RETURN_IF_ERROR(bench->In(0, 0, piece));
          TIM_RETURN_IF_ERROR(
              bench->stream->Copy({bench->buffer.get(), 0, piece},
                                  {bench->buffer.get(), piece, piece}));
          TIM_RETURN_IF_ERROR(bench->Out(piece, piece, piece));
        }
        TIM_ASSIGN_OR_RETURN(const auto event, one.stream->Record());
        TIM_RETURN_IF_ERROR(other.stream->WaitFor(*event));
        TIM_RETURN_IF_ERROR(other.Wait());
        if (!event->Ready()) {
          return InvalidArgument(
              "an event that another stream has waited for "
              "is not reached");
        }
        TIM_RETURN_IF_ERROR(event->Wait());
        TIM_RETURN_IF_ERROR(event->Wait());
        for (Bench* bench : {&one, &other}) {
          if (bench->memory()[piece] == bench->memory()[0]) continue;
          return InvalidArgument("work of a stream is not done in order");
        }
      }
      return OkStatus();
    };
    plugin.Expect(run(), "two streams");
    if (!device->has_streams() || device->functions().on_done == nullptr) {
      continue;
    }
    for (const Destroyed destroyed : {Destroyed::kAfter, Destroyed::kBefore}) {
      plugin.Expect(CallOnce(*device, destroyed), "events");
    }
  }
}

void CheckThreads(CheckedPlugin& plugin) {
  const auto operators = plugin.LoadAll();
  if (operators == nullptr) return;
  bool any = false;
  for (const device::Devices& pair : plugin.DevicePairs()) {
    auto* const device = dynamic_cast<PluginDevice*>(pair[1].get());
    if (device == nullptr || !device->thread_safe()) continue;
    any = true;
    const Status status = ParallelFor(8, [&](size_t thread) -> Status {
      for (int i = 0; i < 50; ++i) {
        TIM_ASSIGN_OR_RETURN(Bench bench, Bench::Make(*device));
        bench.memory()[0] = static_cast<uint8_t>(thread * 16 + 1);
        TIM_RETURN_IF_ERROR(bench.In(0, 0, 64));
        TIM_RETURN_IF_ERROR(bench.Out(0, 64, 64));
        TIM_RETURN_IF_ERROR(bench.Wait());
        if (bench.memory()[64] == bench.memory()[0]) continue;
        return InvalidArgument("threads disturb each other");
      }
      return OkStatus();
    });
    plugin.Expect(status, "eight threads");
    plugin.Expect(TryKernelsOnThreads(plugin, pair[1], *operators),
                  "kernels on eight threads");
  }
  if (!any) plugin.Skip("no device is TIM_DEVICE_THREAD_SAFE");
}

}  // namespace tim::tool
