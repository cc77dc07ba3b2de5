// The facade tim::devices: what the machine has, for clients of any front.
#include "tim/devices/devices.h"

#include <cstdlib>
#include <utility>

#include "base/guarded.h"
#include "base/log.h"
#include "base/options.h"
#include "base/status.h"
#include "devices/failure.h"
#include "runtime/cache/program_cache.h"
#include "runtime/device_facts.h"
#include "runtime/device_set.h"
#include "runtime/links.h"
#include "runtime/named_plugins.h"

namespace tim::devices {

std::string& ThreadError() {
  thread_local std::string error;
  return error;
}

// False, for callers to return.
bool Fail(const Status& status) {
  ThreadError() = status.code() == StatusCode::kInternal ? status.ToString()
                                                         : status.message();
  TIM_LOG(kError, ThreadError());
  return false;
}

namespace {

DeviceFacts FactsOf(runtime::DeviceFacts found) {
  DeviceFacts facts;
  facts.spec = std::move(found.spec);
  facts.kind = found.info.kind;
  facts.name = found.info.name;
  facts.vendor = found.info.vendor;
  facts.driver = found.info.driver;
  facts.reason = std::move(found.reason);
  facts.score = found.score;
  facts.usable = found.score > 0;
  facts.memory_bytes = found.info.global_memory_bytes;
  facts.gflops = found.info.gflops;
  facts.gbytes_per_second = found.info.gbytes_per_second;
  facts.launch_us = found.info.launch_us;
  return facts;
}

}  // namespace

std::vector<DeviceFacts> List() {
  std::vector<DeviceFacts> list;
  const Status status = GuardedCall([&] {
    runtime::LoadNamedPlugins(GetOptions());
    for (auto& found : runtime::AllDeviceFacts(GetOptions().on_device)) {
      list.push_back(FactsOf(std::move(found)));
    }
    return OkStatus();
  });
  if (!status.ok()) {
    Fail(status);
    list.clear();
  }
  return list;
}

bool MeasureLinks(const std::vector<std::string>& specs) {
  const Status status = GuardedCall([&]() -> Status {
    runtime::LoadNamedPlugins(GetOptions());
    if (specs.empty()) return InvalidArgument("no devices are named");
    TIM_ASSIGN_OR_RETURN(
        const auto set,
        runtime::OpenDevices(StrJoin(specs, ","), GetOptions().on_device));
    if (set.devices.size() < 2) {
      return InvalidArgument("'", StrJoin(specs, ","),
                             "' is the host alone, which copies nowhere; name "
                             "a device beside it");
    }
    const auto store = runtime::ProgramCache::Create(runtime::UserCacheOptions(
        GetOptions().cache_dir, std::getenv("XDG_CACHE_HOME"),
        std::getenv("HOME")));
    return runtime::MeasureLinksAnew(set.devices, *store);
  });
  return status.ok() || Fail(status);
}

std::string LinksAsJson() {
  std::string json = "[]";
  const Status status = GuardedCall([&] {
    json = runtime::KnownLinksAsJson();
    return OkStatus();
  });
  if (!status.ok()) Fail(status);
  return json;
}

std::string LastError() { return ThreadError(); }

}  // namespace tim::devices
