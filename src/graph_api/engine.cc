// Chooses the devices of engines.
#include "graph_api/engine.h"

#include <atomic>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/options.h"
#include "device/opencl/opencl_device.h"
#include "device/opencl/opencl_interop.h"
#include "graph_api/engine_memory.h"
#include "graph_api/offload.h"
#include "graph_api/options.h"
#include "ops/registered.h"
#include "runtime/cache/program_cache.h"
#include "runtime/device_pool.h"
#include "runtime/named_plugins.h"

namespace tim::graph {
namespace {

uint64_t NextNumber() {
  static constinit std::atomic<uint64_t> last = 0;
  return ++last;
}

// Numbers of the devices that gpu engines are of, in the loader's order.
std::vector<int> GpuNumbers() {
  std::vector<int> numbers;
  const bool all = GetGraphOptions().all_are_gpus;
  for (int i = 0; i < device::CountOpenClDevices(); ++i) {
    if (all || device::IsOpenClAccelerator(i)) numbers.push_back(i);
  }
  return numbers;
}

Result<device::Devices> ListedDevice(int number) {
  return runtime::SelectListedDevice(static_cast<uint32_t>(number), {}, "",
                                     GetOptions().on_device);
}

// Devices that TIMCL_DEVICE names; else the CPU as OpenCL has it, else the
// host.
Result<device::Devices> CpuDevices() {
  const Options& options = GetOptions();
  if (!options.device.empty()) {
    return runtime::SelectDevices(options.device, options.on_device);
  }
  for (int i = 0; i < device::CountOpenClDevices(); ++i) {
    if (device::IsOpenClAccelerator(i)) continue;
    auto devices = ListedDevice(i);
    if (devices.ok()) return devices;
  }
  return runtime::SelectDevices("host", options.on_device);
}

Result<device::Devices> GpuDevices(size_t index) {
  const std::vector<int> numbers = GpuNumbers();
  if (index >= numbers.size()) {
    return InvalidArgument("there is no gpu engine ", index, "; there are ",
                           numbers.size(),
                           ", OpenCL's GPUs and accelerators (all of its "
                           "devices with TIMCL_GRAPH_GPU=all)");
  }
  return ListedDevice(numbers[index]);
}

std::string IdentityOf(const device::Device& device) {
  if (device.info().kind != "opencl") return device.info().kind;
  const auto identity =
      device::OpenClIdentity(device.NativeHandle("cl_device_id"));
  return identity.ok() ? *identity : device.info().ToString();
}

}  // namespace

Engine::Engine(EngineParts parts)
    : parts_(std::move(parts)), number_(NextNumber()) {}

DeviceFamily Engine::family() const {
  return device()->info().kind == "host" ? DeviceFamily::kHost
                                         : DeviceFamily::kOpenCl;
}

runtime::Surroundings Engine::surroundings() const {
  // Operators that are known stay so for the process's life.
  return {.devices = parts_.devices,
          .store = parts_.programs,
          .operators = {&ops::KnownOperators(), [](const ir::OpRegistry*) {}}};
}

size_t CountEngines(tim_graph_engine_kind_t kind) {
  if (kind == tim_graph_cpu) return 1;
  return kind == tim_graph_gpu ? GpuNumbers().size() : 0;
}

Result<EngineParts> SelectEngine(tim_graph_engine_kind_t kind, size_t index,
                                 std::shared_ptr<const Allocator> allocator,
                                 const std::string& offload) {
  runtime::LoadNamedPlugins(GetOptions());
  EngineParts parts{.kind = kind,
                    .devices = {},
                    .allocator = std::move(allocator),
                    .programs = nullptr};
  if (kind != tim_graph_cpu && !offload.empty()) {
    return InvalidArgument(
        "an engine of kind ", tim_graph_engine_kind2str(kind),
        " is to offload to '", offload, "'; engines of kind cpu do");
  }
  if (kind == tim_graph_gpu) {
    TIM_ASSIGN_OR_RETURN(parts.devices, GpuDevices(index));
  } else if (kind != tim_graph_cpu) {
    return InvalidArgument("an engine is of kind cpu or gpu, not ",
                           tim_graph_engine_kind2str(kind));
  } else if (index != 0) {
    return InvalidArgument("there is no cpu engine ", index, "; there is one");
  } else {
    const std::string& name =
        offload.empty() ? GetGraphOptions().offload : offload;
    parts.offloaded = !name.empty();
    TIM_ASSIGN_OR_RETURN(parts.devices,
                         name.empty() ? CpuDevices() : OffloadDevices(name));
  }
  if (parts.allocator == nullptr) {
    parts.allocator = kind == tim_graph_cpu
                          ? OwnHostAllocator()
                          : OwnGpuAllocator(*parts.devices.back());
  }
  parts.devices = WithMemoryOf(parts.allocator, kind, std::move(parts.devices));
  parts.programs = ProgramsFor(*parts.devices.back());
  return parts;
}

std::shared_ptr<EnginePrograms> ProgramsFor(const device::Device& device) {
  return std::make_shared<EnginePrograms>(
      IdentityOf(device),
      runtime::ProgramCache::Create(runtime::UserCacheOptions(
          GetOptions().cache_dir, std::getenv("XDG_CACHE_HOME"),
          std::getenv("HOME"))));
}

}  // namespace tim::graph
