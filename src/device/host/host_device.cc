#include "device/host/host_device.h"

#include <unistd.h>

#include <cstring>
#include <optional>
#include <utility>

#include "base/client_threads.h"
#include "base/exact_cast.h"
#include "base/guarded.h"
#include "base/processors.h"
#include "device/device_pools.h"
#include "device/host/eval_step.h"
#include "device/host/host_buffer.h"

namespace tim::device {
namespace {

ir::DeviceInfo HostInfo() {
  ir::DeviceInfo info{
      .kind = "host", .name = "host", .vendor = "TIM-CL", .driver = "1"};
  info.runs_eval = true;
  info.compute_units = UsableProcessors();
  info.global_memory_bytes =
      static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  info.max_allocation_bytes = info.global_memory_bytes;
  info.alignment = kHostAlignment;
  info.unified_memory = true;
  info.launch_us = 1.0;
  return info;
}

class HostEvent final : public Event {
 public:
  Status Wait() override { return status; }
  bool Ready() override { return true; }

  Status status;
};

class HostStream final : public Stream {
 public:
  Status Enqueue(PreparedStep& step,
                 std::span<const BufferRange> operands) override {
    return Keep(Run(step, operands));
  }

  Status Copy(BufferRange source, BufferRange destination) override {
    return Keep(DoCopy(source, destination));
  }

  Result<std::unique_ptr<Event>> Record(std::unique_ptr<Event> done) override {
    if (ExactCast<HostEvent>(done.get()) == nullptr) {
      done = std::make_unique<HostEvent>();
    }
    static_cast<HostEvent*>(done.get())->status =
        std::exchange(error_, OkStatus());
    return done;
  }

  Status WaitFor(Event& event) override { return Keep(event.Wait()); }

 private:
  // The first error since the last event is what the next event gives.
  Status Keep(Status status) {
    if (!status.ok() && error_.ok()) error_ = status;
    return status;
  }

  Status Run(PreparedStep& step, std::span<const BufferRange> operands) {
    auto* call = dynamic_cast<EvalStep*>(&step);
    if (call == nullptr || operands.size() != call->operand_count()) {
      return TIM_INTERNAL("not a step of the host with ", operands.size(),
                          " operands");
    }
    addresses_.clear();
    for (const BufferRange& range : operands) {
      if (range.buffer->host_address() == nullptr) {
        return TIM_INTERNAL("an operand that the host cannot reach");
      }
      addresses_.push_back(HostPointer(range));
    }
    ClientThreads* const threads = ClientThreads::Current();
    if (threads == nullptr) return call->Run(addresses_);
    std::optional<Status> status;
    threads->Run(1, [&](int) {
      status = GuardedCall([&] { return call->Run(addresses_); });
    });
    // Threads that do nothing are made good for.
    return status.has_value() ? *std::move(status) : call->Run(addresses_);
  }

  Status DoCopy(BufferRange source, BufferRange destination) {
    if (source.bytes == 0) return OkStatus();
    if (source.buffer->host_address() == nullptr ||
        destination.buffer->host_address() == nullptr) {
      return TIM_INTERNAL("the host copies only what it can reach");
    }
    const std::byte* from = HostPointer(source);
    std::byte* to = HostPointer(destination);
    if (from != to) std::memmove(to, from, source.bytes);
    return OkStatus();
  }

  Status error_;
  std::vector<std::byte*> addresses_;
};

class HostDevice final : public Device {
 public:
  explicit HostDevice(const DeviceOptions& options)
      : info_(HostInfo()), pools_(*this, options.pool_bytes) {}

  const ir::DeviceInfo& info() const override { return info_; }
  const void* domain() const override { return this; }

  Result<std::unique_ptr<Buffer>> Allocate(int64_t bytes,
                                           ir::MemoryKind) override {
    if (bytes > info_.max_allocation_bytes) {
      return OutOfMemory("a buffer of ", bytes, " bytes exceeds the ",
                         info_.max_allocation_bytes, " of this machine");
    }
    return HostBuffer::Create(bytes);
  }

  DevicePools& pools() override { return pools_; }

  Result<std::unique_ptr<Buffer>> Import(void* memory, int64_t bytes) override {
    return std::unique_ptr<Buffer>(
        std::make_unique<ExternalBuffer>(memory, bytes));
  }

  Result<std::unique_ptr<Stream>> CreateStream() override {
    return std::unique_ptr<Stream>(std::make_unique<HostStream>());
  }

  PreparedSteps PrepareEach(std::span<const ir::Action* const> steps,
                            const ir::OpRegistry& operators,
                            BinaryStore&) override {
    PreparedSteps prepared;
    for (const ir::Action* step : steps) {
      prepared.push_back(PrepareOne(*step, operators));
    }
    return prepared;
  }

 private:
  static Result<std::unique_ptr<PreparedStep>> PrepareOne(
      const ir::Action& action, const ir::OpRegistry& operators) {
    if (std::holds_alternative<ir::Copy>(action)) return nullptr;
    const auto* call = std::get_if<ir::HostCall>(&action);
    if (call == nullptr) {
      return Unimplemented("the host cannot run '", ToString(action), "'");
    }
    TIM_ASSIGN_OR_RETURN(std::unique_ptr<PreparedStep> step,
                         EvalStep::Create(*call, operators));
    return step;
  }

  const ir::DeviceInfo info_;
  DevicePools pools_;
};

}  // namespace

std::shared_ptr<Device> CreateHostDevice(const DeviceOptions& options) {
  return std::make_shared<HostDevice>(options);
}

}  // namespace tim::device
