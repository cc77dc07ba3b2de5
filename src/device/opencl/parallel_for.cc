#include "device/opencl/parallel_for.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace tim::device {
namespace {

// Cores that this process may use, which may be fewer than the machine has.
size_t UsableCores() {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof(usable), &usable) == 0) {
    return static_cast<size_t>(std::max(1, CPU_COUNT(&usable)));
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

void ParallelFor(size_t count, const std::function<void(size_t)>& body) {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < count; i = next++) body(i);
  };
  const size_t limit = UsableCores();
  std::vector<std::thread> helpers;
  for (size_t i = 1; i < std::min(count, limit); ++i) {
    try {
      helpers.emplace_back(work);
    } catch (const std::system_error&) {
      break;  // No more threads: those that there are do all the work.
    }
  }
  work();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace tim::device
