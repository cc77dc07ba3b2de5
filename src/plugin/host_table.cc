// Functions of the library that plug-ins call: nothing throws into them.
#include "plugin/host_table.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <string>

#include "base/fork/keep_one.h"
#include "base/guarded.h"
#include "base/log.h"
#include "base/parallel_for.h"
#include "plugin/plugin_device.h"
#include "plugin/plugin_programs.h"
#include "plugin/sinks.h"
#include "plugin/views.h"

namespace tim::plugin {
namespace {

TimCode CodeOf(const Status& status) {
  return static_cast<TimCode>(status.code());
}

TimCode Tell(const Status& status, TimMessage* message) {
  if (!status.ok() && message != nullptr && message->text != nullptr &&
      message->capacity > 0) {
    const size_t length =
        std::min<size_t>(status.message().size(), message->capacity - 1);
    std::memcpy(message->text, status.message().data(), length);
    message->text[length] = 0;
  }
  return CodeOf(status);
}

void Log(int32_t severity, const char* text) {
  if (text == nullptr || severity < 1 || severity > 4) return;
  const auto level = static_cast<Severity>(severity);
  static_cast<void>(GuardedCall([&] {
    if (LogEnabled(level)) LogLine(level, StrCat("plug-in: ", text));
    return OkStatus();
  }));
}

TimCode RunParallel(uint64_t count, void (*body)(void* state, uint64_t index),
                    void* state) {
  if (body == nullptr) return TIM_INVALID_ARGUMENT;
  return CodeOf(GuardedCall([&] {
    return ParallelFor(count, [&](size_t index) {
      body(state, index);
      return OkStatus();
    });
  }));
}

TimCode StoreLoad(TimStore* store, const char* key,
                  void (*receive)(void* state, const void* data,
                                  uint64_t bytes),
                  void* state) {
  if (store == nullptr || key == nullptr || receive == nullptr) {
    return TIM_INVALID_ARGUMENT;
  }
  return CodeOf(GuardedCall([&]() -> Status {
    const std::optional<std::string> bytes =
        store->store->Load(store->prefix + key);
    if (!bytes) return NotFound(key);
    receive(state, bytes->data(), bytes->size());
    return OkStatus();
  }));
}

void StoreSave(TimStore* store, const char* key, TimBytes bytes) {
  if (store == nullptr || key == nullptr ||
      (bytes.data == nullptr && bytes.bytes > 0)) {
    return;
  }
  static_cast<void>(GuardedCall([&] {
    store->store->Store(store->prefix + key,
                        {static_cast<const char*>(bytes.data), bytes.bytes});
    return OkStatus();
  }));
}

TimCode PoolAllocate(TimDevice* handle, uint64_t bytes, TimRange* out,
                     TimMessage* message) {
  return Tell(GuardedCall([&]() -> Status {
                const auto device = FindDevice(handle);
                if (device == nullptr) {
                  return InvalidArgument("no device of the library");
                }
                return device->PoolAllocate(bytes, out);
              }),
              message);
}

void PoolRelease(TimDevice* handle, const TimRange* range,
                 TimStream* last_user) {
  if (range == nullptr) return;
  static_cast<void>(GuardedCall([&] {
    const auto device = FindDevice(handle);
    if (device != nullptr) device->PoolRelease(*range, last_user);
    return OkStatus();
  }));
}

}  // namespace

const TimHost& Host() {
  static constinit std::atomic<const TimHost*> host = nullptr;
  return KeepOne(host, [] {
    return TimHost{
        .struct_size = TIM_SIZE_THROUGH(TimHost, pool_release),
        .abi_major = TIM_ABI_MAJOR,
        .abi_minor = TIM_ABI_MINOR,
        .version = TIM_CL_VERSION,
        .views = &Views(),
        .sinks = &Sinks(),
        .log = Log,
        .parallel_for = RunParallel,
        .store_load = StoreLoad,
        .store_save = StoreSave,
        .pool_allocate = PoolAllocate,
        .pool_release = PoolRelease,
    };
  });
}

}  // namespace tim::plugin
