#include "base/memory_count.h"

#include <atomic>

namespace tim {
namespace {

constinit std::atomic<int64_t> held = 0;
constinit std::atomic<int64_t> peak = 0;

}  // namespace

MemoryCount CountedMemory() { return {.held = held, .peak = peak}; }

CountedBytes::CountedBytes(int64_t bytes) : bytes_(bytes) {
  const int64_t now = held += bytes;
  int64_t known = peak;
  while (now > known && !peak.compare_exchange_weak(known, now)) {
  }
}

CountedBytes::~CountedBytes() { held -= bytes_; }

}  // namespace tim
