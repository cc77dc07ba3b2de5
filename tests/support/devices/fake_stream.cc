#include "tests/support/devices/fake_stream.h"

#include <chrono>
#include <cstring>
#include <utility>

namespace tim::testing {
namespace {

using device::BufferRange;

// Address of a range in the fake device's memory or in the host's.
std::byte* Address(const BufferRange& range) {
  if (auto* fake = dynamic_cast<FakeBuffer*>(range.buffer)) {
    return fake->memory() + range.offset;
  }
  auto* host = static_cast<std::byte*>(range.buffer->host_address());
  return host == nullptr ? nullptr : host + range.offset;
}

bool IsFake(const BufferRange& range) {
  return dynamic_cast<FakeBuffer*>(range.buffer) != nullptr;
}

}  // namespace

FakeBuffer::FakeBuffer(std::shared_ptr<FakeState> state, int64_t bytes)
    : state_(std::move(state)),
      owned_(bytes, std::byte{0xCD}),
      memory_(owned_) {}

Result<std::unique_ptr<device::Buffer>> FakeBuffer::View(int64_t offset,
                                                         int64_t bytes) {
  return std::unique_ptr<device::Buffer>(
      std::make_unique<FakeBuffer>(memory_.subspan(offset, bytes)));
}

void FakeEvent::Moment::Reach(Status result) {
  const std::lock_guard<std::mutex> lock(mutex);
  status = std::move(result);
  done = true;
  reached.notify_all();
}

bool FakeEvent::Moment::IsReached() {
  const std::lock_guard<std::mutex> lock(mutex);
  return done;
}

Status FakeEvent::Moment::Wait() {
  std::unique_lock<std::mutex> lock(mutex);
  reached.wait(lock, [this] { return done; });
  return status;
}

FakeStream::FakeStream(std::shared_ptr<FakeState> state, uint64_t seed)
    : state_(std::move(state)), random_(seed), thread_([this] { Work(); }) {}

FakeStream::~FakeStream() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void FakeStream::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closing_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    Delay();
    state_->Pass();
    work();
    lock.lock();
  }
}

void FakeStream::Delay() {
  const int limit = state_->options().max_delay_us;
  if (limit <= 0) return;
  std::this_thread::sleep_for(
      std::chrono::microseconds(random_() % static_cast<uint64_t>(limit)));
}

void FakeStream::Push(std::function<void()> work) {
  const std::lock_guard<std::mutex> lock(mutex_);
  queue_.push_back(std::move(work));
  changed_.notify_all();
}

void FakeStream::Keep(const Status& status) {
  if (error_.ok()) error_ = status;
}

void FakeStream::PushStep(std::function<Status()> work) {
  Push([this, work = std::move(work)] {
    const Status lost = state_->CheckLost();
    Keep(lost.ok() ? work() : lost);
  });
}

Status FakeStream::Enqueue(device::PreparedStep& step,
                           std::span<const BufferRange> operands) {
  TIM_RETURN_IF_ERROR(state_->CheckLost());
  auto* own = dynamic_cast<FakeStep*>(&step);
  if (own == nullptr) return TIM_INTERNAL("not a step of the fake device");
  if (own->work_group > state_->options().launch_limit) {
    return Unimplemented("the fake device has too few registers for ",
                         own->work_group, " items");
  }
  std::vector<std::byte*> addresses;
  for (const BufferRange& range : operands) {
    if (!IsFake(range)) {
      return TIM_INTERNAL("an operand is not in the fake device's memory");
    }
    addresses.push_back(Address(range));
  }
  const bool lost = state_->NextStepIsLost();
  PushStep([this, own, lost, addresses = std::move(addresses)] {
    if (lost) {
      state_->SetLost(true);
      return state_->CheckLost();
    }
    state_->CountRun();
    state_->Spend(state_->options().step_us);
    return own->run(addresses);
  });
  return OkStatus();
}

Status FakeStream::Copy(BufferRange source, BufferRange destination) {
  TIM_RETURN_IF_ERROR(state_->CheckLost());
  const std::byte* from = Address(source);
  std::byte* to = Address(destination);
  const bool reachable = from != nullptr && to != nullptr;
  if (!reachable || (!IsFake(source) && !IsFake(destination))) {
    return TIM_INTERNAL("the fake device copies its own memory only");
  }
  PushStep([this, from, to, bytes = source.bytes] {
    state_->CountCopy();
    state_->Spend(state_->options().copy_us);
    std::memmove(to, from, bytes);
    return OkStatus();
  });
  return OkStatus();
}

Result<std::unique_ptr<device::Event>> FakeStream::Record(
    std::unique_ptr<device::Event>) {
  auto moment = std::make_shared<FakeEvent::Moment>();
  Push([this, moment] { moment->Reach(std::exchange(error_, OkStatus())); });
  return std::unique_ptr<device::Event>(std::make_unique<FakeEvent>(moment));
}

Status FakeStream::WaitFor(device::Event& event) {
  auto* other = dynamic_cast<FakeEvent*>(&event);
  if (other == nullptr) return TIM_INTERNAL("an event of another domain");
  Push([this, moment = other->moment()] { Keep(moment->Wait()); });
  return OkStatus();
}

}  // namespace tim::testing
