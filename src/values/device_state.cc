// Opens devices when somebody first asks for them, and keeps them.
#include "values/device_state.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "base/fork/per_process.h"
#include "base/options.h"
#include "device/opencl/opencl_interop.h"
#include "ops/registered.h"
#include "runtime/cache/program_cache.h"
#include "runtime/device_pool.h"
#include "runtime/device_set.h"
#include "runtime/named_plugins.h"

namespace tim::values::internal {

/// Devices of this process.
struct Process {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<DeviceState>> devices;
  /// What values of devices that were lost are on.
  std::vector<std::shared_ptr<DeviceState>> lost;
  std::shared_ptr<DeviceState> chosen;  ///< By SetDefault().
  std::shared_ptr<runtime::ProgramCache> programs;
  std::shared_ptr<runtime::WorkStream> host;
  int clients_contexts = 0;  ///< Devices in contexts that clients made.

  static Process& Get();

  // The mutex is held.
  const std::shared_ptr<runtime::ProgramCache>& Programs() {
    if (programs == nullptr) {
      programs = runtime::ProgramCache::Create(runtime::UserCacheOptions(
          GetOptions().cache_dir, std::getenv("XDG_CACHE_HOME"),
          std::getenv("HOME")));
    }
    return programs;
  }

  // A device that was lost is opened again by whoever asks for it next.
  void Forget(const std::shared_ptr<DeviceState>& state) {
    for (size_t i = 1; i < state->devices_.size(); ++i) {
      runtime::ForgetDevice(*state->devices_[i]);
    }
    std::erase_if(devices,
                  [&](const auto& entry) { return entry.second == state; });
    lost.push_back(state);
  }

  // A lost device in a client's context, which it can be opened in again; null
  // where none was lost.
  std::shared_ptr<DeviceState> LostOfClient(const std::string& spec) const {
    for (const auto& state : lost) {
      if (state->is_clients_ && state->spec_ == spec) return state;
    }
    return nullptr;
  }

  std::shared_ptr<DeviceState> Find(const std::string& spec) {
    const auto known = devices.find(spec);
    if (known != devices.end()) {
      const std::shared_ptr<DeviceState> state = known->second;
      if (!state->is_lost()) return state;
      Forget(state);
    }
    auto made = std::make_shared<DeviceState>();
    made->spec_ = spec;
    if (const auto before = LostOfClient(spec)) {
      const device::Device& own = before->device();
      made->status_ = made->OpenInContext(own.NativeHandle("cl_device_id"),
                                          own.NativeHandle("cl_context"));
    } else {
      made->status_ = made->Open();
    }
    // Devices that failed are not kept: a later call may find them.
    if (made->status_.ok()) devices[spec] = made;
    return made;
  }

  std::shared_ptr<DeviceState> InContext(void* device, void* context) {
    for (const auto& [name, state] : devices) {
      const device::Device& known = state->device();
      if (device != nullptr && known.NativeHandle("cl_device_id") == device &&
          known.NativeHandle("cl_context") == context &&
          (state->is_clients_ || !state->is_lost())) {
        return Find(std::string(name));
      }
    }
    auto made = std::make_shared<DeviceState>();
    made->spec_ = StrCat("opencl@", ++clients_contexts);
    made->status_ = made->OpenInContext(device, context);
    if (made->status_.ok()) devices[made->spec_] = made;
    return made;
  }
};

namespace {

constinit GlobalPerProcess<Process> g_process;

// One name for each device: "opencl" is "opencl:0".
std::string NormalName(const std::string& spec) {
  const std::string& name = spec.empty() ? GetOptions().device : spec;
  return name == "opencl" ? "opencl:0" : name;
}

}  // namespace

Process& Process::Get() { return g_process.Get(); }

Status DeviceState::Open() {
  const Options& options = GetOptions();
  runtime::LoadNamedPlugins(options);
  if (spec_.empty()) {
    TIM_ASSIGN_OR_RETURN(devices_,
                         runtime::SelectDevices("", options.on_device));
  } else {
    TIM_ASSIGN_OR_RETURN(runtime::DeviceSet set,
                         runtime::OpenDevices(spec_, options.on_device));
    devices_ = std::move(set.devices);
  }
  if (spec_.empty()) spec_ = devices_.size() == 1 ? "host" : "opencl:0";
  return Start();
}

Status DeviceState::OpenInContext(void* device, void* context) {
  is_clients_ = true;
  const DeviceOptions& options = GetOptions().on_device;
  TIM_ASSIGN_OR_RETURN(auto own,
                       device::CreateOpenClDevice(device, context, options));
  TIM_ASSIGN_OR_RETURN(devices_, runtime::SelectDevices("host", options));
  devices_.push_back(std::move(own));
  return Start();
}

Status DeviceState::Start() {
  Process& process = Process::Get();
  if (process.host == nullptr) {
    TIM_ASSIGN_OR_RETURN(process.host,
                         runtime::WorkStream::Create(devices_[0]));
  }
  devices_[0] = process.host->shared_device();
  streams_ = {process.host};
  for (size_t i = 1; i < devices_.size(); ++i) {
    TIM_ASSIGN_OR_RETURN(streams_.emplace_back(),
                         runtime::WorkStream::Create(devices_[i]));
  }
  const Options& options = GetOptions();
  runtime::WorkStreams streams = streams_;
  streams.resize(std::min<size_t>(streams.size(), 2));
  runner_ = std::make_unique<runtime::NodeRunner>(
      std::move(streams), process.Programs(),
      runtime::NodeRunnerOptions{.strict = options.strict});
  return OkStatus();
}

std::shared_ptr<DeviceState> DeviceState::Find(const std::string& spec) {
  Process& process = Process::Get();
  const std::lock_guard lock(process.mutex);
  const std::string name = NormalName(spec);
  auto found = process.Find(name);
  // The default's own name is known only once it is open.
  if (name.empty() && found->status_.ok()) {
    found = process.devices.emplace(found->spec_, found).first->second;
    process.devices[name] = found;
  }
  return found;
}

std::shared_ptr<DeviceState> DeviceState::Default() {
  {
    Process& process = Process::Get();
    const std::lock_guard lock(process.mutex);
    auto& chosen = process.chosen;
    if (chosen != nullptr && chosen->is_lost()) {
      auto again = process.Find(chosen->spec());
      if (again->status().ok()) chosen = std::move(again);
    }
    if (chosen != nullptr) return chosen;
  }
  auto found = Find("");
  return found->status().ok() ? found : Find("host");
}

void DeviceState::SetDefault(std::shared_ptr<DeviceState> state) {
  Process& process = Process::Get();
  const std::lock_guard lock(process.mutex);
  process.chosen = std::move(state);
}

std::shared_ptr<DeviceState> DeviceState::InContext(void* device,
                                                    void* context) {
  Process& process = Process::Get();
  const std::lock_guard lock(process.mutex);
  return process.InContext(device, context);
}

std::shared_ptr<DeviceState> DeviceState::Of(
    const runtime::WorkStream& stream) {
  if (stream.is_host()) return Find("host");
  Process& process = Process::Get();
  const std::lock_guard lock(process.mutex);
  const auto has = [&](const DeviceState& state) {
    for (const auto& own : state.streams()) {
      if (own.get() == &stream) return true;
    }
    return false;
  };
  for (const auto& [name, state] : process.devices) {
    if (has(*state)) return state;
  }
  for (const auto& state : process.lost) {
    if (has(*state)) return state;
  }
  return nullptr;
}

// The first stream is the host's, which all states share.
bool DeviceState::is_lost() const {
  for (size_t i = 1; i < streams_.size(); ++i) {
    if (streams_[i]->is_lost()) return true;
  }
  return is_lost_;
}

runtime::Surroundings DeviceState::surroundings() const {
  // Operators that are known stay so for the process's life.
  return {.devices = devices_,
          .store = runner_->store(),
          .operators = {&ops::KnownOperators(), [](const ir::OpRegistry*) {}}};
}

int64_t ProgramBuilds() {
  Process& process = Process::Get();
  const std::lock_guard lock(process.mutex);
  return process.Programs()->builds();
}

runtime::NodeRunnerStats RunnerStats() {
  Process& process = Process::Get();
  const std::lock_guard lock(process.mutex);
  runtime::NodeRunnerStats sum;
  std::set<std::shared_ptr<DeviceState>> states(process.lost.begin(),
                                                process.lost.end());
  for (const auto& [name, state] : process.devices) states.insert(state);
  for (const auto& state : states) {
    const runtime::NodeRunnerStats stats = state->runner().stats();
    sum.hits += stats.hits;
    sum.misses += stats.misses;
    sum.kept += stats.kept;
    sum.evictions += stats.evictions;
    sum.compile_ms += stats.compile_ms;
  }
  return sum;
}

}  // namespace tim::values::internal
