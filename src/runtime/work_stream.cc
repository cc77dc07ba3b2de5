// Knows how far a device has come with the work that callers gave it, and gives
// memory back behind that work.
#include "runtime/work_stream.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "device/device_pools.h"
#include "device/host/host_buffer.h"

namespace tim::runtime {
namespace {

using device::BufferRange;

constexpr size_t kMostFailures = 64;
constexpr size_t kMostFences = 32;

bool CanImport(const device::Device& device, const void* data) {
  return device.info().unified_memory &&
         reinterpret_cast<uintptr_t>(data) % device::kHostAlignment == 0;
}

}  // namespace

Status Completion::Wait() const {
  if (run != nullptr) return run->Wait();
  return stream != nullptr ? stream->Wait(ticket) : OkStatus();
}

bool Completion::Ready() const {
  if (run != nullptr) return run->Ready();
  return stream == nullptr || stream->Ready(ticket);
}

SharedMemory::SharedMemory(std::shared_ptr<WorkStream> stream,
                           device::PoolRange range)
    : stream_(std::move(stream)), pooled_(std::move(range)) {
  range_ = {&pooled_.buffer(), 0, pooled_.buffer().bytes()};
}

SharedMemory::SharedMemory(std::shared_ptr<WorkStream> stream,
                           std::unique_ptr<device::Buffer> buffer,
                           std::shared_ptr<const void> keeper)
    : stream_(std::move(stream)),
      imported_(std::move(buffer)),
      keeper_(std::move(keeper)) {
  range_ = {imported_.get(), 0, imported_->bytes()};
}

SharedMemory::~SharedMemory() {
  if (pooled_) stream_->Release(std::move(pooled_));
  if (imported_ == nullptr || stream_->is_host()) return;
  // The buffer goes before what it is on.
  struct Import {
    std::shared_ptr<const void> keeper;
    std::unique_ptr<device::Buffer> buffer;
  };
  stream_->Keep(std::make_shared<Import>(
      Import{std::move(keeper_), std::move(imported_)}));
}

void* SharedMemory::host_address() const {
  void* const address = range_.buffer->host_address();
  if (address == nullptr) return nullptr;
  return static_cast<std::byte*>(address) + range_.offset;
}

Result<std::shared_ptr<WorkStream>> WorkStream::Create(
    std::shared_ptr<device::Device> device) {
  auto made = std::make_shared<WorkStream>(std::move(device));
  TIM_ASSIGN_OR_RETURN(made->stream_, made->device_->CreateStream());
  return made;
}

Result<std::shared_ptr<SharedMemory>> WorkStream::Allocate(int64_t bytes) {
  auto& pool = device_->pools().Of(ir::MemoryKind::kDevice);
  TIM_ASSIGN_OR_RETURN(device::PoolRange range,
                       pool.Allocate(bytes, stream_.get()));
  return std::make_shared<SharedMemory>(shared_from_this(), std::move(range));
}

Result<std::shared_ptr<SharedMemory>> WorkStream::AllocateForOthers(
    int64_t bytes) {
  auto& pool = device_->pools().Of(ir::MemoryKind::kDevice);
  TIM_ASSIGN_OR_RETURN(device::PoolRange range, pool.Allocate(bytes, nullptr));
  return std::make_shared<SharedMemory>(shared_from_this(), std::move(range));
}

Result<std::shared_ptr<SharedMemory>> WorkStream::FromHost(
    const void* data, int64_t bytes, std::shared_ptr<const void> keeper) {
  // Neither copies nor work on imported memory write to it.
  void* const memory = const_cast<void*>(data);
  if (is_host()) {
    return std::make_shared<SharedMemory>(
        shared_from_this(),
        std::make_unique<device::ExternalBuffer>(memory, bytes),
        std::move(keeper));
  }
  std::shared_ptr<SharedMemory> made;
  uint64_t ticket = 0;
  if (CanImport(*device_, data)) {
    TIM_ASSIGN_OR_RETURN(auto buffer, device_->Import(memory, bytes));
    device::Buffer& imported = *buffer;
    made = std::make_shared<SharedMemory>(shared_from_this(), std::move(buffer),
                                          std::move(keeper));
    TIM_ASSIGN_OR_RETURN(ticket, Enqueue([&](device::Stream& stream) {
                           return stream.SynchronizeToDevice(imported);
                         }));
  } else {
    TIM_ASSIGN_OR_RETURN(made, Allocate(bytes));
    struct Source {
      std::shared_ptr<const void> keeper;
      device::ExternalBuffer buffer;
    };
    const auto source = std::make_shared<Source>(
        Source{std::move(keeper), device::ExternalBuffer(memory, bytes)});
    const auto copied = Enqueue([&](device::Stream& stream) {
      return stream.Copy({&source->buffer, 0, bytes}, made->range());
    });
    Keep(source);
    TIM_ASSIGN_OR_RETURN(ticket, copied);
  }
  made->set_completion({.stream = shared_from_this(), .ticket = ticket});
  return made;
}

Result<std::shared_ptr<SharedMemory>> WorkStream::ToHost(
    const SharedMemory& memory, WorkStream& host) {
  TIM_RETURN_IF_ERROR(memory.completion().Wait());
  const int64_t bytes = memory.range().bytes;
  TIM_ASSIGN_OR_RETURN(auto made, host.Allocate(bytes));
  if (memory.host_address() != nullptr) {
    std::memcpy(made->host_address(), memory.host_address(),
                static_cast<size_t>(bytes));
    return made;
  }
  TIM_ASSIGN_OR_RETURN(const uint64_t ticket,
                       Enqueue([&](device::Stream& stream) {
                         return stream.Copy(memory.range(), made->range());
                       }));
  TIM_RETURN_IF_ERROR(Wait(ticket));
  return made;
}

Result<uint64_t> WorkStream::Enqueue(const Work& work) {
  Graves graves;
  const std::lock_guard lock(mutex_);
  if (!lost_.ok()) return lost_;
  if (fences_.size() > kMostFences) PassReady();
  graves = TakeGraves();
  const uint64_t ticket = ++last_;
  const Status status = work(*stream_);
  if (status.ok()) return ticket;
  if (status.code() == StatusCode::kDeviceLost) SetLost(status);
  // Streams may tell it once more, as if it were a failure of other work.
  auto event = stream_->Record();
  if (!event.ok()) return status;
  const Status told = (*event)->Wait();
  if (!told.ok() && told.message() != status.message()) {
    AddFailure(fenced_ + 1, ticket - 1, told);
  }
  AddFailure(ticket, ticket, status);
  Pass(fenced_);
  fenced_ = done_ = ticket;
  return status;
}

void WorkStream::SetLost(const Status& status) {
  lost_ = status;
  is_lost_ = true;
}

Status WorkStream::RecordFence() {
  if (fenced_ == last_) return OkStatus();
  auto event = stream_->Record();
  if (!event.ok()) {
    AddFailure(fenced_ + 1, last_, event.status());
    fenced_ = last_;
    if (fences_.empty()) done_ = last_;
    return event.status();
  }
  fences_.push_back({last_, *std::move(event)});
  fenced_ = last_;
  return OkStatus();
}

void WorkStream::Pass(uint64_t ticket) {
  while (!fences_.empty() && fences_.front().ticket <= ticket) {
    const Fence fence = std::move(fences_.front());
    fences_.pop_front();
    const Status status = fence.event->Wait();
    if (!status.ok()) AddFailure(done_ + 1, fence.ticket, status);
    done_ = std::max(done_, fence.ticket);
  }
}

void WorkStream::PassReady() {
  while (!fences_.empty() && fences_.front().event->Ready()) {
    Pass(fences_.front().ticket);
  }
}

void WorkStream::AddFailure(uint64_t first, uint64_t last,
                            const Status& status) {
  if (first > last) return;
  if (status.code() == StatusCode::kDeviceLost) SetLost(status);
  failures_.push_back({first, last, status});
  if (failures_.size() > kMostFailures) failures_.pop_front();
}

Status WorkStream::FailureOf(uint64_t ticket) const {
  for (const Failure& failure : failures_) {
    if (failure.first <= ticket && ticket <= failure.last) {
      return failure.status;
    }
  }
  return OkStatus();
}

WorkStream::Graves WorkStream::TakeGraves() {
  Graves graves;
  while (!kept_.empty() && kept_.front().ticket <= done_) {
    graves.push_back(std::move(kept_.front().object));
    kept_.pop_front();
  }
  return graves;
}

Status WorkStream::Wait(uint64_t ticket) {
  Graves graves;
  std::unique_lock lock(mutex_);
  while (done_ < ticket) {
    if (fenced_ < ticket && !RecordFence().ok()) break;
    auto fence = fences_.begin();
    while (fence != fences_.end() && fence->ticket < ticket) ++fence;
    if (fence == fences_.end()) break;
    const Fence reached = *fence;
    lock.unlock();
    static_cast<void>(reached.event->Wait());  // asked again by Pass()
    lock.lock();
    Pass(reached.ticket);
  }
  graves = TakeGraves();
  return FailureOf(ticket);
}

bool WorkStream::Ready(uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  if (done_ >= ticket) return true;
  if (fenced_ < ticket && !RecordFence().ok()) return true;
  PassReady();
  return done_ >= ticket;
}

void WorkStream::Keep(std::shared_ptr<const void> kept) {
  Graves graves;
  const std::lock_guard lock(mutex_);
  kept_.push_back({last_, std::move(kept)});
  static_cast<void>(RecordFence());
  PassReady();
  graves = TakeGraves();
}

// The pool's own fence would take what the stream has to tell of failures.
void WorkStream::Release(device::PoolRange range) {
  if (is_host()) return;  // its work is done: as free as it was
  const std::lock_guard lock(mutex_);
  static_cast<void>(RecordFence());
  range.Release(stream_.get());
  if (fences_.size() > kMostFences) PassReady();
}

Status WorkStream::Drain() {
  uint64_t ticket = 0;
  {
    const std::lock_guard lock(mutex_);
    ticket = last_;
  }
  return Wait(ticket);
}

}  // namespace tim::runtime
