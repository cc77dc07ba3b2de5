#include "device/opencl/standby.h"

#include <algorithm>
#include <thread>

#include "base/log.h"
#include "device/opencl/cl_status.h"

namespace tim::device {
namespace {

using Clock = std::chrono::steady_clock;

// A chain whose workers have not begun by then lacks a processor: perhaps that
// of the host.
constexpr auto kToBegin = std::chrono::microseconds(50);

// Each costs the host a microsecond.
constexpr uint32_t kMostThreads = 8;

// How many commands were enqueued.  The device's threads are those of the
// process, whichever queue has work for them.
std::atomic<uint32_t> g_enqueued = 0;

// The arguments of a native kernel.
struct Watch {
  const uint32_t* begun = nullptr;
  uint32_t launched = 0;
  uint32_t workers = 1;
  uint32_t enqueued = 0;
  Clock::duration limit = {};
};

// Kernels count in it while the host reads.
uint32_t Load(const uint32_t& begun) {
  return std::atomic_ref(const_cast<uint32_t&>(begun))
      .load(std::memory_order_relaxed);
}

// Ends when a command is enqueued, or when a chain that others have begun waits
// for this thread.
void CL_CALLBACK Yield(void* arguments) {
  const Watch watch = *static_cast<const Watch*>(arguments);
  const Clock::time_point start = Clock::now();
  while (g_enqueued.load(std::memory_order_acquire) == watch.enqueued) {
    const uint32_t missing = watch.launched - Load(*watch.begun);
    if (missing % watch.workers != 0) return;
    const Clock::duration limit = missing == 0 ? watch.limit : kToBegin;
    if (Clock::now() - start >= limit) return;
    std::this_thread::yield();
  }
}

bool IsComplete(const cl::Event& event) {
  cl_int status = CL_COMPLETE;  // or an error, of which wait() tells
  event.getInfo(CL_EVENT_COMMAND_EXECUTION_STATUS, &status);
  return status <= CL_COMPLETE;
}

}  // namespace

std::shared_ptr<Standby> Standby::Create(const cl::CommandQueue& commands,
                                         Duration limit) {
  std::shared_ptr<Standby> standby(new Standby(commands, limit));
  const auto context = commands.getInfo<CL_QUEUE_CONTEXT>();
  int code = CL_SUCCESS;
  standby->waits_ =
      cl::CommandQueue(context, commands.getInfo<CL_QUEUE_DEVICE>(),
                       CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
  if (code == CL_SUCCESS) {
    standby->begun_buffer_ =
        cl::Buffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                   sizeof(standby->begun_), standby->begun_.data(), &code);
  }
  if (code == CL_SUCCESS) return standby;
  TIM_LOG(kDebug, "threads sleep between runs: ", ClErrorName(code));
  return nullptr;
}

Standby::~Standby() {
  commands_.finish();
  Ring();
  if (waits_() != nullptr) waits_.finish();
}

void Standby::Ring() {
  ++commands_since_;
  last_is_chain_ = false;
  g_enqueued.fetch_add(1, std::memory_order_release);
}

void Standby::Chained(int workers) {
  workers_ = static_cast<uint32_t>(workers);
  launched_ += workers_;
  last_is_chain_ = true;
}

// One more than there are workers: a thread may take one before it finds the
// chain.
bool Standby::Follow() {
  const bool is_chain = last_is_chain_ && commands_since_ == 1;
  commands_since_ = 0;
  if (!is_chain) return false;
  Watch watch = {.begun = begun_.data(),
                 .launched = launched_,
                 .workers = workers_,
                 .enqueued = g_enqueued.load(std::memory_order_relaxed),
                 .limit = limit_};
  const uint32_t threads = std::min(workers_ + 1, kMostThreads);
  for (uint32_t i = 0; i < threads; ++i) {
    // That it fails costs time, no more.
    clEnqueueNativeKernel(waits_(), Yield, &watch, sizeof(watch), 0, nullptr,
                          nullptr, 0, nullptr, nullptr);
  }
  return true;
}

uint32_t Standby::Missing() const { return launched_ - Load(begun_[0]); }

int Standby::Wait(const cl::Event& event) {
  const Clock::time_point start = Clock::now();
  if (brief_.load(std::memory_order_relaxed)) Poll(event, start);
  const int code = event.wait();
  brief_.store(Clock::now() - start < limit_, std::memory_order_relaxed);
  return code;
}

void Standby::Poll(const cl::Event& event, Clock::time_point start) const {
  while (!IsComplete(event)) {
    const Duration waited = Clock::now() - start;
    if (waited >= limit_ || (waited >= kToBegin && Missing() > 0)) return;
    std::this_thread::yield();
  }
}

}  // namespace tim::device
