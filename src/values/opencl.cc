// Takes memory objects of OpenCL as values, and shows values as such.
#include "tim/values/opencl.h"

#include <limits>
#include <string>
#include <utility>

#include "base/guarded.h"
#include "base/options.h"
#include "device/opencl/interop/client_memory.h"
#include "device/opencl/interop/client_queue.h"
#include "device/opencl/opencl_interop.h"
#include "values/access.h"
#include "values/failure.h"
#include "values/opencl_memory.h"

namespace tim::values {
namespace internal {
namespace {

using Events = std::vector<std::unique_ptr<device::Event>>;

Result<Events> EventsOf(device::Device& device,
                        std::span<void* const> handles) {
  Events events;
  for (void* const handle : handles) {
    TIM_ASSIGN_OR_RETURN(events.emplace_back(),
                         device::EventOf(device, handle));
  }
  return events;
}

Status AwaitAll(const Events& events, device::Stream& stream) {
  for (const auto& event : events) {
    TIM_RETURN_IF_ERROR(stream.WaitFor(*event));
  }
  return OkStatus();
}

// The memory itself.
Result<std::shared_ptr<runtime::SharedMemory>> Borrow(
    const DeviceState& device, device::ClientMemory client,
    const Events& events, std::shared_ptr<Lent> lent) {
  auto made = std::make_shared<runtime::SharedMemory>(
      device.runner().stream(), std::move(client.buffer), std::move(lent));
  if (events.empty()) return made;
  TIM_ASSIGN_OR_RETURN(const uint64_t ticket,
                       device.stream().Enqueue([&](device::Stream& stream) {
                         return AwaitAll(events, stream);
                       }));
  made->set_completion({.stream = device.runner().stream(), .ticket = ticket});
  return made;
}

// A copy, of memory that begins where the device does not want it.
Result<std::shared_ptr<runtime::SharedMemory>> Copy(
    const DeviceState& device, device::ClientMemory client,
    const Events& events, std::shared_ptr<Lent> lent) {
  struct Source {
    std::shared_ptr<Lent> lent;
    device::ClientMemory memory;
  };
  const auto source =
      std::make_shared<Source>(Source{std::move(lent), std::move(client)});
  const int64_t bytes = source->memory.bytes;
  TIM_ASSIGN_OR_RETURN(auto made, device.stream().Allocate(bytes));
  const device::BufferRange to = {made->range().buffer, made->range().offset,
                                  bytes};
  const auto ticket = device.stream().Enqueue([&](device::Stream& stream) {
    TIM_RETURN_IF_ERROR(AwaitAll(events, stream));
    return stream.Copy(
        {source->memory.buffer.get(), source->memory.offset, bytes}, to);
  });
  device.stream().Keep(source);
  if (!ticket.ok()) return ticket.status();
  made->set_completion({.stream = device.runner().stream(), .ticket = *ticket});
  return made;
}

Result<Value> FromClient(const std::shared_ptr<DeviceState>& device,
                         const Spec& spec, void* memory, size_t offset,
                         const std::vector<cl_event>& after,
                         std::function<void()> release) {
  TIM_RETURN_IF_ERROR(device->status());
  TIM_ASSIGN_OR_RETURN(const TensorSpec known, ToTensorSpec(spec));
  if (offset > static_cast<size_t>(std::numeric_limits<int64_t>::max())) {
    return InvalidArgument("offset ", offset,
                           " is behind the end of every cl_mem");
  }
  const std::vector<void*> events(after.begin(), after.end());
  const auto lent = std::make_shared<Lent>(std::move(release));
  TIM_ASSIGN_OR_RETURN(
      auto made, ValueOn(*device, known, memory, static_cast<int64_t>(offset),
                         events, lent));
  lent->Take();
  return MakeValue(std::move(made));
}

Result<OpenClMemory> ToClient(const ValueState& state) {
  TIM_RETURN_IF_ERROR(state.Force());
  TIM_ASSIGN_OR_RETURN(const int64_t bytes, BytesOf(state.spec().desc));
  TIM_ASSIGN_OR_RETURN(const Place place, state.DenseHome());
  TIM_ASSIGN_OR_RETURN(const MemoryPart part, PartOf(place, bytes));
  TIM_RETURN_IF_ERROR(place.memory->completion().Wait());
  return OpenClMemory{.memory = static_cast<cl_mem>(part.memory),
                      .offset = static_cast<size_t>(part.offset),
                      .bytes = static_cast<size_t>(part.bytes),
                      .keeper = place.memory};
}

void* HandleOf(const Device& device, const char* name) {
  const auto& state = Access::StateOf(device);
  return state->status().ok() ? state->device().NativeHandle(name) : nullptr;
}

}  // namespace

Lent::~Lent() {
  if (!taken_ || !give_back_) return;
  // Nobody is there to be told.
  static_cast<void>(GuardedCall([&] {
    give_back_();
    return OkStatus();
  }));
}

bool IsOpenCl(const DeviceState& device) {
  return device.status().ok() &&
         device.device().NativeHandle("cl_context") != nullptr;
}

Result<std::shared_ptr<ValueState>> ValueOn(const DeviceState& device,
                                            const TensorSpec& spec,
                                            void* memory, int64_t offset,
                                            std::span<void* const> after,
                                            std::shared_ptr<Lent> lent) {
  if (!IsOpenCl(device)) {
    return InvalidArgument("device ", device.spec(),
                           " is no OpenCL device; a cl_mem is of one");
  }
  TIM_ASSIGN_OR_RETURN(const int64_t bytes, BytesOf(spec.desc));
  auto client = device::WrapMemObject(device.device(), memory, offset, bytes);
  if (!client.ok()) {
    return client.status().WithContext(
        StrCat("a value of ", TextOf(spec.desc, spec.is_scalar)));
  }
  TIM_ASSIGN_OR_RETURN(const Events events, EventsOf(device.device(), after));
  const bool begins_right = client->offset == 0;
  TIM_ASSIGN_OR_RETURN(
      auto made,
      begins_right ? Borrow(device, *std::move(client), events, std::move(lent))
                   : Copy(device, *std::move(client), events, std::move(lent)));
  return ValueState::Placed(spec, {std::move(made), ir::Layout::Dense()});
}

Result<MemoryPart> PartOf(const Place& place, int64_t bytes) {
  const auto part = place.memory != nullptr
                        ? device::MemObjectOf(place.memory->range())
                        : device::MemObjectPart();
  if (part.memory != nullptr)
    return MemoryPart{part.memory, part.offset, bytes};
  const auto device = place.memory != nullptr
                          ? DeviceState::Of(*place.memory->stream())
                          : nullptr;
  return InvalidArgument(
      "the value is on ", device != nullptr ? device->spec() : "host",
      ", not on an OpenCL device; Device(\"opencl:0\").Move(value) brings it "
      "to one");
}

}  // namespace internal

Device OpenClDevice(cl_device_id device, cl_context context) {
  return internal::Access::MakeDevice(
      internal::DeviceState::InContext(device, context));
}

cl_device_id OpenClDeviceId(const Device& device) {
  return static_cast<cl_device_id>(internal::HandleOf(device, "cl_device_id"));
}

cl_context OpenClContext(const Device& device) {
  return static_cast<cl_context>(internal::HandleOf(device, "cl_context"));
}

Value FromOpenCl(const Device& device, const Spec& spec, cl_mem memory,
                 size_t offset, const std::vector<cl_event>& after,
                 std::function<void()> release) {
  auto made = GuardedCall([&] {
    return internal::FromClient(internal::Access::StateOf(device), spec, memory,
                                offset, after, std::move(release));
  });
  return made.ok() ? *std::move(made) : internal::FailedValue(made.status());
}

OpenClMemory ToOpenCl(const Value& value) {
  const auto state = internal::StateOf(value);
  auto made = GuardedCall([&] { return internal::ToClient(*state); });
  if (made.ok()) return *std::move(made);
  internal::Fail(made.status());
  return {};
}

}  // namespace tim::values
