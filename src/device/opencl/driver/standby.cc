#include "device/opencl/driver/standby.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/log.h"
#include "device/opencl/driver/cl_status.h"

namespace tim::device {
namespace {

using Clock = std::chrono::steady_clock;

// A chain whose workers have not begun by then lacks a processor, perhaps that
// of whoever waits; or it has very many workers.
constexpr auto kToBegin = std::chrono::microseconds(50);

// Each costs the host a microsecond.
constexpr uint32_t kMostThreads = 8;

// The devices' threads are those of the process, whichever queue has work for
// them: how many commands were enqueued, and how many nobody has waited for.
constinit std::atomic<uint32_t> g_enqueued = 0;
constinit std::atomic<uint32_t> g_pending = 0;

// The arguments of a native kernel.
struct Watch {
  const uint32_t* begun = nullptr;
  std::atomic<uint32_t>* expired = nullptr;
  uint32_t launched = 0;
  uint32_t workers = 1;
  uint32_t rung = 0;
  Clock::duration limit = {};
};

// Kernels count in it while the host reads.
uint32_t Load(const uint32_t& begun) {
  return std::atomic_ref(const_cast<uint32_t&>(begun))
      .load(std::memory_order_relaxed);
}

// Ends when a command is enqueued, when a chain that others have begun waits
// for this thread, or when a thread has waited long enough.
void CL_CALLBACK Yield(void* arguments) {
  const Watch watch = *static_cast<const Watch*>(arguments);
  const Clock::time_point start = Clock::now();
  while (g_enqueued.load(std::memory_order_acquire) == watch.rung &&
         watch.expired->load(std::memory_order_relaxed) != watch.rung) {
    const uint32_t missing = watch.launched - Load(*watch.begun);
    const Clock::duration waited = Clock::now() - start;
    if (missing == 0 && waited >= watch.limit) {
      watch.expired->store(watch.rung, std::memory_order_relaxed);
    } else if (missing % watch.workers != 0 ||
               (missing != 0 && waited >= kToBegin)) {
      return;
    } else {
      std::this_thread::yield();
    }
  }
}

void CL_CALLBACK TellThread(void* arguments) {
  **static_cast<std::thread::id**>(arguments) = std::this_thread::get_id();
}

// Enqueues function(argument); the runtime copies `argument`.
template <typename T>
int EnqueueNative(const cl::CommandQueue& commands,
                  void(CL_CALLBACK* function)(void*), T argument) {
  return clEnqueueNativeKernel(commands(), function, &argument,
                               sizeof(argument), 0, nullptr, nullptr, 0,
                               nullptr, nullptr);
}

}  // namespace

bool IsComplete(const cl::Event& event) {
  cl_int status = CL_COMPLETE;
  event.getInfo(CL_EVENT_COMMAND_EXECUTION_STATUS, &status);
  return status <= CL_COMPLETE;
}

bool Standby::HasThreads(const cl::Context& context, const cl::Device& device) {
  int code = CL_SUCCESS;
  const cl::CommandQueue commands(context, device, 0, &code);
  if (code != CL_SUCCESS) return false;
  const std::thread::id own = std::this_thread::get_id();
  std::thread::id found = own;
  code = EnqueueNative(commands, TellThread, &found);
  return commands.finish() == CL_SUCCESS && code == CL_SUCCESS && found != own;
}

Standby::~Standby() {
  if (IsForkedFromOpenCl()) return;
  Ring();
  commands_.finish();
  if (waits_() != nullptr) waits_.finish();
  Done(enqueued_);
}

int Standby::Prepare() {
  const auto context = commands_.getInfo<CL_QUEUE_CONTEXT>();
  int code = CL_SUCCESS;
  waits_ = cl::CommandQueue(context, commands_.getInfo<CL_QUEUE_DEVICE>(),
                            CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
  if (code != CL_SUCCESS) return code;
  begun_buffer_ = cl::Buffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                             sizeof(begun_), begun_.data(), &code);
  return code;
}

// Many a queue has no chain.
cl_mem Standby::Begun() {
  if (!std::exchange(prepared_, true)) {
    const int code = Prepare();
    if (code != CL_SUCCESS) {
      TIM_LOG(kDebug, "threads sleep between runs: ", ClErrorName(code));
    }
  }
  return begun_buffer_();
}

void Standby::Ring() {
  ++enqueued_;
  last_is_chain_ = false;
  g_pending.fetch_add(1, std::memory_order_relaxed);
  rung_ = g_enqueued.fetch_add(1, std::memory_order_release) + 1;
}

void Standby::Chained(int workers) {
  workers_ = static_cast<uint32_t>(workers);
  launched_ += workers_;
  last_is_chain_ = true;
}

// Other commands might be ready only when the threads wait.
Standby::Fence Standby::SetFence() {
  const bool follows = last_is_chain_ && begun_buffer_() != nullptr &&
                       g_pending.load(std::memory_order_relaxed) == 1;
  last_is_chain_ = false;
  if (follows) Follow();
  return {.enqueued = enqueued_, .followed = follows, .launched = launched_};
}

// As the chain comes, all workers but the one that takes it may each take a
// wait, and after it all of them.
void Standby::Follow() {
  const Watch watch = {.begun = begun_.data(),
                       .expired = &expired_,
                       .launched = launched_,
                       .workers = workers_,
                       .rung = rung_,
                       .limit = limit_};
  const uint32_t threads = std::min(2 * workers_ - 1, kMostThreads);
  for (uint32_t i = 0; i < threads; ++i) {
    // That it fails costs time, no more.
    EnqueueNative(waits_, Yield, watch);
  }
}

int Standby::Wait(const cl::Event& event, const Fence& fence) {
  const Clock::time_point start = Clock::now();
  if (fence.followed && brief_.load(std::memory_order_relaxed)) {
    Poll(event, fence.launched, start);
  }
  const int code = event.wait();
  brief_.store(Clock::now() - start < limit_, std::memory_order_relaxed);
  Done(fence.enqueued);
  return code;
}

void Standby::Poll(const cl::Event& event, uint32_t launched,
                   Clock::time_point start) const {
  while (!IsComplete(event)) {
    const Duration waited = Clock::now() - start;
    if (waited >= limit_) return;
    if (waited >= kToBegin && Load(begun_[0]) != launched) return;
    std::this_thread::yield();
  }
}

void Standby::Done(uint32_t enqueued) {
  uint32_t done = done_.load(std::memory_order_relaxed);
  while (static_cast<int32_t>(enqueued - done) > 0) {
    if (done_.compare_exchange_weak(done, enqueued,
                                    std::memory_order_relaxed)) {
      g_pending.fetch_sub(enqueued - done, std::memory_order_relaxed);
      return;
    }
  }
}

}  // namespace tim::device
