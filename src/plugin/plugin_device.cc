// Memory, streams and steps of a plug-in's device.
#include "plugin/plugin_device.h"

#include <algorithm>
#include <utility>

#include "base/fork/per_process.h"
#include "base/parallel_for.h"
#include "plugin/descs.h"
#include "plugin/plugin_stream.h"

namespace tim::plugin {
namespace {

struct OpenDevices {
  std::mutex mutex;
  std::map<TimDevice*, std::weak_ptr<PluginDevice>> devices;
};

constinit GlobalPerProcess<OpenDevices> g_open;

}  // namespace

Result<Described> Describe(const LoadedPlugin& plugin, uint32_t number) {
  Described described;
  TimDeviceProps& props = described.props;
  props.struct_size = TIM_SIZE_THROUGH(TimDeviceProps, domain);
  std::string told;
  const Status status =
      plugin.CallTold(&told, "TimPlugin::describe",
                      plugin.tables().plugin.describe, number, &props);
  if (!status.ok() || props.score <= 0) {
    if (status.code() == StatusCode::kInternal) return status;
    props.score = 0;
    described.reason =
        !status.ok() ? status.message()
        : told.empty()
            ? StrCat("plug-in ", plugin.kind(), " calls it not usable")
            : StrCat("plug-in ", plugin.kind(), ": ", told);
    return described;
  }
  const Status sound = CheckProps(props);
  if (sound.ok()) return described;
  return plugin.Broke(
      StrCat("TimPlugin::describe(", number, "): ", sound.message()));
}

Result<std::shared_ptr<PluginDevice>> PluginDevice::Open(
    std::shared_ptr<const LoadedPlugin> plugin, uint32_t number,
    int64_t pool_bytes) {
  TIM_RETURN_IF_ERROR(plugin->CheckUsable());
  TIM_ASSIGN_OR_RETURN(Described described, Describe(*plugin, number));
  if (described.props.score == 0) {
    return FailedPrecondition("device ", plugin->kind(), ":", number,
                              " is not usable: ", described.reason);
  }
  TimDevice* handle = nullptr;
  TIM_RETURN_IF_ERROR(plugin->Call(
      "TimPlugin::open", plugin->tables().plugin.open, number, &handle));
  if (handle == nullptr) {
    return plugin->Broke("TimPlugin::open() succeeded without a device");
  }
  const std::shared_ptr<PluginDevice> device(new PluginDevice(
      std::move(plugin), handle, std::move(described), pool_bytes));
  OpenDevices& open = g_open.Get();
  const std::lock_guard lock(open.mutex);
  open.devices[handle] = device;
  return device;
}

PluginDevice::PluginDevice(std::shared_ptr<const LoadedPlugin> plugin,
                           TimDevice* handle, Described described,
                           int64_t pool_bytes)
    : plugin_(std::move(plugin)),
      handle_(handle),
      props_(described.props),
      info_(
          InfoOf(props_, plugin_->kind(), functions().import_host != nullptr)),
      programs_(*this),
      pools_(*this, pool_bytes) {}

PluginDevice::~PluginDevice() {
  {
    OpenDevices& open = g_open.Get();
    const std::lock_guard lock(open.mutex);
    open.devices.erase(handle_);
  }
  if (stuck_) return;
  programs_.Drop();
  ranges_.clear();
  pools_.Trim(0);
  const auto lock = Serialize();
  plugin_->Tell("TimPlugin::close", plugin_->tables().plugin.close, handle_);
}

std::shared_ptr<PluginDevice> FindDevice(TimDevice* handle) {
  OpenDevices& open = g_open.Get();
  const std::lock_guard lock(open.mutex);
  const auto found = open.devices.find(handle);
  return found == open.devices.end() ? nullptr : found->second.lock();
}

std::unique_lock<std::recursive_mutex> PluginDevice::Serialize() {
  return thread_safe() ? std::unique_lock<std::recursive_mutex>()
                       : std::unique_lock(serial_);
}

const void* PluginDevice::domain() const {
  return props_.domain == 0 ? this : plugin_->DomainOf(props_.domain);
}

bool PluginDevice::CanCopyFrom(const Device& other) const {
  if (domain() == other.domain()) return true;
  const auto* peer = dynamic_cast<const PluginDevice*>(&other);
  return peer != nullptr && peer->plugin_ == plugin_ &&
         functions().copy_peer != nullptr;
}

Status PluginDevice::CopyFrom(PluginDevice& peer, TimRange from,
                              TimStream* stream, TimRange to) {
  TIM_RETURN_IF_ERROR(CheckUsable());
  TIM_RETURN_IF_ERROR(peer.CheckUsable());
  std::unique_lock own(serial_, std::defer_lock);
  std::unique_lock others(peer.serial_, std::defer_lock);
  if (!thread_safe() || !peer.thread_safe()) std::lock(own, others);
  return plugin_->Call("TimDeviceFns::copy_peer", functions().copy_peer,
                       peer.handle_, from, handle_, stream, to);
}

Status PluginDevice::CheckUsable() const {
  if (!lost_) return OkStatus();
  return DeviceLost(info_.name,
                    stuck_ ? " did not end its work in time" : " was lost");
}

Status PluginDevice::GetStuck() {
  stuck_ = true;
  lost_ = true;
  return DeviceLost(info_.name, " of plug-in ", plugin_->kind(),
                    " did not end its work within the ",
                    plugin_->timeout.count(),
                    " seconds of TIMCL_PLUGIN_TIMEOUT");
}

Result<std::unique_ptr<device::Buffer>> PluginDevice::Allocate(
    int64_t bytes, ir::MemoryKind kind) {
  const bool for_host = kind == ir::MemoryKind::kHost;
  if (for_host && functions().host_address == nullptr) {
    return Unimplemented(info_.name, " has no memory that the host reaches");
  }
  if (bytes < 0 || bytes > info_.max_allocation_bytes) {
    return OutOfMemory("a buffer of ", bytes, " bytes exceeds the ",
                       info_.max_allocation_bytes, " of ", info_.name);
  }
  TimBuffer* handle = nullptr;
  const auto allocate = [&] {
    return Call("TimDeviceFns::allocate", functions().allocate,
                static_cast<uint64_t>(bytes), static_cast<int32_t>(kind),
                &handle);
  };
  Status allocated = allocate();
  if (allocated.code() == StatusCode::kOutOfMemory &&
      functions().trim != nullptr &&
      Call("TimDeviceFns::trim", functions().trim).ok()) {
    allocated = allocate();
  }
  TIM_RETURN_IF_ERROR(allocated);
  if (handle == nullptr) {
    return plugin_->Broke(
        "TimDeviceFns::allocate() succeeded without a buffer");
  }
  void* address = nullptr;
  if (for_host) {
    const auto lock = Serialize();
    address =
        plugin_->CallFor<void*>(nullptr, "TimDeviceFns::host_address",
                                functions().host_address, handle_, handle);
  }
  auto buffer = std::make_unique<PluginBuffer>(*this, handle, bytes, address);
  if (for_host && address == nullptr && bytes > 0) {
    return Unimplemented(info_.name, " has no address for memory of the host");
  }
  return std::unique_ptr<device::Buffer>(std::move(buffer));
}

Result<std::unique_ptr<device::Buffer>> PluginDevice::Import(void* memory,
                                                             int64_t bytes) {
  if (!info_.unified_memory) {
    return Unimplemented(info_.name, " does not import host memory");
  }
  TimBuffer* handle = nullptr;
  TIM_RETURN_IF_ERROR(Call("TimDeviceFns::import_host", functions().import_host,
                           memory, static_cast<uint64_t>(bytes), &handle));
  if (handle == nullptr) {
    return plugin_->Broke(
        "TimDeviceFns::import_host() succeeded without a buffer");
  }
  return std::unique_ptr<device::Buffer>(
      std::make_unique<PluginBuffer>(*this, handle, bytes, memory));
}

Result<std::unique_ptr<device::Stream>> PluginDevice::CreateStream() {
  TIM_RETURN_IF_ERROR(CheckUsable());
  return has_streams() ? CreateNativeStream(*this) : CreateWorkerStream(*this);
}

Result<std::unique_ptr<device::PreparedStep>> PluginDevice::PrepareOne(
    const ir::Action& action, device::BinaryStore& store) {
  if (std::holds_alternative<ir::Copy>(action)) return nullptr;
  const PluginTables& tables = plugin_->tables();
  const auto* kernel = std::get_if<ir::DeviceCall>(&action);
  if (kernel != nullptr && tables.kernels.build != nullptr) {
    TIM_ASSIGN_OR_RETURN(TimProgram * program,
                         programs_.OfKernel(*kernel, store));
    return PluginStep::Create(*this, program, /*of_graph=*/false, 0, 0);
  }
  const auto* part = std::get_if<ir::GraphCall>(&action);
  if (part != nullptr && tables.graphs.compile != nullptr) {
    TIM_ASSIGN_OR_RETURN(TimProgram * program, programs_.OfGraph(*part, store));
    return PluginStep::Create(*this, program, /*of_graph=*/true,
                              part->part->inputs().size(),
                              part->part->outputs().size());
  }
  return Unimplemented(info_.name, " cannot run '", ToString(action), "'");
}

device::PreparedSteps PluginDevice::PrepareEach(
    std::span<const ir::Action* const> steps, const ir::OpRegistry&,
    device::BinaryStore& store) {
  device::PreparedSteps prepared;
  for (size_t i = 0; i < steps.size(); ++i) {
    prepared.emplace_back(std::unique_ptr<device::PreparedStep>());
  }
  const auto prepare = [&](size_t i) {
    prepared[i] = PrepareOne(*steps[i], store);
    return OkStatus();
  };
  const size_t together = thread_safe() ? steps.size() : 0;
  Status status = together > 1 ? ParallelFor(together, prepare) : OkStatus();
  for (size_t i = 0; i < steps.size() && together <= 1; ++i) {
    status = prepare(i);
  }
  if (status.ok()) return prepared;
  for (auto& step : prepared) step = status;
  return prepared;
}

void* PluginDevice::NativeHandle(std::string_view name) const {
  if (functions().native_handle == nullptr) return nullptr;
  const std::string text(name);
  return plugin_->CallFor<void*>(nullptr, "TimDeviceFns::native_handle",
                                 functions().native_handle, handle_,
                                 text.c_str());
}

Status PluginDevice::PoolAllocate(uint64_t bytes, TimRange* out) {
  if (out == nullptr ||
      bytes > static_cast<uint64_t>(info_.max_allocation_bytes)) {
    return OutOfMemory("a workspace of ", bytes, " bytes exceeds the ",
                       info_.max_allocation_bytes, " of ", info_.name);
  }
  TIM_ASSIGN_OR_RETURN(
      device::PoolRange range,
      pools_.Of(ir::MemoryKind::kDevice)
          .Allocate(static_cast<int64_t>(bytes), /*stream=*/nullptr));
  const device::BufferRange place = range.place();
  *out = static_cast<PluginBuffer*>(place.buffer)
             ->RangeOf(place.offset, place.bytes);
  const std::lock_guard lock(ranges_mutex_);
  ranges_[{out->buffer, out->offset}] = std::move(range);
  return OkStatus();
}

void PluginDevice::PoolRelease(const TimRange& range, TimStream* last_user) {
  device::PoolRange released;
  device::Stream* stream = nullptr;
  {
    const std::lock_guard lock(ranges_mutex_);
    const auto found = ranges_.find({range.buffer, range.offset});
    if (found == ranges_.end()) return;
    released = std::move(found->second);
    ranges_.erase(found);
    const auto user = streams_.find(last_user);
    if (user != streams_.end()) stream = user->second;
  }
  released.Release(stream);
}

void PluginDevice::AddStream(TimStream* handle, device::Stream* stream) {
  const std::lock_guard lock(ranges_mutex_);
  streams_[handle] = stream;
}

void PluginDevice::RemoveStream(TimStream* handle) {
  const std::lock_guard lock(ranges_mutex_);
  streams_.erase(handle);
}

PluginBuffer::~PluginBuffer() {
  if (is_view_) return;
  device_.Tell("TimDeviceFns::release", device_.functions().release, handle_);
}

Result<std::unique_ptr<device::Buffer>> PluginBuffer::View(int64_t offset,
                                                           int64_t bytes) {
  auto* const address = static_cast<std::byte*>(address_);
  auto view = std::make_unique<PluginBuffer>(
      device_, handle_, bytes, address == nullptr ? nullptr : address + offset);
  view->begin_ = begin_ + offset;
  view->is_view_ = true;
  return std::unique_ptr<device::Buffer>(std::move(view));
}

}  // namespace tim::plugin
