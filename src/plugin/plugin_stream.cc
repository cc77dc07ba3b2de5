// Order of work, events and waits on plug-ins' devices.
#include "plugin/plugin_stream.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "device/host/host_buffer.h"
#include "plugin/native_event.h"

namespace tim::plugin {
namespace {

using device::BufferRange;
using device::HostPointer;

PluginBuffer* Own(const BufferRange& range) {
  return dynamic_cast<PluginBuffer*>(range.buffer);
}

TimRange RangeOf(const BufferRange& range) {
  return Own(range)->RangeOf(range.offset, range.bytes);
}

// The end of what a stream has begun so far.
using Finish = std::function<Status()>;

// Bytes between the last multiple of the device's alignment and the piece; the
// host's memory may begin anywhere.
int64_t BytesBefore(const PluginDevice& device, const BufferRange& range) {
  if (Own(range) == nullptr) return 0;
  return static_cast<int64_t>(RangeOf(range).offset %
                              static_cast<uint64_t>(device.info().alignment));
}

// The piece together with `before` bytes before it.
BufferRange With(int64_t before, const BufferRange& range) {
  return {range.buffer, range.offset - before, range.bytes + before};
}

// The two ranges are of this device, or one of them is the host's, and they
// begin at multiples of its alignment.
Status CopyAligned(PluginDevice& device, TimStream* stream,
                   const BufferRange& source, const BufferRange& destination,
                   const Finish& finish) {
  const TimDeviceFns& fns = device.functions();
  const auto copy_in = [&](const void* host) {
    return device.Call("TimDeviceFns::copy_in", fns.copy_in, stream, host,
                       RangeOf(destination));
  };
  const auto copy_out = [&](void* host) {
    return device.Call("TimDeviceFns::copy_out", fns.copy_out, stream,
                       RangeOf(source), host);
  };
  PluginBuffer* const from = Own(source);
  PluginBuffer* const to = Own(destination);
  if (from == nullptr) {
    return copy_in(static_cast<const void*>(HostPointer(source)));
  }
  if (to == nullptr) {
    return copy_out(static_cast<void*>(HostPointer(destination)));
  }
  if (&from->device() != &device) {
    if (fns.copy_peer != nullptr) {
      return device.CopyFrom(from->device(), RangeOf(source), stream,
                             RangeOf(destination));
    }
  } else if (fns.copy != nullptr) {
    return device.Call("TimDeviceFns::copy", fns.copy, stream, RangeOf(source),
                       RangeOf(destination));
  }
  TIM_ASSIGN_OR_RETURN(const auto staging,
                       device::HostBuffer::Create(source.bytes));
  TIM_RETURN_IF_ERROR(copy_out(staging->host_address()));
  TIM_RETURN_IF_ERROR(finish());
  TIM_RETURN_IF_ERROR(
      copy_in(static_cast<const void*>(staging->host_address())));
  return finish();
}

// A plug-in gets no piece that begins between multiples of its alignment, as a
// trip's slice of a scan does: here such a one is copied through the host's
// memory, together with the bytes before it.
Status CopyAnywhere(PluginDevice& device, TimStream* stream,
                    const BufferRange& source, const BufferRange& destination,
                    const Finish& finish) {
  const auto copy = [&](const BufferRange& from, const BufferRange& to) {
    if (from.bytes == 0) return OkStatus();
    TIM_RETURN_IF_ERROR(CopyAligned(device, stream, from, to, finish));
    return finish();
  };
  const int64_t bytes = source.bytes;
  const int64_t behind = BytesBefore(device, source);
  const int64_t before = BytesBefore(device, destination);
  BufferRange from = source;
  std::unique_ptr<device::Buffer> read;
  if (Own(source) != nullptr) {
    TIM_ASSIGN_OR_RETURN(read, device::HostBuffer::Create(behind + bytes));
    from = {read.get(), 0, behind + bytes};
    TIM_RETURN_IF_ERROR(copy(With(behind, source), from));
    from = {read.get(), behind, bytes};
  }
  const auto move_to = [&](const BufferRange& to) {
    std::memcpy(HostPointer(to), HostPointer(from), static_cast<size_t>(bytes));
  };
  if (Own(destination) == nullptr) {
    move_to(destination);
    return OkStatus();
  }
  TIM_ASSIGN_OR_RETURN(const auto written,
                       device::HostBuffer::Create(before + bytes));
  TIM_RETURN_IF_ERROR(
      copy({destination.buffer, destination.offset - before, before},
           {written.get(), 0, before}));
  move_to({written.get(), before, bytes});
  return copy({written.get(), 0, before + bytes}, With(before, destination));
}

Status DoCopy(PluginDevice& device, TimStream* stream,
              const BufferRange& source, const BufferRange& destination,
              const Finish& finish) {
  const PluginBuffer* const from = Own(source);
  const bool of_peer =
      from != nullptr && from->device().domain() != device.domain();
  if (of_peer || (BytesBefore(device, source) == 0 &&
                  BytesBefore(device, destination) == 0)) {
    return CopyAligned(device, stream, source, destination, finish);
  }
  return CopyAnywhere(device, stream, source, destination, finish);
}

// False where the device has no function for it.
Result<bool> MayFill(PluginDevice& device, const BufferRange& range) {
  const PluginBuffer* const buffer = Own(range);
  if (buffer == nullptr || &buffer->device() != &device) {
    return TIM_INTERNAL(device.info().name, " fills its own memory only");
  }
  return device.functions().fill != nullptr;
}

Status DoFill(PluginDevice& device, TimStream* stream, const BufferRange& range,
              uint8_t byte) {
  return device.Call("TimDeviceFns::fill", device.functions().fill, stream,
                     RangeOf(range), byte);
}

// Fills memory of a device whose calls have finished when they return.
Status FillOrCopy(PluginDevice& device, const BufferRange& range,
                  uint8_t byte) {
  constexpr TimStream* kNoStream = nullptr;
  const Status filled = DoFill(device, kNoStream, range, byte);
  if (filled.code() != StatusCode::kUnimplemented) return filled;
  const std::vector<uint8_t> bytes(static_cast<size_t>(range.bytes), byte);
  return device.Call("TimDeviceFns::copy_in", device.functions().copy_in,
                     kNoStream, static_cast<const void*>(bytes.data()),
                     RangeOf(range));
}

Status CheckCopy(PluginDevice& device, const BufferRange& source,
                 const BufferRange& destination) {
  const PluginBuffer* const from = Own(source);
  const PluginBuffer* const to = Own(destination);
  const bool into = to != nullptr && &to->device() == &device;
  const bool out_of = from != nullptr && &from->device() == &device;
  if (into &&
      (out_of || (from == nullptr ? source.buffer->host_address() != nullptr
                                  : device.CanCopyFrom(from->device())))) {
    return OkStatus();
  }
  if (out_of && to == nullptr &&
      destination.buffer->host_address() != nullptr) {
    return OkStatus();
  }
  return TIM_INTERNAL(device.info().name, " copies its own memory only");
}

Result<PluginStep::Work> WorkOf(PluginDevice& device,
                                device::PreparedStep& step,
                                std::span<const BufferRange> operands) {
  auto* const own = dynamic_cast<PluginStep*>(&step);
  if (own == nullptr || &own->device() != &device) {
    return TIM_INTERNAL("not a step of ", device.info().name);
  }
  std::vector<TimRange> ranges;
  for (const BufferRange& operand : operands) {
    const PluginBuffer* const buffer = Own(operand);
    if (buffer == nullptr || buffer->device().domain() != device.domain()) {
      return TIM_INTERNAL("an operand is not in the memory of ",
                          device.info().name);
    }
    ranges.push_back(RangeOf(operand));
  }
  return own->WorkOn(std::move(ranges));
}

// A moment in the work of a worker.
struct Moment {
  std::mutex mutex;
  std::condition_variable reached;
  bool done = false;
  Status status;
};

class WorkerEvent final : public device::Event {
 public:
  WorkerEvent(std::shared_ptr<PluginDevice> device,
              std::shared_ptr<Moment> moment)
      : device_(std::move(device)), moment_(std::move(moment)) {}

  Status Wait() override {
    std::unique_lock lock(moment_->mutex);
    const auto is_done = [&] { return moment_->done; };
    const std::chrono::seconds limit = device_->plugin().timeout;
    if (limit.count() == 0) {
      moment_->reached.wait(lock, is_done);
    } else if (!moment_->reached.wait_for(lock, limit, is_done)) {
      moment_->done = true;
      moment_->status = device_->GetStuck();
    }
    return moment_->status;
  }
  Status Failure() override { return Wait(); }
  bool Ready() override {
    const std::lock_guard lock(moment_->mutex);
    return moment_->done;
  }
  const std::shared_ptr<Moment>& moment() const { return moment_; }

 private:
  const std::shared_ptr<PluginDevice> device_;
  const std::shared_ptr<Moment> moment_;
};

// Failures of a stream that no event has told of yet.
class StreamErrors {
 public:
  void Keep(Status status) {
    const std::lock_guard lock(mutex_);
    if (first_.ok()) first_ = std::move(status);
  }
  Status Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(first_, OkStatus());
  }

 private:
  std::mutex mutex_;
  Status first_;
};

class WorkerStream final : public device::Stream {
 public:
  explicit WorkerStream(PluginDevice& device)
      : device_(device), errors_(std::make_shared<StreamErrors>()) {}
  ~WorkerStream() override {
    if (device_.stuck() || device_.worker().IsCalling()) return;
    const auto end = Record(nullptr);
    if (end.ok()) static_cast<void>((*end)->Wait());
  }

  Status Enqueue(device::PreparedStep& step,
                 std::span<const BufferRange> operands) override {
    TIM_ASSIGN_OR_RETURN(PluginStep::Work work,
                         WorkOf(device_, step, operands));
    return Post([work = std::move(work)] { return work(nullptr); });
  }

  Status Copy(BufferRange source, BufferRange destination) override {
    TIM_RETURN_IF_ERROR(CheckCopy(device_, source, destination));
    if (source.bytes == 0) return OkStatus();
    return Post([this_device = &device_, source, destination] {
      return DoCopy(*this_device, nullptr, source, destination,
                    [] { return OkStatus(); });
    });
  }

  Result<bool> Fill(BufferRange range, uint8_t byte) override {
    TIM_ASSIGN_OR_RETURN(const bool may_fill, MayFill(device_, range));
    if (!may_fill || range.bytes == 0) return may_fill;
    TIM_RETURN_IF_ERROR(Post([this_device = &device_, range, byte] {
      return FillOrCopy(*this_device, range, byte);
    }));
    return true;
  }

  Result<std::unique_ptr<device::Event>> Record(
      std::unique_ptr<device::Event>) override {
    auto moment = std::make_shared<Moment>();
    const Status posted = device_.worker().Post([moment, errors = errors_] {
      Status status = errors->Take();
      const std::lock_guard lock(moment->mutex);
      if (moment->done) return;  // nobody waits any more
      moment->status = std::move(status);
      moment->done = true;
      moment->reached.notify_all();
    });
    TIM_RETURN_IF_ERROR(posted);
    return std::unique_ptr<device::Event>(std::make_unique<WorkerEvent>(
        device_.shared_from_this(), std::move(moment)));
  }

  Status WaitFor(device::Event& event) override {
    auto* const other = dynamic_cast<WorkerEvent*>(&event);
    if (other == nullptr) return TIM_INTERNAL("an event of another domain");
    return Post([moment = other->moment()] {
      std::unique_lock lock(moment->mutex);
      moment->reached.wait(lock, [&] { return moment->done; });
      return moment->status;
    });
  }

 private:
  // The device is kept: where its work never ends, it must not be destroyed.
  Status Post(std::function<Status()> work) {
    TIM_RETURN_IF_ERROR(device_.CheckUsable());
    return device_.worker().Post(
        [device = device_.shared_from_this(), errors = errors_,
         work = std::move(work)] { errors->Keep(work()); });
  }

  PluginDevice& device_;
  const std::shared_ptr<StreamErrors> errors_;
};

class NativeStream final : public device::Stream {
 public:
  NativeStream(PluginDevice& device, TimStream* handle)
      : device_(device), handle_(handle) {
    device_.AddStream(handle_, this);
  }
  ~NativeStream() override {
    device_.RemoveStream(handle_);
    device_.Tell("TimDeviceFns::destroy_stream",
                 device_.functions().destroy_stream, handle_);
  }

  Status Enqueue(device::PreparedStep& step,
                 std::span<const BufferRange> operands) override {
    TIM_ASSIGN_OR_RETURN(const PluginStep::Work work,
                         WorkOf(device_, step, operands));
    return work(handle_);
  }

  Status Copy(BufferRange source, BufferRange destination) override {
    TIM_RETURN_IF_ERROR(CheckCopy(device_, source, destination));
    if (source.bytes == 0) return OkStatus();
    return DoCopy(device_, handle_, source, destination,
                  [this] { return Finish(); });
  }

  Result<bool> Fill(BufferRange range, uint8_t byte) override {
    TIM_ASSIGN_OR_RETURN(const bool may_fill, MayFill(device_, range));
    if (!may_fill || range.bytes == 0) return may_fill;
    const Status filled = DoFill(device_, handle_, range, byte);
    if (filled.code() == StatusCode::kUnimplemented) return false;
    TIM_RETURN_IF_ERROR(filled);
    return true;
  }

  Result<std::unique_ptr<device::Event>> Record(
      std::unique_ptr<device::Event> done) override {
    auto* event = dynamic_cast<NativeEvent*>(done.get());
    if (event == nullptr || &event->device() != &device_) {
      TimEvent* handle = nullptr;
      TIM_RETURN_IF_ERROR(device_.Call("TimDeviceFns::create_event",
                                       device_.functions().create_event,
                                       &handle));
      if (handle == nullptr) {
        return device_.plugin().Broke(
            "TimDeviceFns::create_event() succeeded without an event");
      }
      done = std::make_unique<NativeEvent>(device_, handle);
      event = static_cast<NativeEvent*>(done.get());
    }
    event->Reset();
    TIM_RETURN_IF_ERROR(device_.Call("TimDeviceFns::record",
                                     device_.functions().record, handle_,
                                     event->handle()));
    return done;
  }

  Status WaitFor(device::Event& event) override {
    auto* const other = dynamic_cast<NativeEvent*>(&event);
    if (other == nullptr) return TIM_INTERNAL("an event of another domain");
    if (device_.functions().stream_wait == nullptr) return event.Wait();
    return device_.Call("TimDeviceFns::stream_wait",
                        device_.functions().stream_wait, handle_,
                        other->handle());
  }

 private:
  // Waits for all work so far.
  Status Finish() {
    TIM_ASSIGN_OR_RETURN(const auto event, Record(nullptr));
    return event->Wait();
  }

  PluginDevice& device_;
  TimStream* const handle_;
};

}  // namespace

Result<std::unique_ptr<device::Stream>> CreateNativeStream(
    PluginDevice& device) {
  TimStream* handle = nullptr;
  TIM_RETURN_IF_ERROR(device.Call("TimDeviceFns::create_stream",
                                  device.functions().create_stream, &handle));
  if (handle == nullptr) {
    return device.plugin().Broke(
        "TimDeviceFns::create_stream() succeeded without a stream");
  }
  return std::unique_ptr<device::Stream>(
      std::make_unique<NativeStream>(device, handle));
}

Result<std::unique_ptr<device::Stream>> CreateWorkerStream(
    PluginDevice& device) {
  return std::unique_ptr<device::Stream>(
      std::make_unique<WorkerStream>(device));
}

}  // namespace tim::plugin
