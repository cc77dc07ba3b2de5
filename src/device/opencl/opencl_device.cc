#include "device/opencl/opencl_device.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/log.h"
#include "device/device_pools.h"
#include "device/opencl/chain/chain_source.h"
#include "device/opencl/chain/chain_step.h"
#include "device/opencl/clblast/clblast_parameters.h"
#include "device/opencl/clblast/gemm_step.h"
#include "device/opencl/driver/cl_status.h"
#include "device/opencl/driver/host_instructions.h"
#include "device/opencl/driver/host_memory.h"
#include "device/opencl/driver/opencl_buffer.h"
#include "device/opencl/driver/opencl_info.h"
#include "device/opencl/driver/opencl_platforms.h"
#include "device/opencl/driver/opencl_stream.h"
#include "device/opencl/driver/remote_device.h"
#include "device/opencl/launch/kernel_step.h"
#include "device/opencl/opencl_in_context.h"
#include "device/opencl/opencl_interop.h"
#include "device/opencl/program/program_build.h"
#include "device/opencl/program/program_set.h"
#include "device/opencl/user/image_types.h"
#include "device/opencl/user/local_probe.h"
#include "kernels/chain_rule.h"

namespace tim::device {
namespace {

// Whatever may change the meaning of a binary.
std::string IdentityOf(const OpenClDeviceId& id, const ir::DeviceInfo& info) {
  return StrCat(info.name, "|", info.driver, "|",
                id.platform.getInfo<CL_PLATFORM_VERSION>());
}

StreamTraits TraitsOf(const cl::Context& context, const OpenClDeviceId& id,
                      const DeviceOptions& options) {
  StreamTraits traits;
  // Nothing is tried with memory that the other end does not see.
  if (IsRemote(id.device)) return traits;
  traits.queue.keeps_events = IsCpu(id.device);
  traits.works_in_host_memory = WorksInHostMemory(context, id.device);
  if (!traits.works_in_host_memory) {
    traits.mapping = MappingOf(context, id.device);
  }
  // Other runtimes' threads wait by themselves, or the host's works with them.
  if (traits.works_in_host_memory && IsPocl(id.platform) &&
      Standby::HasThreads(context, id.device)) {
    traits.queue.standby = options.standby;
  }
  return traits;
}

// PoCL hands a kernel's assembler to the host's, whichever processor it aims
// at; what others do cannot be tried without risk for the process.
bool TakesAssembler(const OpenClDeviceId& id) {
  return IsCpu(id.device) && IsPocl(id.platform);
}

constexpr int kVnniLanes = 16;
constexpr int kAmxLlvm = 12;  // Earlier ones may not know the instructions.

// A CPU that works in the host's memory is the host's own.
ir::DeviceInfo InfoOf(const OpenClDeviceId& id, const StreamTraits& traits,
                      const DeviceOptions& options) {
  ir::DeviceInfo info = QueryDeviceInfo(id, options);
  info.orders_stores = HostOrdersStores() && traits.works_in_host_memory;
  info.has_vnni = traits.works_in_host_memory && TakesAssembler(id) &&
                  info.float_vector_width >= kVnniLanes && HostHasVnni();
  info.has_amx =
      info.has_vnni && options.amx &&
      LlvmOf(id.platform.getInfo<CL_PLATFORM_VERSION>()) >= kAmxLlvm &&
      HostGrantsAmx();
  info.chains = options.chain && RunsChains(info);
  // A step alone is then started by threads that are awake.
  info.chains_singles = info.chains && traits.queue.standby.count() > 0;
  return info;
}

bool IsLaunch(const ir::Action& action) {
  return std::holds_alternative<ir::KernelLaunch>(action) ||
         std::holds_alternative<ir::UserLaunch>(action);
}

// What a launch is made of.
Result<ProgramSource> ProgramOf(const ir::Action& action,
                                const std::string& identity) {
  const auto* launch = std::get_if<ir::KernelLaunch>(&action);
  if (launch != nullptr) return SourceOf(*launch, identity);
  const auto& users = std::get<ir::UserLaunch>(action);
  ProgramSource source = SourceOf(users, identity);
  TIM_RETURN_IF_ERROR(CheckImageTypes(users).WithContext(source.name));
  return source;
}

class OpenClDevice final : public Device {
 public:
  OpenClDevice(OpenClDeviceId id, cl::Context context,
               const DeviceOptions& options)
      : options_(options),
        stream_traits_(TraitsOf(context, id, options)),
        info_(InfoOf(id, stream_traits_, options)),
        identity_(IdentityOf(id, info_)),
        id_(std::move(id)),
        context_(std::move(context)),
        programs_(context_, id_.device),
        pools_(*this, options.pool_bytes) {}

  const ir::DeviceInfo& info() const override { return info_; }
  const void* domain() const override { return context_(); }

  Status CheckUsable() const override { return CheckOpenClProcess(); }

  Result<std::unique_ptr<Buffer>> Allocate(int64_t bytes,
                                           ir::MemoryKind kind) override {
    TIM_RETURN_IF_ERROR(CheckUsable());
    if (kind != ir::MemoryKind::kDevice) {
      return Unimplemented("OpenCL devices have no memory of kind ",
                           ToString(kind));
    }
    return OpenClBuffer::Create(context_, info_, bytes);
  }

  DevicePools& pools() override { return pools_; }

  Result<std::unique_ptr<Buffer>> Import(void* memory, int64_t bytes) override {
    TIM_RETURN_IF_ERROR(CheckUsable());
    if (!info_.unified_memory) {
      return Unimplemented(info_.name, " does not import host memory");
    }
    return OpenClBuffer::Import(context_, memory, bytes);
  }

  Result<std::unique_ptr<Stream>> CreateStream() override {
    TIM_RETURN_IF_ERROR(CheckUsable());
    return OpenClStream::Create(context_, id_.device, stream_traits_);
  }

  Result<std::unique_ptr<Stream>> CreateTimedStream() override {
    TIM_RETURN_IF_ERROR(CheckUsable());
    const auto offered = id_.device.getInfo<CL_DEVICE_QUEUE_PROPERTIES>();
    if ((offered & CL_QUEUE_PROFILING_ENABLE) == 0) {
      return Unimplemented(info_.name, " does not time its work");
    }
    StreamTraits traits = stream_traits_;
    traits.queue.timed = true;
    return OpenClStream::Create(context_, id_.device, traits);
  }

  PreparedSteps PrepareEach(std::span<const ir::Action* const> steps,
                            const ir::OpRegistry& operators,
                            BinaryStore& store) override;

  Result<std::unique_ptr<PreparedStep>> PrepareChain(
      std::span<const ChainLink> links, BinaryStore& store) override;

  void* NativeHandle(std::string_view name) const override {
    if (name == "cl_platform_id") return id_.platform();
    if (name == "cl_device_id") return id_.device();
    if (name == "cl_context") return context_();
    return nullptr;
  }

 private:
  void UseClblast(BinaryStore& store) {
    std::call_once(clblast_, [&] {
      PrepareClblast({context_, id_.device, identity_}, options_, store);
    });
  }

  // What is no launch: null for a copy.
  Result<std::unique_ptr<PreparedStep>> PrepareOther(const ir::Action& action,
                                                     BinaryStore& store);
  Result<std::unique_ptr<PreparedStep>> PrepareLaunch(
      const ir::Action& action, const cl::Program& program, BinaryStore& store,
      GuardedContents* guards);

  // What the driver should report of a user's kernel and does not.
  int64_t UncountedLocalBytes(const cl::Program& program,
                              const ir::UserLaunch& launch, BinaryStore& store);

  const DeviceOptions options_;
  const StreamTraits stream_traits_;
  const ir::DeviceInfo info_;
  const std::string identity_;
  const OpenClDeviceId id_;
  const cl::Context context_;
  ProgramSet programs_;
  std::once_flag clblast_;
  DevicePools pools_;
};

PreparedSteps OpenClDevice::PrepareEach(
    std::span<const ir::Action* const> steps, const ir::OpRegistry&,
    BinaryStore& store) {
  PreparedSteps prepared;
  if (const Status usable = CheckUsable(); !usable.ok()) {
    for (size_t i = 0; i < steps.size(); ++i) prepared.push_back(usable);
    return prepared;
  }
  std::vector<size_t> launches;  // that have a source
  std::vector<ProgramSource> sources;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (!IsLaunch(*steps[i])) {
      prepared.push_back(PrepareOther(*steps[i], store));
      continue;
    }
    auto source = ProgramOf(*steps[i], identity_);
    if (!source.ok()) {
      prepared.push_back(source.status());
      continue;
    }
    prepared.push_back(nullptr);
    launches.push_back(i);
    sources.push_back(*std::move(source));
  }
  const std::vector<ProgramSet::Built> programs = programs_.Get(sources, store);
  GuardedContents guards;
  for (size_t k = 0; k < launches.size(); ++k) {
    auto& step = prepared[launches[k]];
    if (!programs[k].ok()) {
      step = programs[k].status();
      continue;
    }
    step = PrepareLaunch(*steps[launches[k]], *programs[k], store, &guards);
    if (step.ok()) {
      TellOfUse(*programs[k], sources[k], store);
    } else {
      step = step.status().WithContext(sources[k].name);
    }
  }
  return prepared;
}

Result<std::unique_ptr<PreparedStep>> OpenClDevice::PrepareOther(
    const ir::Action& action, BinaryStore& store) {
  if (std::holds_alternative<ir::Copy>(action)) return nullptr;
  const auto* gemm = std::get_if<ir::Gemm>(&action);
  if (gemm == nullptr) {
    return Unimplemented("'", ToString(action), "' on an OpenCL device");
  }
  UseClblast(store);
  return GemmStep::Create(*gemm);
}

Result<std::unique_ptr<PreparedStep>> OpenClDevice::PrepareLaunch(
    const ir::Action& action, const cl::Program& program, BinaryStore& store,
    GuardedContents* guards) {
  if (const auto* launch = std::get_if<ir::KernelLaunch>(&action)) {
    return KernelStep::Create(program, id_.device, info_, *launch);
  }
  const auto& users = std::get<ir::UserLaunch>(action);
  return KernelStep::Create(program, id_.device, info_, options_, users,
                            UncountedLocalBytes(program, users, store), guards);
}

int64_t OpenClDevice::UncountedLocalBytes(const cl::Program& program,
                                          const ir::UserLaunch& launch,
                                          BinaryStore& store) {
  int code = CL_SUCCESS;
  const cl::Kernel kernel(program, launch.function.c_str(), &code);
  if (code != CL_SUCCESS ||
      kernel.getWorkGroupInfo<CL_KERNEL_LOCAL_MEM_SIZE>(id_.device) > 0) {
    return 0;
  }
  ir::UserLaunch probe = launch;
  probe.text = LocalProbeText(launch);
  if (probe.text.empty()) return 0;
  const Result<int64_t> bytes = [&]() -> Result<int64_t> {
    const ProgramSource source = SourceOf(probe, identity_);
    TIM_ASSIGN_OR_RETURN(const cl::Program probes,
                         programs_.Get(source, store));
    TellOfUse(probes, source, store);
    return ProbedLocalBytes(probes, id_.device);
  }();
  if (bytes.ok()) return *bytes;
  TIM_LOG(kInfo, launch.name,
          ": its __local memory is not known: ", bytes.status().message());
  return 0;
}

Result<std::unique_ptr<PreparedStep>> OpenClDevice::PrepareChain(
    std::span<const ChainLink> links, BinaryStore& store) {
  TIM_RETURN_IF_ERROR(CheckUsable());
  if (!info_.chains) return Unimplemented(info_.name, " chains no steps");
  std::vector<const ir::KernelLaunch*> launches;
  for (const ChainLink& link : links) {
    launches.push_back(std::get_if<ir::KernelLaunch>(link.action));
    if (launches.back() == nullptr) {
      return Unimplemented("'", ToString(*link.action), "' in a chain");
    }
    TIM_RETURN_IF_ERROR(kernels::CheckChainable(*launches.back()));
  }
  TIM_ASSIGN_OR_RETURN(const ChainSource source,
                       ChainSourceOf(launches, ChainPointers(links)));
  const ProgramSource text = SourceOfChain(source.text, identity_);
  TIM_ASSIGN_OR_RETURN(const cl::Program program, programs_.Get(text, store));
  auto step = ChainStep::Create(context_, program, info_, source, links);
  if (step.ok()) TellOfUse(program, text, store);
  return step;
}

using Facts = std::vector<OpenClDeviceFacts>;

// Of the first enumeration, null before it: forked processes cannot ask.
constinit std::atomic<const Facts*> g_facts = nullptr;

Result<std::vector<OpenClDeviceId>> Enumerate() {
  TIM_ASSIGN_OR_RETURN(std::vector<OpenClDeviceId> found,
                       EnumerateOpenClDevices());
  if (g_facts != nullptr) return found;
  auto facts = std::make_unique<Facts>();
  for (const OpenClDeviceId& id : found) {
    facts->push_back({.name = id.device.getInfo<CL_DEVICE_NAME>(),
                      .cores = CountCores(id.device)});
  }
  const Facts* none = nullptr;
  if (g_facts.compare_exchange_strong(none, facts.get())) facts.release();
  return found;
}

}  // namespace

std::vector<OpenClDeviceFacts> ListOpenClDevices() {
  const auto found = Enumerate();
  if (!found.ok()) TIM_LOG(kDebug, found.status().message());
  const Facts* const facts = g_facts;
  return facts != nullptr ? *facts : Facts();
}

bool IsOpenClAccelerator(int index) {
  const auto found = EnumerateOpenClDevices();
  if (!found.ok() || index < 0 || std::cmp_greater_equal(index, found->size()))
    return false;
  constexpr cl_device_type kKinds =
      CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR;
  return ((*found)[index].device.getInfo<CL_DEVICE_TYPE>() & kKinds) != 0;
}

int CountOpenClDevices() {
  return static_cast<int>(ListOpenClDevices().size());
}

Result<std::shared_ptr<Device>> CreateOpenClDevice(int index,
                                                   const DeviceOptions& options,
                                                   CoreRange cores) {
  TIM_ASSIGN_OR_RETURN(const std::vector<OpenClDeviceId> found, Enumerate());
  if (index < 0 || index >= static_cast<int>(found.size())) {
    return InvalidArgument("OpenCL device ", index, ": this machine has ",
                           found.size(), ", numbered from 0");
  }
  OpenClDeviceId id = found[index];
  if (cores != CoreRange()) {
    const int all = CountCores(id.device);
    if (cores.first < 0 || cores.count < 1 || cores.first >= all ||
        cores.count > all - cores.first) {
      return InvalidArgument("cores ", cores.first, " to ",
                             int64_t{cores.first} + cores.count - 1,
                             " of OpenCL device ", index, ", which has ", all,
                             ", numbered from 0");
    }
    TIM_ASSIGN_OR_RETURN(id, CoresOf(id, cores.first, cores.count));
  }
  int code = CL_SUCCESS;
  cl::Context context(id.device, nullptr, nullptr, nullptr, &code);
  TIM_RETURN_IF_CL_ERROR(code, "an OpenCL context on ",
                         id.device.getInfo<CL_DEVICE_NAME>());
  return std::shared_ptr<Device>(std::make_shared<OpenClDevice>(
      std::move(id), std::move(context), options));
}

std::shared_ptr<Device> MakeOpenClDevice(OpenClDeviceId id, cl::Context context,
                                         DeviceOptions options) {
  options.standby = {};
  return std::make_shared<OpenClDevice>(std::move(id), std::move(context),
                                        options);
}

Result<std::shared_ptr<Device>> CreateOpenClDevice(
    void* device, void* context, const DeviceOptions& options) {
  TIM_RETURN_IF_ERROR(EnterOpenClProcess());
  if (device == nullptr) return InvalidArgument("the cl_device_id is null");
  if (context == nullptr) return InvalidArgument("the cl_context is null");
  cl::Context own(static_cast<cl_context>(context), true);
  int code = CL_SUCCESS;
  const auto devices = own.getInfo<CL_CONTEXT_DEVICES>(&code);
  TIM_RETURN_IF_CL_ERROR(code, "asking a cl_context for its devices");
  // Other handles may be none of a device: nothing is asked of them.
  const auto known =
      std::find_if(devices.begin(), devices.end(),
                   [device](const cl::Device& one) { return one() == device; });
  if (known == devices.end()) {
    return InvalidArgument("the cl_device_id is none of the ", devices.size(),
                           " devices of the cl_context");
  }
  const cl::Platform platform(known->getInfo<CL_DEVICE_PLATFORM>());
  return MakeOpenClDevice(OpenClDeviceId{platform, *known}, std::move(own),
                          options);
}

Result<std::string> OpenClIdentity(void* device) {
  TIM_RETURN_IF_ERROR(EnterOpenClProcess());
  if (device == nullptr) return InvalidArgument("the cl_device_id is null");
  const cl::Device id(static_cast<cl_device_id>(device), true);
  int code = CL_SUCCESS;
  const std::string name = id.getInfo<CL_DEVICE_NAME>(&code);
  TIM_RETURN_IF_CL_ERROR(code, "asking a cl_device_id for its name");
  const cl::Platform platform(id.getInfo<CL_DEVICE_PLATFORM>());
  return StrCat(name, "|", id.getInfo<CL_DRIVER_VERSION>(), "|",
                platform.getInfo<CL_PLATFORM_VERSION>());
}

}  // namespace tim::device
