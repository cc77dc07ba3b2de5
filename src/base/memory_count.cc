#include "base/memory_count.h"

#include <atomic>

namespace tim {
namespace {

constinit std::atomic<int64_t> held = 0;

}  // namespace

int64_t CountedMemory() { return held; }

CountedBytes::CountedBytes(int64_t bytes) : bytes_(bytes) { held += bytes; }

CountedBytes::~CountedBytes() { held -= bytes_; }

}  // namespace tim
